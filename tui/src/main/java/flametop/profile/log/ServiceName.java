package flametop.profile.log;

import java.util.List;
import java.util.Set;
import java.util.StringJoiner;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Names a process by the program that it runs, so that two services of one interpreter are told
 * apart: {@code java Shop}, {@code python3 web.py}, {@code nginx: worker process}. The rules are in
 * {@code docs/manual.md}, "Names of services".
 */
final class ServiceName {
  /** Longest name, in characters. */
  private static final int MAX = 60;

  /** Most words of a title that are in a name. */
  private static final int TITLE_WORDS = 3;

  /** The kind of an interpreter, which says how its command line is read. */
  private enum Kind {
    JAVA(
        "java",
        null,
        """
        -cp -classpath --class-path -p --module-path --upgrade-module-path --add-modules --add-reads
        --add-exports --add-opens --limit-modules --patch-module --enable-native-access --source
        """),
    PYTHON("python pypy", "-[a-zA-Z]*c", "-W -X --check-hash-based-pycs"),
    SCRIPT(
        "node nodejs bun deno ruby perl php lua luajit",
        "-[nplaiwuxs0]*[eE]|--eval|-p|--print",
        "-r -I --require --import --loader -d -S -t"),
    SHELL("sh bash dash zsh ksh", "-[a-zA-Z]*c", "-o -O --rcfile --init-file"),
    DOTNET("dotnet mono", null, "--additionalprobingpath --depsfile --runtimeconfig --fx-version");

    /** Names of programs without their versions. */
    @SuppressWarnings("ImmutableEnumChecker") // of Set.of
    final Set<String> programs;

    /** Options after which the program itself stands: it may be long, and may hold a secret. */
    final @Nullable Pattern inline;

    /** Options whose value is the next word. */
    @SuppressWarnings("ImmutableEnumChecker") // of Set.of
    final Set<String> withValue;

    Kind(String programs, @Nullable String inline, String withValue) {
      this.programs = Words.of(programs);
      this.inline = inline == null ? null : Pattern.compile(inline);
      this.withValue = Words.of(withValue);
    }

    /** The kind of a program; null if the program is no interpreter. */
    static @Nullable Kind of(String program) {
      String name = VERSION.matcher(program).replaceFirst("");
      for (Kind kind : values()) {
        if (kind.programs.contains(name)) {
          return kind;
        }
      }
      return null;
    }

    boolean isInline(String word) {
      return inline != null && inline.matcher(word).matches();
    }
  }

  /** The name of all processes of flametop itself. */
  static final String FLAMETOP = "flametop";

  private static final String FLAMETOP_CLASS = "flametop.cli.Main";

  /** How the comms of the processes begin that flametop starts. */
  private static final String FLAMETOP_HELPER = "flametop-";

  private static final Pattern VERSION = Pattern.compile("[0-9.]*$");

  /** Python's option after which a module stands. */
  private static final Pattern MODULE = Pattern.compile("-[a-zA-Z]*m");

  private ServiceName() {}

  /**
   * The name of a process.
   *
   * @param comm its name for the kernel: the answer where no rule fits
   * @param commandLine its arguments with a space between two of them, or its title; clean; empty
   *     if it is not known
   */
  static String of(String comm, String commandLine) {
    if (comm.startsWith(FLAMETOP_HELPER)) {
      return FLAMETOP;
    }
    if (commandLine.isEmpty()) {
      return comm;
    }
    List<String> words = List.of(commandLine.strip().split(" +", 64));
    String first = words.get(0);
    if (first.length() > 1 && first.endsWith(":") && first.indexOf('/') < 0) {
      return cut(title(words));
    }
    String program = file(first.startsWith("-") ? first.substring(1) : first);
    Kind kind = Kind.of(program);
    if (kind == null) {
      return comm;
    }
    String what = kind == Kind.JAVA ? java(words) : script(kind, words);
    if (kind == Kind.JAVA
        && what.equals(simple(FLAMETOP_CLASS))
        && words.contains(FLAMETOP_CLASS)) {
      return FLAMETOP;
    }
    return what.isEmpty() ? comm : cut(program + " " + what);
  }

  /** {@code nginx: worker process}: the words up to the first one that differs between equals. */
  private static String title(List<String> words) {
    StringJoiner name = new StringJoiner(" ");
    name.add(words.get(0));
    int said = 0;
    for (String word : words.subList(from(words), words.size())) {
      boolean isPlain = word.chars().allMatch(c -> Character.isLetter(c) || c == '-' || c == '_');
      if (!isPlain || word.startsWith("-") || said == mostWords(words)) {
        break;
      }
      name.add(word);
      said++;
    }
    return said == 0 ? words.get(0).substring(0, words.get(0).length() - 1) : name.toString();
  }

  /**
   * Where the words begin that say what the process does: behind the name of PostgreSQL's cluster.
   */
  private static int from(List<String> words) {
    boolean isCluster =
        words.get(0).equals("postgres:") && words.size() > 1 && words.get(1).endsWith(":");
    return isCluster ? 2 : 1;
  }

  /**
   * {@code postgres: USER DATABASE HOST(PORT) COMMAND}: the command changes from moment to moment,
   * and the title is read once.
   */
  private static int mostWords(List<String> words) {
    int host = from(words) + 2;
    boolean isClient =
        words.get(0).equals("postgres:")
            && words.size() > host
            && (words.get(host).equals("[local]") || words.get(host).indexOf('(') > 0);
    return isClient ? 2 : TITLE_WORDS;
  }

  /** The class or the jar that a JVM runs. */
  private static String java(List<String> words) {
    for (int i = 1; i < words.size(); i++) {
      String word = words.get(i);
      boolean hasNext = i + 1 < words.size();
      if (word.equals("-jar")) {
        return hasNext ? "-jar " + file(words.get(i + 1)) : "";
      }
      if (word.equals("-m") || word.equals("--module")) {
        return hasNext ? simple(words.get(i + 1)) : "";
      }
      if (Kind.JAVA.withValue.contains(word)) {
        i++;
      } else if (!word.startsWith("-") && !word.startsWith("@")) {
        return word.endsWith(".java") ? file(word) : simple(word);
      }
    }
    return "";
  }

  /** A class without its package and module. */
  private static String simple(String name) {
    String without = file(name);
    return without.substring(without.lastIndexOf('.') + 1);
  }

  /** The script, or the module of Python. */
  private static String script(Kind kind, List<String> words) {
    for (int i = 1; i < words.size(); i++) {
      String word = words.get(i);
      if (kind == Kind.PYTHON && MODULE.matcher(word).matches()) {
        return i + 1 < words.size() ? words.get(i + 1) : "";
      }
      if (kind.isInline(word)) {
        return word;
      }
      if (kind.withValue.contains(word)) {
        i++;
      } else if (!word.startsWith("-") && !word.equals("run") && !word.equals("exec")) {
        return file(word);
      }
    }
    return "";
  }

  private static String file(String path) {
    return path.substring(path.lastIndexOf('/') + 1);
  }

  private static String cut(String name) {
    if (name.length() <= MAX) {
      return name;
    }
    int end = MAX - 1;
    return name.substring(0, Character.isHighSurrogate(name.charAt(end - 1)) ? end - 1 : end) + "…";
  }
}

package flametop.cli.settings;

import flametop.sampler.CleanText;
import flametop.term.UserFiles;
import flametop.view.base.Action;
import flametop.view.base.Key;
import flametop.view.state.Keymap;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;

/**
 * The settings of the user for the screen in {@code ~/.config/flametop/flametop.conf}: lines {@code
 * option = value}, where an option is one of {@link #OPTIONS}, without its dashes, or {@code
 * key.ACTION}. The command line wins over the settings. A wrong line is left out, and is a problem.
 */
public final class Settings {
  static final List<String> OPTIONS =
      List.of("theme", "ascii", "refresh", "states", "history", "mouse");

  private static final String FILE = "flametop.conf";
  private static final int MAX_MESSAGE = 500;
  private static final int MAX_SHOWN = 60;
  private static final String KEY = "key.";

  private final Map<String, SettingLines.Line> lines = new HashMap<>();
  private final List<String> problems = new ArrayList<>();
  private final Map<Action, Integer> keyLines = new EnumMap<>(Action.class);
  private Keymap keymap = Keymap.DEFAULT;

  /** Reads the file, if there is one. */
  public Settings(UserFiles user) {
    Path file = user.path(FILE);
    if (file == null || !Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
      return;
    }
    try {
      SettingLines.of(user.read(file)).forEach(this::line);
      settleKeys();
    } catch (IOException e) {
      complain(file + ": cannot be read: " + e.getMessage());
    }
  }

  private void line(SettingLines.Line line) {
    if (line.name().startsWith(KEY)) {
      keys(line.number(), line.name().substring(KEY.length()), line.value());
    } else if (OPTIONS.contains(line.name())) {
      lines.put(line.name(), line);
    } else {
      String known = String.join(", ", OPTIONS) + ", key.ACTION (--print-config)";
      wrong(
          line.number(),
          line.name().isEmpty()
              ? "no '='; a line is 'theme = light'"
              : "no such setting: " + line.name() + "; there are " + known);
    }
  }

  /** The value of an option; null if there is none that can be used. */
  public <T> @Nullable T value(String option, ITypeConverter<T> converter) {
    SettingLines.Line line = lines.get(option);
    if (line == null) {
      return null;
    }
    try {
      return converter.convert(line.value());
    } catch (Exception e) {
      wrong(line.number(), option + ": " + e.getMessage());
      return null;
    }
  }

  /** The value of the command line, else of the settings, else the default. */
  public <T> T given(@Nullable T value, String option, ITypeConverter<T> converter, T otherwise) {
    T set = value == null ? value(option, converter) : value;
    return set == null ? otherwise : set;
  }

  /**
   * The place of an option's line, for problems of the value that are found later; empty if the
   * option is not set.
   */
  public String place(String option) {
    SettingLines.Line line = lines.get(option);
    return line == null ? "" : FILE + ":" + line.number();
  }

  public Keymap keymap() {
    return keymap;
  }

  /**
   * The problems that were found by now, a line each; a wrong value is found when the value is
   * asked for.
   */
  public List<String> problems() {
    return List.copyOf(problems);
  }

  private void wrong(int number, String what) {
    complain(FILE + ":" + number + ": " + what);
  }

  private void complain(String text) {
    problems.add(CleanText.clean(text, MAX_MESSAGE));
  }

  private static String shown(String text) {
    return "'" + CleanText.clean(text, MAX_SHOWN) + "'";
  }

  private void keys(int number, String id, String value) {
    Action action = null;
    for (Action a : Action.values()) {
      action = a.id().equals(id) ? a : action;
    }
    if (action == null) {
      wrong(
          number,
          shown(id) + " is nothing that a key can do; flametop --print-config lists all of it");
      return;
    }
    List<Key> keys = new ArrayList<>();
    for (String name :
        value.isEmpty() || value.equals("none") ? new String[0] : value.split("\\s+")) {
      Key key = Key.parse(name);
      if (key == null) {
        wrong(number, KEY + id + ": " + shown(name) + " is no key");
        return;
      }
      String taken = taken(key, action);
      if (!taken.isEmpty()) {
        wrong(number, KEY + id + ": " + key.name() + " " + taken);
        return;
      }
      keys.add(key);
    }
    keymap = keymap.with(action, keys);
    keyLines.put(action, number);
  }

  /** Why the action cannot have the key; empty if it can. */
  private static String taken(Key key, Action action) {
    if (key.kind() != Key.Kind.CTRL) {
      return "";
    }
    return switch (key.character()) {
      case 'c' -> action == Action.QUIT ? "" : "always quits";
      case 'z' -> "always gives the terminal back to the shell";
      case 'i', 'j', 'm', 'h' -> "is what a terminal sends for tab, enter or backspace: give that";
      default -> "";
    };
  }

  /** Takes back the later of two lines that give one key to two actions in a view. */
  private void settleKeys() {
    List<Keymap.Conflict> conflicts = keymap.conflicts();
    while (!conflicts.isEmpty()) {
      Keymap.Conflict c = conflicts.get(0);
      int first = keyLines.getOrDefault(c.first(), 0);
      int second = keyLines.getOrDefault(c.second(), 0);
      Action loser = first > second ? c.first() : c.second();
      Action other = loser == c.first() ? c.second() : c.first();
      wrong(
          Math.max(first, second),
          KEY
              + loser.id()
              + ": "
              + c.key().name()
              + " is "
              + KEY
              + other.id()
              + " in the "
              + c.view().label()
              + " already; give that another key too");
      keyLines.remove(loser);
      keymap = keymap.withDefault(loser);
      conflicts = keymap.conflicts();
    }
  }

  /** One with everything that can be set, as it is if nothing is. */
  public static String example() {
    StringBuilder text =
        new StringBuilder(
            """
            # A line of this file is name = value. flametop reads $XDG_CONFIG_HOME/flametop/flametop.conf,
            # or ~/.config/flametop/flametop.conf. An option of the command line wins over its line.
            # A setting without a line has the value that stands here.

            # Whether flametop takes the mouse; no: the terminal keeps it, to mark text.
            # mouse = yes

            # The colours: a theme that flametop has, or one of your own.
            # theme = dark

            # The time between two pictures in seconds, 0.1 to 60. The default over ssh is 0.5.
            # refresh = 0.25

            # The states that count at first: busy, on, off, all, or a list of run,queued,S,D,T,Z,P.
            # states = busy

            # The memory for the past that is kept in full, in MiB, 4 to 256. The default on a machine
            # of 2 GiB and more; on a smaller one a 32nd of its memory.
            # history = 64

            # Whether flametop draws ASCII characters only.
            # ascii = no

            # The keys of each action; none: no key. Names of keys are characters, space, enter, esc,
            # tab, shift-tab, backspace, delete, insert, up, down, left, right, pgup, pgdn, home, end,
            # f1 to f12, ctrl-a to ctrl-z. A key that you give to an action is taken from the action
            # that has the key here; the help (?) shows actions that are left without a key.
            """);
    for (Action action : Action.values()) {
      String line = "# key." + action.id() + " = " + action.keys();
      text.append(String.format(Locale.ROOT, "%-35s# %s\n", line, action.sentence()));
    }
    return text.toString();
  }

  /** A text as it is. A lambda in place of this class would be made anew at each start. */
  public static final class Text implements ITypeConverter<String> {
    @Override
    public String convert(String text) {
      return text;
    }
  }

  /** {@code yes} or {@code no}. */
  public static final class YesNo implements ITypeConverter<Boolean> {
    @Override
    public Boolean convert(String text) {
      return switch (text) {
        case "yes", "on", "true" -> true;
        case "no", "off", "false" -> false;
        default -> throw new IllegalArgumentException("'" + text + "' is neither yes nor no");
      };
    }
  }
}

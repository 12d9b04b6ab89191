package flametop.view.base;

import org.jspecify.annotations.Nullable;

/**
 * Shorter forms of the name of a frame: the least telling parts go first. Pure.
 *
 * <pre>
 *   std::vector&lt;int, A&gt;::push_back(int&amp;&amp;)           std::vector::push_back   push_back
 *   &lt;alloc::vec::Vec&lt;u8&gt; as core::io::Write&gt;::write  Vec::write               write
 *   rustc::plumbing::execute::&lt;Cache&lt;[u8; 8]&gt;, false&gt; plumbing::execute        execute
 *   github.com/a/b/store.(*Log).Append.func1         store.Log.Append.func1   Append.func1
 *   java.util.HashMap.resize()                       HashMap.resize           resize
 *   mark_page.constprop.0 [clone .cold]              mark_page
 *   __x64_sys_clock_nanosleep                        sys_clock_nanosleep
 *   liblzma.so.5.4.1+fn@0x17310                      liblzma+0x17310
 *   block (2 levels) in Shop::Cart#total             block in Cart#total      total
 * </pre>
 *
 * A form that is shorter by whole words has no mark; a word that is cut ends in {@code …}. The work
 * grows with the length of the name and no faster.
 */
public final class ShortName {
  /** Endings that compilers give to parts and specialized copies of a function. */
  private static final String[] SUFFIXES = {
    ".constprop", ".isra", ".part", ".cold", ".lto_priv", ".llvm"
  };

  /** Ruby's parts of functions, in whose names the function stands behind {@code in}. */
  private static final String[] PARTS = {"block in ", "block (", "rescue in ", "ensure in "};

  /**
   * A name in at most {@code room} columns: the whole name if it fits; never empty if there is
   * room.
   *
   * @param room at least 1; below, the answer is empty
   */
  static String of(String name, int room) {
    if (room < 1) {
      return "";
    }
    return cut(form(name, room), room);
  }

  /**
   * The name of a module in at most {@code room} columns: without its suffix, cut at its end.
   *
   * @param room at least 1; below, the answer is empty
   */
  public static String ofModule(String module, int room) {
    if (room < 1) {
      return "";
    }
    int suffix = module.indexOf(".so");
    boolean all = suffix <= 0 || !TextWidth.exceeds(module, room);
    return cut(all ? module : module.substring(0, suffix), room);
  }

  private static String cut(String form, int room) {
    String cut = TextWidth.cut(form, room);
    return TextWidth.of(cut) == 0 ? "…" : cut;
  }

  /**
   * The longest form that fits; the shortest one if none fits, which the caller cuts at its end. A
   * plain C name costs no object.
   */
  public static String form(String name, int room) {
    if (!TextWidth.exceeds(name, room)) {
      return name;
    }
    int in = isPart(name) ? name.indexOf(" in ") : -1;
    if (in < 0) {
      return ofFunction(name, room);
    }
    String part = name.substring(0, name.indexOf(' ')) + " in ";
    String whole = name.substring(in + " in ".length());
    String form = part + ofFunction(whole, room - part.length());
    return TextWidth.exceeds(form, room) ? ofFunction(whole, room) : form;
  }

  private static boolean isPart(String name) {
    for (String part : PARTS) {
      if (name.startsWith(part)) {
        return true;
      }
    }
    return false;
  }

  private static String ofFunction(String name, int room) {
    if (!TextWidth.exceeds(name, room)) {
      return name;
    }
    if (isPlain(name)) {
      return name.substring(withoutPrefix(name));
    }
    int end = withoutSuffixes(name);
    if (end < name.length() && fits(name, 0, end, room)) {
      return name.substring(0, end);
    }
    String place = place(name, room);
    if (place != null) {
      return place;
    }
    String method = withoutClass(name);
    if (!method.equals(name) && !Character.isJavaIdentifierStart(method.charAt(0))) {
      // An operator, whose signs are no brackets.
      return method;
    }
    String best = NameWords.of(name, withoutPrefix(name), end).best(room);
    return TextWidth.exceeds(best, room) ? withoutClass(best) : best;
  }

  /** The method of {@code Cart#total}; any other name as it is. */
  private static String withoutClass(String name) {
    int hash = name.lastIndexOf('#');
    // A number behind it counts what has no name, as of {closure#0}.
    boolean method = hash > 0 && hash + 1 < name.length() && !isDigit(name.charAt(hash + 1));
    return method ? name.substring(hash + 1) : name;
  }

  /** Whether no part of the name can be left out. */
  private static boolean isPlain(String name) {
    if (name.isEmpty() || name.charAt(0) == '[') {
      return true;
    }
    for (int i = 0; i < name.length(); i++) {
      char c = name.charAt(i);
      boolean word = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9';
      if (!word && c != '_' && c < 0x7f) {
        return false;
      }
    }
    return true;
  }

  /** Whether a part of a text is seen, and has room. */
  static boolean fits(String text, int from, int to, int room) {
    return TextWidth.end(text, from, to, room) == to && TextWidth.of(text, from, to) > 0;
  }

  private static int withoutSuffixes(String name) {
    int end = name.length();
    while (true) {
      int clone =
          end > 0 && name.charAt(end - 1) == ']' ? name.lastIndexOf(" [clone ", end - 1) : -1;
      int next = clone > 0 ? clone : withoutSuffix(name, end);
      if (next <= 0 || next == end) {
        return end;
      }
      end = next;
    }
  }

  private static int withoutSuffix(String name, int end) {
    // GLIBC_2.14 of memcpy@@GLIBC_2.14, but not plt of memcpy@plt
    int version = name.lastIndexOf('@', end - 1);
    if (version > 0 && version + 1 < end && Character.isUpperCase(name.charAt(version + 1))) {
      return name.charAt(version - 1) == '@' ? version - 1 : version;
    }
    int hash = end - 19;
    if (hash > 0 && name.startsWith("::h", hash) && isHex(name, hash + 3, end)) {
      return hash;
    }
    int at = end;
    while (true) {
      int digits = at;
      while (digits > 0 && isDigit(name.charAt(digits - 1))) {
        digits--;
      }
      if (digits == at || digits == 0 || name.charAt(digits - 1) != '.') {
        break;
      }
      at = digits - 1;
    }
    for (String suffix : SUFFIXES) {
      if (at > suffix.length() && name.startsWith(suffix, at - suffix.length())) {
        return at - suffix.length();
      }
    }
    return end;
  }

  /**
   * The index of the first telling character of a C name: {@code bpf_prog_6deef7357e7b4530_} is a
   * hash.
   */
  private static int withoutPrefix(String name) {
    int from = 0;
    if (name.startsWith("bpf_prog_") && name.length() > 26 && isHex(name, 9, 25)) {
      from = 25;
    } else if (name.startsWith("__x64_") || name.startsWith("__se_")) {
      from = 5;
    } else if (name.startsWith("__arm64_")) {
      from = 7;
    }
    int to = from;
    while (to < name.length() && name.charAt(to) == '_') {
      to++;
    }
    return to < name.length() ? to : from;
  }

  /** The form of a function that is known by its place only; null for any other name. */
  private static @Nullable String place(String name, int room) {
    int plus = name.lastIndexOf('+');
    int hex = name.startsWith("fn@", plus + 1) ? plus + 4 : plus + 1;
    if (plus <= 0
        || !name.startsWith("0x", hex)
        || hex + 2 == name.length()
        || !isHex(name, hex + 2, name.length())) {
      return null;
    }
    String offset = "+" + name.substring(hex);
    String module = name.substring(0, plus);
    if (!TextWidth.exceeds(module, room - offset.length())) {
      return module + offset;
    }
    int version = module.indexOf(".so");
    return (version > 0 ? module.substring(0, version) : module) + offset;
  }

  private static boolean isHex(String text, int from, int to) {
    for (int i = from; i < to; i++) {
      char c = text.charAt(i);
      if (!isDigit(c) && !(c >= 'a' && c <= 'f')) {
        return false;
      }
    }
    return true;
  }

  static boolean isDigit(char c) {
    return c >= '0' && c <= '9';
  }
}

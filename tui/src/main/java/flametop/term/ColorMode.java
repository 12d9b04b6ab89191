package flametop.term;

import java.util.Locale;
import java.util.Map;

/**
 * How many colours the terminal has, and whether it draws more than ASCII, from its environment.
 */
enum ColorMode {
  TRUE,
  INDEXED_256,
  ANSI_16,
  NONE;

  /** Parts of a {@code TERM} that only terminals with true colour give themselves. */
  private static final String[] TRUE_TERMS = {
    "-direct", "kitty", "alacritty", "ghostty", "wezterm", "foot", "contour"
  };

  /**
   * {@code NO_COLOR} wins; then terminals that never have colours; then {@code COLORTERM}, which
   * ssh and sudo drop; then {@code TERM}, which they keep.
   *
   * @param environment as of {@link System#getenv()}
   */
  static ColorMode of(Map<String, String> environment) {
    if (!environment.getOrDefault("NO_COLOR", "").isEmpty()) {
      return NONE;
    }
    String term = environment.getOrDefault("TERM", "");
    if (term.startsWith("vt") || term.endsWith("-mono") || term.endsWith("-m")) {
      return NONE;
    }
    if (term.equals("linux")) {
      return ANSI_16;
    }
    String colors = environment.getOrDefault("COLORTERM", "").toLowerCase(Locale.ROOT);
    if (colors.equals("truecolor") || colors.equals("24bit")) {
      return TRUE;
    }
    if (isTrueTerm(term)) {
      return TRUE;
    }
    // tmux takes 256 colours and gives its terminal as many as that has, whatever TERM says within.
    boolean tmux = !environment.getOrDefault("TMUX", "").isEmpty() || term.startsWith("tmux");
    return tmux || term.contains("256") ? INDEXED_256 : ANSI_16;
  }

  /** Whether a {@code TERM} belongs to a terminal with true colour. */
  static boolean isTrueTerm(String term) {
    for (String part : TRUE_TERMS) {
      if (term.contains(part)) {
        return true;
      }
    }
    return false;
  }

  /** Whether only ASCII is drawn, since the locale or the console's font has no more. */
  static boolean isAscii(Map<String, String> environment) {
    String term = environment.getOrDefault("TERM", "");
    return term.equals("linux") || term.startsWith("vt") || !isUtf8(environment);
  }

  /** Whether text of the locale is UTF-8. */
  private static boolean isUtf8(Map<String, String> environment) {
    for (String name : new String[] {"LC_ALL", "LC_CTYPE", "LANG"}) {
      String value = environment.getOrDefault(name, "");
      if (!value.isEmpty()) {
        String lower = value.toLowerCase(Locale.ROOT);
        return lower.contains("utf-8") || lower.contains("utf8");
      }
    }
    return false;
  }
}

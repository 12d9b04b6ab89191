package flametop.term;

import java.util.Locale;
import java.util.Map;

/** How many colours the terminal has, as far as its environment tells. */
enum ColorMode {
  TRUE,
  INDEXED_256,
  ANSI_16,
  NONE;

  /**
   * {@code NO_COLOR} wins; then {@code COLORTERM}, which does not survive ssh; then {@code TERM}.
   *
   * @param environment as of {@link System#getenv()}
   */
  static ColorMode of(Map<String, String> environment) {
    if (!environment.getOrDefault("NO_COLOR", "").isEmpty()) {
      return NONE;
    }
    String colors = environment.getOrDefault("COLORTERM", "").toLowerCase(Locale.ROOT);
    String term = environment.getOrDefault("TERM", "");
    if (term.startsWith("vt")) {
      return NONE;
    }
    if (colors.equals("truecolor") || colors.equals("24bit") || term.endsWith("-direct")) {
      return TRUE;
    }
    return term.contains("256")
            || term.contains("kitty")
            || term.contains("alacritty")
            || term.contains("ghostty")
        ? INDEXED_256
        : ANSI_16;
  }

  /** Whether the locale lets text be UTF-8; only ASCII is drawn where it does not. */
  static boolean isUtf8(Map<String, String> environment) {
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

package flametop.export;

/** Text as JSON. */
public final class Json {
  private static final char[] HEX = "0123456789abcdef".toCharArray();

  private Json() {}

  /**
   * A string with its quotes. The string becomes ASCII without {@code <}, {@code >} and {@code &},
   * so that no text can end the script of HTML in which the string stands.
   */
  public static String quoted(String text) {
    StringBuilder out = new StringBuilder(text.length() + 2).append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"' || c == '\\') {
        out.append('\\').append(c);
      } else if (c >= ' ' && c < 0x7f && c != '<' && c != '>' && c != '&') {
        out.append(c);
      } else {
        boolean half =
            Character.isHighSurrogate(c)
                    && (i + 1 == text.length() || !Character.isLowSurrogate(text.charAt(i + 1)))
                || Character.isLowSurrogate(c)
                    && (i == 0 || !Character.isHighSurrogate(text.charAt(i - 1)));
        char whole = half ? '\uFFFD' : c;
        out.append("\\u");
        for (int shift = 12; shift >= 0; shift -= 4) {
          out.append(HEX[whole >> shift & 0xf]);
        }
      }
    }
    return out.append('"').toString();
  }
}

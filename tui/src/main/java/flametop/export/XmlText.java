package flametop.export;

/** Text between the tags of XML. */
public final class XmlText {
  private XmlText() {}

  /** A text, escaped; U+FFFD stands for each character that XML cannot hold. */
  public static String escaped(String text) {
    StringBuilder to = new StringBuilder(text.length());
    for (int i = 0; i < text.length(); ) {
      int c = text.codePointAt(i);
      i += Character.charCount(c);
      switch (c) {
        case '<' -> to.append("&lt;");
        case '>' -> to.append("&gt;");
        case '&' -> to.append("&amp;");
        default -> to.append(isAllowed(c) ? Character.toString(c) : "\ufffd");
      }
    }
    return to.toString();
  }

  private static boolean isAllowed(int c) {
    return c >= ' '
        && !(c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE)
        && c != 0xFFFE
        && c != 0xFFFF;
  }
}

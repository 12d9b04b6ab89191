package flametop.term;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.view.base.CellGrid;
import flametop.view.screen.GoldenFrames;
import flametop.view.screen.Pictures;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilder;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.w3c.dom.Document;
import org.w3c.dom.NodeList;

class PictureTest {
  private static final List<String> HOSTILE =
      List.of("</title><script>1</script>", "a & b ]]> <!-- -->", "\u0000\u001b\ufffe half \ud83d");

  /** Blanks, and what is drawn as rectangles. */
  private static final String NO_TEXT = "[\\s▀-▏─]+";

  static Stream<Pictures.Frame> frames() {
    return GoldenFrames.golden().stream();
  }

  private static Document parse(String svg) throws Exception {
    DocumentBuilder xml = DocumentBuilderFactory.newInstance().newDocumentBuilder();
    xml.setErrorHandler(null);
    return xml.parse(new ByteArrayInputStream(svg.getBytes(StandardCharsets.UTF_8)));
  }

  private static Theme dark() throws Exception {
    return new Themes(ThemeTest.THEMES, UserFiles.NONE).load("dark", "").theme();
  }

  @ParameterizedTest
  @MethodSource("frames")
  void svg_frame_isXmlWithItsText(Pictures.Frame frame) throws Exception {
    CellGrid grid = frame.grid();
    Document document = parse(Picture.svg(grid, dark(), "flametop", List.of()));
    StringBuilder drawn = new StringBuilder();
    NodeList texts = document.getElementsByTagName("text");
    for (int i = 0; i < texts.getLength(); i++) {
      String text = texts.item(i).getTextContent();
      assertFalse(text.contains("  "), text);
      assertEquals(text.strip(), text);
      drawn.append(text);
    }
    assertEquals(
        Picture.text(grid, List.of()).replaceAll(NO_TEXT, ""),
        drawn.toString().replaceAll(NO_TEXT, ""));
  }

  @Test
  void svg_underlinedCells_haveALine() throws Exception {
    CellGrid grid =
        frames()
            .filter(frame -> frame.name().equals("compared-gone-80x24"))
            .findFirst()
            .orElseThrow()
            .grid();
    int ends = 0;
    for (int i = 0; i < grid.columns() * grid.rows(); i++) {
      int x = i % grid.columns();
      int y = i / grid.columns();
      boolean next = x + 1 < grid.columns() && isUnderlined(grid, x + 1, y);
      ends += isUnderlined(grid, x, y) && !next ? 1 : 0;
    }
    String svg = Picture.svg(grid, dark(), "flametop", List.of());
    // At the foot of a row of 19: the rules are in the middle of theirs.
    long lines =
        svg.lines()
            .filter(l -> l.contains("height=\"1\" ") && l.matches(".* y=\"\\d+\\.0\" .*"))
            .count();
    assertTrue(ends > 0);
    assertEquals(ends, lines);
  }

  private static boolean isUnderlined(CellGrid grid, int x, int y) {
    return (grid.attributes(x, y) & CellGrid.UNDERLINE) != 0;
  }

  @Test
  void svg_hostileProvenance_isText() throws Exception {
    Document document = parse(Picture.svg(Pictures.wide(80, 24), dark(), HOSTILE.get(0), HOSTILE));
    assertEquals(0, document.getElementsByTagName("script").getLength());
    assertEquals(HOSTILE.get(0), document.getElementsByTagName("title").item(0).getTextContent());
    assertEquals(
        "\n" + HOSTILE.get(0) + "\n" + HOSTILE.get(1) + "\n\uFFFD\uFFFD\uFFFD half \uFFFD\n",
        document.getElementsByTagName("metadata").item(0).getTextContent());
  }

  @Test
  void text_frame_rowsThenProvenance() {
    CellGrid grid = Pictures.wide(80, 24);
    List<String> lines = Picture.text(grid, List.of("host: web-1")).lines().toList();
    assertEquals(grid.rows() + 1, lines.size());
    assertTrue(lines.get(0).contains("flametop"), lines.get(0));
    assertEquals("# host: web-1", lines.get(grid.rows()));
    for (String line : lines) {
      assertFalse(line.endsWith(" "), line);
    }
  }
}

package flametop.term;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.googlecode.lanterna.TextCharacter;
import flametop.term.device.FrameStream;
import flametop.view.base.CellGrid;
import flametop.view.base.TextWidth;
import flametop.view.screen.GoldenFrames;
import flametop.view.screen.Pictures;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CellWriterTest {
  private final ByteArrayOutputStream written = new ByteArrayOutputStream();
  private final FrameStream output = new FrameStream(written);

  private byte[] write(CellWriter writer, CellGrid grid, CellGrid before) throws Exception {
    written.reset();
    writer.write(grid, before);
    output.flush();
    assertTrue(output.drain(60_000));
    return written.toByteArray();
  }

  /** Pictures of one size. */
  private static List<CellGrid> pictures(int columns, int rows) {
    List<CellGrid> grids =
        GoldenFrames.golden().stream()
            .map(Pictures.Frame::grid)
            .filter(grid -> grid.columns() == columns && grid.rows() == rows)
            .toList();
    assertTrue(grids.size() > 5);
    return grids;
  }

  @ParameterizedTest
  @CsvSource({
    "TRUE, xterm-256color, dark",
    "TRUE, xterm-256color, terminal",
    "INDEXED_256, screen-256color, dark",
    "ANSI_16, linux, dark",
    "ANSI_16, screen, terminal",
    "NONE, vt100, dark",
    "NONE, xterm, mono",
  })
  void write_onePictureAfterTheOther_showsEachAsIfItWereTheFirst(
      ColorMode mode, String term, String theme) throws Exception {
    boolean colour = !term.startsWith("screen") && mode != ColorMode.NONE;
    CellWriter writer = new CellWriter(ThemeTest.shipped(theme), mode, term, output);
    ScreenModel screen = new ScreenModel(80, 24, colour);
    CellGrid before = null;
    for (CellGrid grid : pictures(80, 24)) {
      screen.take(write(writer, grid, before));
      ScreenModel anew = new ScreenModel(80, 24, colour);
      CellWriter first = new CellWriter(ThemeTest.shipped(theme), mode, term, output);
      anew.take(write(first, grid, null));
      assertEquals(anew.toString(), screen.toString());
      for (int i = 0; i < 80 * 24; i++) {
        assertEquals(grid.codePoint(i % 80, i / 80), screen.codePoint(i % 80, i / 80));
      }
      before = grid;
    }
  }

  /** As terminals are asked for colours: true ones, of 256, of 16, none. */
  @ParameterizedTest
  @CsvSource({
    "TRUE, xterm-256color, true",
    "INDEXED_256, screen, 256",
    "ANSI_16, linux, 16",
    "NONE, vt100, ''"
  })
  void write_anyMode_asksForColoursOfThatModeOnly(ColorMode mode, String term, String kinds)
      throws Exception {
    CellWriter writer = new CellWriter(ThemeTest.shipped("dark"), mode, term, output);
    String text = new String(write(writer, Pictures.wide(120, 30), null), StandardCharsets.UTF_8);
    Set<String> asked = new TreeSet<>();
    Matcher sgr = Pattern.compile("\\x1b\\[([0-9;]*)m").matcher(text);
    while (sgr.find()) {
      String rest = kinds(sgr.group(1), "[34]8;2;\\d+;\\d+;\\d+", "true", asked);
      rest = kinds(rest, "[34]8;5;\\d+", "256", asked);
      kinds(rest, "(?<![0-9])([349]|10)[0-7](?![0-9])", "16", asked);
    }
    assertEquals(kinds, String.join(" ", asked));
  }

  /** What is left without the numbers of that kind. */
  private static String kinds(String sgr, String regex, String kind, Set<String> asked) {
    String rest = sgr.replaceAll(regex, "");
    if (!rest.equals(sgr)) {
      asked.add(kind);
    }
    return rest;
  }

  @Test
  void write_nothingChanged_isNothing() throws Exception {
    CellWriter writer =
        new CellWriter(ThemeTest.shipped("dark"), ColorMode.TRUE, "xterm-256color", output);
    CellGrid grid = Pictures.wide(200, 60);
    write(writer, grid, null);
    assertEquals(0, write(writer, Pictures.wide(200, 60), grid).length);
  }

  @Test
  void isDoubleWidth_everyCharacterThatIsDrawn_asLanternaCountsIt() {
    for (int c = 0x20; c < 0x1_ffff; c++) {
      if (TextWidth.of(c) > 0) {
        int drawn = TextWidth.drawable(c);
        TextCharacter character = TextCharacter.fromString(Character.toString(drawn))[0];
        assertEquals(
            TextWidth.of(c) == 2, character.isDoubleWidth(), "U+" + Integer.toHexString(c));
      }
    }
  }
}

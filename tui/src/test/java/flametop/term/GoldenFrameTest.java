package flametop.term;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.Golden;
import flametop.term.device.FrameStream;
import flametop.view.base.CellGrid;
import flametop.view.base.Paint;
import flametop.view.base.Role;
import flametop.view.screen.GoldenFrames;
import flametop.view.screen.Pictures;
import java.io.ByteArrayOutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Paints each frame, reads what is written as a terminal would, and compares with {@code
 * frames/NAME.txt}: the characters, then for each cell a letter for the role behind it. {@code
 * -Dflametop.golden.update=true} writes the files anew.
 */
class GoldenFrameTest {
  private static final Path FRAMES = Path.of("src/test/resources/flametop/frames");
  private static final String LETTERS = ".-??!SUKJIYHZXRPGrqdsbwlmh?^";

  static Stream<Pictures.Frame> frames() {
    return GoldenFrames.golden().stream();
  }

  @ParameterizedTest
  @MethodSource("frames")
  void paint_frame_isAsBefore(Pictures.Frame frame) throws Exception {
    CellGrid grid = frame.grid();
    ScreenModel screen = paint(grid, ColorMode.TRUE);
    String painted = text(screen, grid) + "\n" + roles(grid);
    Golden.assertHolds(FRAMES.resolve(frame.name() + ".txt"), painted);
  }

  @Test
  void frames_files_areOfFramesThatThereAre() throws Exception {
    Set<String> expected = frames().map(f -> f.name() + ".txt").collect(Collectors.toSet());
    try (Stream<Path> files = Files.list(FRAMES)) {
      assertEquals(
          expected, files.map(f -> f.getFileName().toString()).collect(Collectors.toSet()));
    }
  }

  @ParameterizedTest
  @EnumSource(ColorMode.class)
  void paint_anyColorMode_sameCharacters(ColorMode mode) throws Exception {
    CellGrid grid = Pictures.wide(80, 24);
    ScreenModel screen = paint(grid, mode);
    assertEquals(text(paint(grid, ColorMode.TRUE), grid), text(screen, grid));
    boolean reversed = false;
    for (int x = 0; x < 80; x++) {
      reversed |= screen.look(x, 5).endsWith(" " + ScreenModel.REVERSE);
    }
    assertEquals(mode == ColorMode.NONE, reversed);
  }

  @ParameterizedTest
  @MethodSource("frames")
  void paint_frame_hasNoControlCharacter(Pictures.Frame frame) {
    CellGrid grid = frame.grid();
    for (int y = 0; y < grid.rows(); y++) {
      for (int x = 0; x < grid.columns(); x++) {
        int c = grid.codePoint(x, y);
        assertTrue(
            c == 0
                || c >= 0x20
                    && !(c >= 0x7f && c < 0xa0)
                    && Character.getType(c) != Character.FORMAT,
            "code point " + c);
      }
    }
  }

  private static ScreenModel paint(CellGrid grid, ColorMode mode) throws Exception {
    ByteArrayOutputStream written = new ByteArrayOutputStream();
    FrameStream output = new FrameStream(written);
    String term = mode == ColorMode.NONE ? "vt100" : "xterm-256color";
    new CellWriter(ThemeTest.shipped("dark"), mode, term, output).write(grid, null);
    output.flush();
    assertTrue(output.drain(60_000));
    output.close();
    ScreenModel screen = new ScreenModel(grid.columns(), grid.rows(), mode != ColorMode.NONE);
    screen.take(written.toByteArray());
    return screen;
  }

  private static String text(ScreenModel screen, CellGrid grid) {
    StringBuilder text = new StringBuilder();
    for (int y = 0; y < grid.rows(); y++) {
      StringBuilder row = new StringBuilder();
      for (int x = 0; x < grid.columns(); x++) {
        int c = screen.codePoint(x, y);
        assertEquals(grid.codePoint(x, y), c, "column " + x + " row " + y);
        if (c != 0) {
          row.appendCodePoint(c);
        }
      }
      text.append(row.toString().stripTrailing()).append('\n');
    }
    return text.toString();
  }

  private static String roles(CellGrid grid) {
    StringBuilder text = new StringBuilder();
    for (int y = 0; y < grid.rows(); y++) {
      StringBuilder row = new StringBuilder();
      for (int x = 0; x < grid.columns(); x++) {
        Role role = Paint.role(grid.background(x, y));
        char letter = LETTERS.charAt(role.ordinal());
        row.append(Paint.isFaded(grid.background(x, y)) ? Character.toLowerCase(letter) : letter);
      }
      text.append(row.toString().replaceFirst("\\.+$", "")).append('\n');
    }
    return text.toString();
  }
}

package flametop.term;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.googlecode.lanterna.SGR;
import com.googlecode.lanterna.TerminalSize;
import com.googlecode.lanterna.TextCharacter;
import com.googlecode.lanterna.screen.Screen;
import com.googlecode.lanterna.screen.TerminalScreen;
import com.googlecode.lanterna.terminal.virtual.DefaultVirtualTerminal;
import flametop.view.CellGrid;
import flametop.view.Paint;
import flametop.view.Pictures;
import flametop.view.Role;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Paints each frame through Lanterna into its virtual terminal and compares with {@code
 * frames/NAME.txt}: the characters, then for each cell a letter for the role behind it. {@code
 * -Dflametop.golden.update=true} writes the files anew.
 */
class GoldenFrameTest {
  private static final Path FRAMES = Path.of("src/test/resources/flametop/frames");
  private static final String LETTERS = ".-??!SUKJIXRPGrqdsbwlmh?^";

  static Stream<Pictures.Frame> frames() {
    return Pictures.golden().stream();
  }

  @ParameterizedTest
  @MethodSource("frames")
  void paint_frame_isAsBefore(Pictures.Frame frame) throws Exception {
    CellGrid grid = frame.grid();
    DefaultVirtualTerminal terminal = paint(grid, ColorMode.TRUE);
    String painted = text(terminal, grid) + "\n" + roles(grid);
    Path file = FRAMES.resolve(frame.name() + ".txt");
    if (Boolean.getBoolean("flametop.golden.update")) {
      Files.createDirectories(FRAMES);
      Files.writeString(file, painted);
    }
    assertEquals(Files.readString(file), painted, file.toString());
  }

  @ParameterizedTest
  @EnumSource(ColorMode.class)
  void paint_anyColorMode_sameCharacters(ColorMode mode) throws Exception {
    CellGrid grid = Pictures.wide(80, 24);
    DefaultVirtualTerminal terminal = paint(grid, mode);
    assertEquals(text(paint(grid, ColorMode.TRUE), grid), text(terminal, grid));
    boolean reversed = false;
    for (int x = 0; x < 80; x++) {
      reversed |= terminal.getCharacter(x, 5).getModifiers().contains(SGR.REVERSE);
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

  private static DefaultVirtualTerminal paint(CellGrid grid, ColorMode mode) throws Exception {
    DefaultVirtualTerminal terminal =
        new DefaultVirtualTerminal(new TerminalSize(grid.columns(), grid.rows()));
    TerminalScreen screen = new TerminalScreen(terminal);
    screen.startScreen();
    Cells cells = new Cells(ThemeTest.shipped("dark"), mode);
    for (int y = 0; y < grid.rows(); y++) {
      for (int x = 0; x < grid.columns(); x++) {
        if (grid.codePoint(x, y) != 0) {
          screen.setCharacter(x, y, cells.of(grid, x, y));
        }
      }
    }
    screen.refresh(Screen.RefreshType.DELTA);
    return terminal;
  }

  private static String text(DefaultVirtualTerminal terminal, CellGrid grid) throws IOException {
    StringBuilder text = new StringBuilder();
    for (int y = 0; y < grid.rows(); y++) {
      StringBuilder row = new StringBuilder();
      for (int x = 0; x < grid.columns(); x++) {
        if (grid.codePoint(x, y) != 0) {
          TextCharacter c = terminal.getCharacter(x, y);
          row.append(c.getCharacterString());
          assertEquals(
              grid.codePoint(x, y),
              c.getCharacterString().codePointAt(0),
              "column " + x + " row " + y);
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

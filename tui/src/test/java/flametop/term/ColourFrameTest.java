package flametop.term;

import static org.junit.jupiter.api.Assertions.assertEquals;

import flametop.view.base.CellGrid;
import flametop.view.screen.Pictures;
import flametop.view.screen.ViewPictures;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every view in five sizes with as many colours as there are, compared with {@code
 * colours/VIEW-SIZE.MODE.ans}: {@code cat} shows it as it is. {@code -Dflametop.golden.update=true}
 * writes the files anew.
 */
class ColourFrameTest {
  private static final Path FRAMES = Path.of("src/test/resources/flametop/colours");

  static Stream<Arguments> sizes() {
    Stream.Builder<Arguments> all = Stream.builder();
    for (int[] size : ViewPictures.sizes()) {
      for (ColorMode mode : ColorMode.values()) {
        all.add(Arguments.of(size[0], size[1], mode));
      }
    }
    return all.build();
  }

  @ParameterizedTest
  @MethodSource("sizes")
  void paint_everyView_hasTheColoursAsBefore(int columns, int rows, ColorMode mode)
      throws Exception {
    CellWriter writer = new CellWriter(ThemeTest.shipped("dark"), mode, "");
    List<String> wrong = new ArrayList<>();
    for (Pictures.Frame frame : ViewPictures.all(columns, rows, mode == ColorMode.NONE)) {
      String name = frame.name() + "-" + columns + "x" + rows + "." + name(mode) + ".ans";
      Path file = FRAMES.resolve(name);
      String painted = painted(frame.grid(), writer);
      if (Boolean.getBoolean("flametop.golden.update")) {
        Files.createDirectories(FRAMES);
        Files.writeString(file, painted);
      }
      if (!Files.exists(file) || !Files.readString(file).equals(painted)) {
        wrong.add(name);
      }
    }
    assertEquals(List.of(), wrong);
  }

  private static String name(ColorMode mode) {
    return switch (mode) {
      case TRUE -> "true";
      case INDEXED_256 -> "256";
      case ANSI_16 -> "16";
      case NONE -> "none";
    };
  }

  /** Each line begins anew, so that one change is a change of one line. */
  private static String painted(CellGrid grid, CellWriter writer) {
    StringBuilder text = new StringBuilder();
    for (int y = 0; y < grid.rows(); y++) {
      CellWriter.Pen before = new CellWriter.Pen(Theme.DEFAULT, Theme.DEFAULT, 0);
      for (int x = 0; x < grid.columns(); x++) {
        if (grid.codePoint(x, y) != 0) {
          CellWriter.Pen pen =
              writer.pen(grid.foreground(x, y), grid.background(x, y), grid.attributes(x, y));
          String sgr = sgr(before, pen);
          if (!sgr.isEmpty()) {
            text.append("\033[").append(sgr).append('m');
          }
          text.appendCodePoint(grid.codePoint(x, y));
          before = pen;
        }
      }
      text.append("\033[0m\n");
    }
    return text.toString();
  }

  /** What changes from one character to the next. */
  private static String sgr(CellWriter.Pen from, CellWriter.Pen to) {
    List<String> changes = new ArrayList<>();
    int ink = from.foreground();
    int ground = from.background();
    if (from.attributes() != to.attributes()) {
      changes.add("0");
      if ((to.attributes() & CellGrid.BOLD) != 0) {
        changes.add("1");
      }
      if ((to.attributes() & CellWriter.REVERSE) != 0) {
        changes.add("7");
      }
      if ((to.attributes() & CellGrid.UNDERLINE) != 0) {
        changes.add("4");
      }
      ink = Theme.DEFAULT;
      ground = Theme.DEFAULT;
    }
    if (to.foreground() != ink) {
      changes.add(colour(to.foreground(), 30));
    }
    if (to.background() != ground) {
      changes.add(colour(to.background(), 40));
    }
    return String.join(";", changes);
  }

  private static String colour(int value, int base) {
    if (value == Theme.DEFAULT) {
      return base + 9 + "";
    }
    if ((value & Theme.INDEXED) == 0) {
      return base + 8 + ";2;" + (value >> 16) + ";" + (value >> 8 & 0xff) + ";" + (value & 0xff);
    }
    int index = value & 0xff;
    return index < 8
        ? base + index + ""
        : index < 16 ? base + 60 + index - 8 + "" : base + 8 + ";5;" + index;
  }
}

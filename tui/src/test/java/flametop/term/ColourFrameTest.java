package flametop.term;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.googlecode.lanterna.SGR;
import com.googlecode.lanterna.TextCharacter;
import com.googlecode.lanterna.TextColor;
import flametop.view.CellGrid;
import flametop.view.Pictures;
import flametop.view.ViewPictures;
import java.nio.charset.StandardCharsets;
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
    for (int[] size : ViewPictures.SIZES) {
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
    Cells cells = new Cells(ThemeTest.shipped("dark"), mode);
    List<String> wrong = new ArrayList<>();
    for (Pictures.Frame frame : ViewPictures.all(columns, rows, mode == ColorMode.NONE)) {
      String name = frame.name() + "-" + columns + "x" + rows + "." + name(mode) + ".ans";
      Path file = FRAMES.resolve(name);
      String painted = painted(frame.grid(), cells);
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
  private static String painted(CellGrid grid, Cells cells) {
    StringBuilder text = new StringBuilder();
    for (int y = 0; y < grid.rows(); y++) {
      TextCharacter before = TextCharacter.DEFAULT_CHARACTER;
      for (int x = 0; x < grid.columns(); x++) {
        if (grid.codePoint(x, y) != 0) {
          TextCharacter c = cells.of(grid, x, y);
          String sgr = sgr(before, c);
          if (!sgr.isEmpty()) {
            text.append("\033[").append(sgr).append('m');
          }
          text.append(c.getCharacterString());
          before = c;
        }
      }
      text.append("\033[0m\n");
    }
    return text.toString();
  }

  /** What changes from one character to the next. */
  private static String sgr(TextCharacter from, TextCharacter to) {
    List<String> changes = new ArrayList<>();
    TextColor ink = from.getForegroundColor();
    TextColor ground = from.getBackgroundColor();
    if (!from.getModifiers().equals(to.getModifiers())) {
      changes.add("0");
      for (SGR style : to.getModifiers()) {
        changes.add(
            switch (style) {
              case BOLD -> "1";
              case UNDERLINE -> "4";
              case REVERSE -> "7";
              default -> throw new AssertionError(style);
            });
      }
      ink = TextColor.ANSI.DEFAULT;
      ground = TextColor.ANSI.DEFAULT;
    }
    if (!to.getForegroundColor().equals(ink)) {
      changes.add(ascii(to.getForegroundColor().getForegroundSGRSequence()));
    }
    if (!to.getBackgroundColor().equals(ground)) {
      changes.add(ascii(to.getBackgroundColor().getBackgroundSGRSequence()));
    }
    return String.join(";", changes);
  }

  private static String ascii(byte[] sequence) {
    return new String(sequence, StandardCharsets.US_ASCII);
  }
}

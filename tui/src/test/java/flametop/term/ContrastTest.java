package flametop.term;

import static org.junit.jupiter.api.Assertions.assertEquals;

import flametop.view.base.CellGrid;
import flametop.view.base.Paint;
import flametop.view.base.Role;
import flametop.view.screen.GoldenFrames;
import flametop.view.screen.Pictures;
import flametop.view.screen.ViewPictures;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Whatever is written anywhere, in whichever theme, can be read. */
class ContrastTest {
  private static final ColorMode[] MODES = {
    ColorMode.TRUE, ColorMode.INDEXED_256, ColorMode.ANSI_16
  };

  /** Contrast that words have at least (WCAG 2), and those that matter less. */
  private static final double WORDS = 4.5;

  private static final double QUIET = 3;

  private static List<Pictures.Frame> frames;

  static Stream<Arguments> themes() {
    return ThemeTest.names().stream()
        .flatMap(name -> Stream.of(MODES).map(mode -> Arguments.of(name, mode)));
  }

  private static List<Pictures.Frame> frames() {
    if (frames == null) {
      frames = new ArrayList<>(GoldenFrames.golden());
      for (int[] size : ViewPictures.sizes()) {
        frames.addAll(ViewPictures.all(size[0], size[1], false));
      }
    }
    return frames;
  }

  @ParameterizedTest
  @MethodSource("themes")
  void words_onEveryScreen_canBeRead(String name, ColorMode mode) throws Exception {
    Theme theme = ThemeTest.shipped(name);
    Set<String> wrong = new LinkedHashSet<>();
    for (Pictures.Frame frame : frames()) {
      CellGrid grid = frame.grid();
      for (int y = 0; y < grid.rows(); y++) {
        for (int x = 0; x < grid.columns(); x++) {
          int fg = grid.foreground(x, y);
          int bg = grid.background(x, y);
          if (Character.isLetterOrDigit(grid.codePoint(x, y)) && Paint.isOfWords(fg)) {
            boolean quiet =
                Paint.role(fg) == Role.DIM || Paint.isFaded(bg) || isOwn(theme, mode, fg, bg);
            double ratio = ratio(theme, mode, fg, bg);
            if (ratio < (quiet ? QUIET : WORDS)) {
              wrong.add(
                  String.format(
                      Locale.ROOT,
                      "%s on %s%s in %s: %.2f",
                      Paint.role(fg),
                      Paint.isFaded(bg) ? "faded " : "",
                      Paint.role(bg),
                      frame.name(),
                      ratio));
            }
          }
        }
      }
    }
    assertEquals(Set.of(), wrong);
  }

  /** Of the 16 each terminal has its own. */
  private static boolean isOwn(Theme theme, ColorMode mode, int fg, int bg) {
    return Theme.is16(theme.foreground(mode, fg, bg)) || Theme.is16(theme.background(mode, bg));
  }

  private static double ratio(Theme theme, ColorMode mode, int fg, int bg) {
    return ColourMath.contrast(
        seen(theme, theme.foreground(mode, fg, bg), Role.TEXT),
        seen(theme, theme.background(mode, bg), Role.GROUND));
  }

  /** As xterm shows it; what is the terminal's own as the theme says that it is about. */
  private static int seen(Theme theme, int colour, Role own) {
    return colour == Theme.DEFAULT ? theme.background(Paint.of(own)) : ThemeTest.rgb(colour);
  }
}

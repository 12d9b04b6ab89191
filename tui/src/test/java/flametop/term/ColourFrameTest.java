package flametop.term;

import flametop.Golden;
import flametop.term.device.FrameStream;
import flametop.view.base.CellGrid;
import flametop.view.base.Paint;
import flametop.view.base.Role;
import flametop.view.screen.GoldenFrames;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Colours in three steps, each against golden files in {@code colours/}: what each theme makes of
 * each role in each mode ({@code palettes.txt}), which roles each view is painted with ({@code
 * roles.txt}), and some whole frames as a terminal gets them ({@code FRAME.MODE.ans}; {@code cat}
 * shows one). {@code -Dflametop.golden.update=true} writes the files anew.
 */
class ColourFrameTest {
  private static final FrameStream NOWHERE = new FrameStream(OutputStream.nullOutputStream());
  private static final Path COLOURS = Path.of("src/test/resources/flametop/colours");

  private static final Map<String, CellGrid> FRAMES = new HashMap<>();

  /** Shades of a pair that a palette lists: its ends, and two between. */
  private static final int[] SHADES = {0, 5, 10, Paint.SHADES - 1};

  @BeforeAll
  static void paintFrames() {
    GoldenFrames.golden().forEach(frame -> FRAMES.put(frame.name(), frame.grid()));
  }

  @Test
  void palettes_everyThemeModeAndRole_areAsBefore() throws Exception {
    StringBuilder text = new StringBuilder();
    for (String theme : ThemeTest.names().stream().sorted().toList()) {
      for (ColorMode mode : ColorMode.values()) {
        CellWriter writer = new CellWriter(ThemeTest.shipped(theme), mode, "", NOWHERE);
        text.append(theme).append(", ").append(name(mode)).append('\n');
        for (Role role : Role.values()) {
          text.append(String.format(Locale.ROOT, "  %-8s", role.name().toLowerCase(Locale.ROOT)));
          text.append(palette(writer, role)).append('\n');
        }
      }
    }
    Golden.assertHolds(COLOURS.resolve("palettes.txt"), text.toString());
  }

  /**
   * A role as ground in its shades and faded, what stands on it, and the role as ink on the ground.
   */
  private static String palette(CellWriter writer, Role role) {
    StringBuilder text = new StringBuilder();
    int middle = Paint.of(role, Paint.SHADES / 2);
    if (role != Role.INK) {
      for (int shade : SHADES) {
        text.append(' ').append(look(writer.pen(middle, Paint.of(role, shade), 0)));
      }
      int faded = Paint.faded(middle);
      text.append("  faded ").append(look(writer.pen(Paint.of(Role.INK), faded, 0)));
      text.append("  on it");
      for (Role on : new Role[] {Role.INK, Role.TEXT, Role.DIM, Role.ACCENT, Role.WORSE}) {
        int ink = on == Role.INK ? Paint.of(on) : Paint.words(Paint.of(on));
        text.append(' ').append(look(writer.pen(ink, middle, 0)));
      }
    }
    int ground = Paint.of(Role.GROUND);
    int chosen = CellGrid.BOLD | CellGrid.UNDERLINE;
    text.append("  as ink ").append(look(writer.pen(middle, ground, 0)));
    text.append(' ').append(look(writer.pen(Paint.words(middle), ground, chosen)));
    return text.toString();
  }

  private static String look(CellWriter.Pen pen) {
    return colour(pen.foreground())
        + "/"
        + colour(pen.background())
        + ((pen.attributes() & CellGrid.BOLD) != 0 ? "+bold" : "")
        + ((pen.attributes() & CellGrid.UNDERLINE) != 0 ? "+line" : "")
        + ((pen.attributes() & CellWriter.REVERSE) != 0 ? "+turned" : "");
  }

  private static String colour(int value) {
    return value == Theme.DEFAULT
        ? "own"
        : (value & Theme.INDEXED) != 0
            ? Integer.toString(value & 0xff)
            : String.format(Locale.ROOT, "#%06x", value);
  }

  /**
   * Cells by their roles, of all frames of a view or of what is done in one, which the first word
   * of their names tells.
   */
  @Test
  void roles_everyView_areAsBefore() throws Exception {
    Map<String, Map<String, Integer>> views = new TreeMap<>();
    FRAMES.forEach(
        (name, grid) -> {
          String view = name.substring(0, name.indexOf('-'));
          Map<String, Integer> cells = views.computeIfAbsent(view, v -> new TreeMap<>());
          for (int y = 0; y < grid.rows(); y++) {
            for (int x = 0; x < grid.columns(); x++) {
              if (grid.codePoint(x, y) != 0) {
                cells.merge(roles(grid, x, y), 1, Integer::sum);
              }
            }
          }
        });
    StringBuilder text = new StringBuilder();
    views.forEach(
        (view, cells) -> {
          text.append(view).append('\n');
          cells.forEach(
              (roles, count) -> text.append(String.format(Locale.ROOT, "%6d %s\n", count, roles)));
        });
    Golden.assertHolds(COLOURS.resolve("roles.txt"), text.toString());
  }

  /** With what role a cell is painted; of one without a character that is the ground alone. */
  private static String roles(CellGrid grid, int x, int y) {
    int attributes = grid.attributes(x, y);
    String ink = grid.codePoint(x, y) == ' ' ? "" : role(grid.foreground(x, y)) + " ";
    return ink
        + "on "
        + role(grid.background(x, y))
        + ((attributes & CellGrid.BOLD) != 0 ? ", bold" : "")
        + ((attributes & CellGrid.UNDERLINE) != 0 ? ", line" : "");
  }

  private static String role(int paint) {
    return Paint.role(paint).name().toLowerCase(Locale.ROOT)
        + (Paint.isOfWords(paint) ? " words" : "")
        + (Paint.isFaded(paint) ? " faded" : "");
  }

  /** Each painter is in one of them. */
  @ParameterizedTest
  @CsvSource({
    "normal-120x30, TRUE",
    "search-kept-80x24, INDEXED_256",
    "by-state-80x24, ANSI_16",
    "plain-80x24, NONE",
    "shaped-80x24, ANSI_16",
    "compared-80x24, TRUE",
    "range-80x24, TRUE",
    "time-80x24, INDEXED_256",
    "help-80x24, TRUE",
    "pick-typed-80x24, ANSI_16",
    "export-80x24, TRUE",
    "source-80x24, TRUE",
    "sandwich-80x24, INDEXED_256",
    "split-search-80x24, TRUE",
    "top-80x24, TRUE",
    "tasks-compared-80x24, TRUE",
    "cpus-view-marked-80x24, TRUE",
    "idle-view-80x24, INDEXED_256",
    "quality-80x24, TRUE"
  })
  void paint_frameOfEachPainter_hasTheColoursAsBefore(String name, ColorMode mode)
      throws Exception {
    CellWriter writer = new CellWriter(ThemeTest.shipped("dark"), mode, "", NOWHERE);
    String file = name + "." + name(mode) + ".ans";
    Golden.assertHolds(COLOURS.resolve(file), painted(FRAMES.get(name), writer));
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
      changes.add(sgr(to.foreground(), 30));
    }
    if (to.background() != ground) {
      changes.add(sgr(to.background(), 40));
    }
    return String.join(";", changes);
  }

  private static String sgr(int value, int base) {
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

package flametop.view;

import flametop.profile.answer.Shape;
import java.util.ArrayList;
import java.util.List;

/**
 * The steps by which the graph got its shape, in one line. Where it is too narrow, names of
 * functions lose what tells least, then the first steps go.
 */
final class Breadcrumb {
  /** Cells for the name of a function in a sentence. */
  static final int IN_WORDS = 48;

  /** Cells for the name of a function in the line, from much room to little. */
  private static final int[] NAMES = {80, 48, 32, 24};

  private static final String BETWEEN = " › ";
  private static final String LEFT_OUT = "…";

  /** No step of the shape. */
  static final int NONE = -1;

  private static final int GROUND = Paint.of(Role.GROUND);

  /**
   * A piece of the line.
   *
   * @param step of the shape; {@link #NONE} if it is none
   */
  private record Piece(String text, int step) {}

  private Breadcrumb() {}

  /** Whether there is anything to show. */
  static boolean has(ViewState s) {
    return s.view() == View.CALLERS || !s.chosenShape().steps().isEmpty();
  }

  /**
   * A step in words.
   *
   * @param room for the name of a function or the text of a search
   */
  static String text(Shape.Step step, int room) {
    String text = step.text();
    if (step instanceof Shape.Through t) {
      String name = t.function().name();
      return (t.out() ? "not " : "") + cut(ShortName.form(name, room), room);
    }
    if (step instanceof Shape.Cgroups c && c.paths().size() == 1) {
      String path = c.paths().iterator().next();
      String sign = (c.out() ? "not " : "") + "cgroup ";
      return sign + cut(CgroupName.ofPath(path, room), room);
    }
    return cut(text, room + 4);
  }

  private static String cut(String text, int room) {
    if (!TextWidth.exceeds(text, room)) {
      return text;
    }
    int end = 0;
    while (!TextWidth.exceeds(text.substring(0, text.offsetByCodePoints(end, 1)), room - 1)) {
      end = text.offsetByCodePoints(end, 1);
    }
    return text.substring(0, end) + LEFT_OUT;
  }

  /** What fits into so many cells. */
  private static List<Piece> pieces(ViewState s, int room) {
    List<Piece> pieces = List.of();
    for (int name : NAMES) {
      pieces = pieces(s.chosenShape(), name);
      if (width(s, pieces) <= room) {
        return pieces;
      }
    }
    List<Piece> last = pieces;
    for (int from = 1; from < pieces.size() && width(s, last) > room; from++) {
      last = new ArrayList<>(pieces.subList(from, pieces.size()));
      last.add(0, new Piece(LEFT_OUT, NONE));
    }
    return last;
  }

  private static List<Piece> pieces(Shape shape, int name) {
    List<Piece> pieces = new ArrayList<>();
    for (int i = 0; i < shape.steps().size(); i++) {
      pieces.add(new Piece(text(shape.steps().get(i), name), i));
    }
    return pieces;
  }

  private static int width(ViewState s, List<Piece> pieces) {
    int width = TextWidth.of(title(s));
    for (Piece piece : pieces) {
      width += (width > 0 ? BETWEEN.length() : 0) + TextWidth.of(piece.text);
    }
    return width;
  }

  private static String title(ViewState s) {
    return s.view() == View.CALLERS ? "callers" : "";
  }

  static void paint(Scene scene, CellGrid grid, int row) {
    Painter.rule(grid, row);
    walk(scene, grid, row, NONE);
  }

  /** The step at a column of the line; {@link #NONE} if none is there. */
  static int stepAt(Scene scene, int x) {
    return walk(scene, null, 0, x);
  }

  /**
   * Goes along the line, and paints it unless {@code grid} is null.
   *
   * @return the step at column {@code wanted}
   */
  private static int walk(Scene scene, CellGrid grid, int row, int wanted) {
    ViewState s = scene.state;
    int room = scene.columns - 4;
    int end = 2 + room;
    int found = NONE;
    int x = 2;
    String title = title(s);
    if (!title.isEmpty()) {
      x += put(grid, x, row, end, title, Role.TEXT);
    }
    for (Piece piece : pieces(s, room)) {
      if (x > 2) {
        x += put(grid, x, row, end, BETWEEN, Role.DIM);
      }
      int width = Math.min(Math.max(0, end - x), TextWidth.of(piece.text));
      if (x <= wanted && wanted < x + width) {
        found = piece.step;
      }
      x += put(grid, x, row, end, piece.text, piece.step == NONE ? Role.DIM : Role.ACCENT);
    }
    if (grid != null) {
      grid.put(1, row, ' ', GROUND, GROUND, 0);
      if (x < scene.columns) {
        grid.put(x, row, ' ', GROUND, GROUND, 0);
      }
    }
    return found;
  }

  private static int put(CellGrid grid, int x, int row, int end, String text, Role role) {
    int room = Math.max(0, end - x);
    int bold = role == Role.DIM ? 0 : CellGrid.BOLD;
    return grid == null
        ? Math.min(room, TextWidth.of(text))
        : grid.text(x, row, room, text, Paint.of(role), GROUND, bold);
  }
}

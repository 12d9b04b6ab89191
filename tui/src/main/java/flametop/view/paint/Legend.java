package flametop.view.paint;

import flametop.profile.answer.StateSet;
import flametop.sampler.State;
import flametop.view.base.CellGrid;
import flametop.view.base.Colouring;
import flametop.view.base.Paint;
import flametop.view.base.Role;
import flametop.view.base.TextWidth;
import flametop.view.layout.Header;
import flametop.view.layout.Scene;

/** The meaning of colours, at the right end of a line between panels. */
public final class Legend {
  private static final Role[] KINDS = {
    Role.USER, Role.KERNEL, Role.JIT, Role.INLINED, Role.UNKNOWN, Role.REASON
  };
  private static final String[] KIND_LABELS = {
    "user", "kernel", "jit", "inlined", "no name", "cut short"
  };
  private static final State[] STATES = {State.RUN, State.QUEUED, State.DISK, State.SLEEP};

  /** For each change, a sign for screens without colours, and a word. */
  private static final String[][] CHANGES = {
    {"+", "more"}, {"-", "less"}, {" ", "the same"}, {" ", "gone"}
  };

  private static final Role[] CHANGE_ROLES = {Role.WORSE, Role.BETTER, Role.GROUP, Role.CHROME};

  /** The least number of cells of a line that a legend leaves free. */
  private static final int LEAST_RULE = 8;

  private Legend() {}

  /** Paints the legend of a graph, if it has room. */
  static void paint(Scene scene, CellGrid grid, int row) {
    if (scene.geometry.size() < 2) {
      return;
    }
    if (scene.baseline().isPresent()) {
      compared(scene, grid, row);
      return;
    }
    paint(scene, grid, row, LEAST_RULE, scene.colouring() == Colouring.STATE, scene.state.states());
  }

  /** Paints the legend of states, if there is room at the right of {@code from}. */
  public static void states(Scene scene, CellGrid grid, int row, int from, StateSet shown) {
    paint(scene, grid, row, from + 1, true, shown);
  }

  private static void paint(
      Scene scene, CellGrid grid, int row, int from, boolean byState, StateSet shown) {
    if (scene.options.plain()) {
      return;
    }
    int count = byState ? STATES.length : KINDS.length;
    int width = -1;
    for (int i = 0; i < count; i++) {
      width += isShown(byState, shown, i) ? label(byState, i).length() + 4 : 0;
    }
    int x = scene.columns - width;
    if (x < from) {
      return;
    }
    grid.fill(x - 1, row, width + 2, Paint.GROUND);
    for (int i = 0; i < count; i++) {
      if (isShown(byState, shown, i)) {
        Role role = byState ? Role.of(STATES[i]) : KINDS[i];
        grid.put(x, row, '■', Paint.of(role, Paint.SHADES / 2), Paint.GROUND, 0);
        String label = label(byState, i);
        x += 2;
        x += grid.text(x, row, label.length(), label, Paint.DIM, Paint.GROUND, 0) + 2;
      }
    }
  }

  private static void compared(Scene scene, CellGrid grid, int row) {
    String with = " compared with " + Header.baseline(scene.snapshot.live()) + " ";
    int width = -1;
    for (String[] change : CHANGES) {
      width += change[1].length() + 4;
    }
    int x = scene.columns - width;
    int end = 2 + TextWidth.of(with);
    if (end + 1 < x) {
      grid.text(2, row, end, with, Paint.ACCENT, Paint.GROUND, 0);
    }
    if (x < LEAST_RULE) {
      return;
    }
    grid.fill(x - 1, row, width + 2, Paint.GROUND);
    for (int i = 0; i < CHANGES.length; i++) {
      int paint = Paint.of(CHANGE_ROLES[i]);
      if (CHANGE_ROLES[i] == Role.CHROME) {
        grid.put(x, row, ' ', Paint.INK, paint, CellGrid.UNDERLINE);
      } else {
        grid.text(x, row, 1, scene.options.plain() ? CHANGES[i][0] : "■", paint, Paint.GROUND, 0);
      }
      x += 2;
      String label = CHANGES[i][1];
      x += grid.text(x, row, label.length(), label, Paint.DIM, Paint.GROUND, 0) + 2;
    }
  }

  private static boolean isShown(boolean byState, StateSet shown, int i) {
    return !byState || shown.contains(STATES[i]);
  }

  private static String label(boolean byState, int i) {
    return byState ? STATES[i].label() : KIND_LABELS[i];
  }
}

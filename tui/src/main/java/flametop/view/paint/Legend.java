package flametop.view.paint;

import flametop.profile.answer.Capability;
import flametop.profile.answer.StateSet;
import flametop.sampler.State;
import flametop.view.base.CellGrid;
import flametop.view.base.Colouring;
import flametop.view.base.Paint;
import flametop.view.base.Role;
import flametop.view.base.TextWidth;
import flametop.view.layout.Header;
import flametop.view.layout.Scene;
import java.util.ArrayList;
import java.util.List;

/** The meaning of colours, at the right end of a line between panels. */
public final class Legend {
  private static final String PYTHON = "python";
  private static final String PHP = "php";
  private static final String RUBY = "ruby";
  private static final Role[] KINDS = {
    Role.USER,
    Role.KERNEL,
    Role.JIT,
    Role.INLINED,
    Role.PYTHON,
    Role.PHP,
    Role.RUBY,
    Role.UNKNOWN,
    Role.REASON
  };
  private static final String[] KIND_LABELS = {
    "user", "kernel", "jit", "inlined", PYTHON, PHP, RUBY, "no name", "cut short"
  };
  private static final State[] STATES = {State.RUN, State.QUEUED, State.DISK, State.SLEEP};

  /** For each change, a sign for screens without colours, and a word. */
  private static final String[][] CHANGES = {
    {"+", "more"}, {"-", "less"}, {" ", "the same"}, {" ", "gone"}
  };

  private static final Role[] CHANGE_ROLES = {Role.WORSE, Role.BETTER, Role.GROUP, Role.CHROME};

  /** The sign of a colour. */
  private static final String SWATCH = "■";

  /** What each kind of frame is, in the order of the kinds. */
  private static final String[] KIND_MEANINGS = {
    "function of a program",
    "function of the kernel",
    "code made at run time",
    "inlined into its caller",
    "function of Python",
    "function of PHP",
    "function of Ruby",
    "function without a symbol",
    "[why]: frames are missing"
  };

  private static final List<String[]> HEADER =
      List.of(
          new String[] {"words of the header"},
          new String[] {"busy", "states that are counted (o)"},
          new String[] {"30 s", "time that is shown (m)"},
          new String[] {"run", "tasks on a CPU"},
          new String[] {"q queued", "tasks that wait for a CPU"},
          new String[] {"d disk", "tasks that wait for a disk"},
          new String[] {"s asleep", "tasks that sleep"},
          new String[] {"19/99 Hz", "passes, CPU samples a second"},
          new String[] {"lost", "samples without room"},
          new String[] {"late", "passes that began late"},
          new String[] {"cut stacks", "stacks with missing frames"},
          new String[] {"guessed", "samples with a guessed frame"},
          new String[] {"cost", "flametop's share of one CPU"});

  private static final List<String[]> MOUSE =
      List.of(
          new String[] {"mouse"},
          new String[] {"click", "select; does a word, a key"},
          new String[] {"two clicks", "zoom in"},
          new String[] {"wheel", "scroll"},
          new String[] {"drag", "a range, on the strip"});

  /** The least number of cells of a line that a legend leaves free. */
  private static final int LEAST_RULE = 8;

  private Legend() {}

  /** Lines of the help: titles, and words with their meaning. A colour begins with its sign. */
  static List<String[]> help(Scene scene) {
    boolean hasHeader = scene.hasStates() && !scene.options.origin().has(Capability.FILES);
    return help(hasHeader, !scene.options.plain());
  }

  /** All lines of the help, for a screen of live tasks in colours. */
  public static List<String[]> help() {
    return help(true, true);
  }

  private static List<String[]> help(boolean header, boolean colours) {
    List<String[]> lines = new ArrayList<>();
    if (header) {
      lines.addAll(HEADER);
    }
    if (colours) {
      lines.add(new String[] {"colours"});
      for (int i = 0; i < KINDS.length; i++) {
        lines.add(new String[] {SWATCH + KIND_LABELS[i], KIND_MEANINGS[i]});
      }
      lines.add(new String[] {"faded", "only waited for a CPU"});
    }
    lines.addAll(MOUSE);
    return lines;
  }

  /** Paints the sign of a colour over the first cell of a line of the help that has one. */
  static void swatch(CellGrid grid, int x, int y, String words) {
    for (int i = 0; i < KINDS.length; i++) {
      if (words.equals(SWATCH + KIND_LABELS[i])) {
        grid.put(x, y, '■', Paint.of(KINDS[i], Paint.SHADES / 2), Paint.CHROME, 0);
      }
    }
  }

  /** Paints the legend of a graph, if it has room. */
  static void paint(Scene scene, CellGrid grid, int row) {
    if (scene.geometry.size() < 2) {
      return;
    }
    if (scene.baseline().isPresent()) {
      compared(scene, grid, row);
      return;
    }
    boolean byState = scene.colouring() == Colouring.STATE;
    boolean queued = !byState && scene.geometry.slice().queued() != null && scene.hasStates();
    List<Entry> entries = entries(byState, queued, scene.state.states());
    for (String language : new String[] {RUBY, PHP, PYTHON}) {
      if (scene.columns - width(entries) < LEAST_RULE) {
        // The name of such a frame tells its kind.
        entries.removeIf(entry -> entry.label.equals(language));
      }
    }
    paint(scene, grid, row, LEAST_RULE, entries);
  }

  /** Paints the legend of states, if there is room at the right of {@code from}. */
  public static void states(Scene scene, CellGrid grid, int row, int from, StateSet shown) {
    paint(scene, grid, row, from + 1, entries(true, false, shown));
  }

  /** A colour and its meaning. */
  private record Entry(int paint, String label) {}

  /**
   * @param queued whether a kind of frame is faded where tasks waited for a CPU
   */
  private static List<Entry> entries(boolean byState, boolean queued, StateSet shown) {
    List<Entry> entries = new ArrayList<>();
    if (byState) {
      for (State state : STATES) {
        if (shown.contains(state)) {
          entries.add(new Entry(Paint.of(Role.of(state), Paint.SHADES / 2), state.label()));
        }
      }
      return entries;
    }
    for (int i = 0; i < KINDS.length; i++) {
      entries.add(new Entry(Paint.of(KINDS[i], Paint.SHADES / 2), KIND_LABELS[i]));
    }
    if (queued) {
      int faded = Paint.faded(Paint.of(Role.USER, Paint.SHADES / 2));
      entries.add(new Entry(faded, State.QUEUED.label()));
    }
    return entries;
  }

  private static void paint(Scene scene, CellGrid grid, int row, int from, List<Entry> entries) {
    if (scene.options.plain()) {
      return;
    }
    int width = width(entries);
    int x = scene.columns - width;
    if (x < from) {
      return;
    }
    grid.fill(x - 1, row, width + 2, Paint.GROUND);
    for (Entry entry : entries) {
      grid.put(x, row, '■', entry.paint, Paint.GROUND, 0);
      x += 2;
      x += grid.text(x, row, entry.label.length(), entry.label, Paint.DIM, Paint.GROUND, 0) + 2;
    }
  }

  private static int width(List<Entry> entries) {
    int width = -1;
    for (Entry entry : entries) {
      width += entry.label.length() + 4;
    }
    return width;
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
}

package flametop.view.paint;

import flametop.profile.answer.Capability;
import flametop.profile.answer.GraphSlice;
import flametop.profile.answer.NodeKind;
import flametop.profile.answer.Shape;
import flametop.profile.answer.Snapshot;
import flametop.profile.answer.StateSet;
import flametop.sampler.State;
import flametop.view.base.CellGrid;
import flametop.view.base.CgroupName;
import flametop.view.base.Colouring;
import flametop.view.base.Paint;
import flametop.view.base.Role;
import flametop.view.base.ShortName;
import flametop.view.base.TextWidth;
import flametop.view.layout.Geometry;
import flametop.view.layout.Plot;
import flametop.view.layout.Scene;
import flametop.view.layout.WindowWords;
import flametop.view.state.Search;
import java.util.List;

/** The boxes of the graph. */
public final class GraphPainter {
  /*
   * A cell has two colours, so a cell in which two boxes meet has no third colour for the gap between them. The box with the larger part gets the cell: this box is drawn to its exact edge, and the rest of the cell is the gap. If two boxes meet between two cells, the gap is the first eighth of the right cell. So each gap is at most half a cell, and one of its sides is exact.
   */
  private static final int HALF = Geometry.CELL / 2;

  private static final char HATCH = '╱';

  private static final long FIRST_NANOS = 1_000_000_000L;

  /** The share of busy CPUs below which the machine is called idle. */
  private static final double IDLE_CPUS = 0.05;

  /** Rows that a sentence beside the graph takes. */
  private static final int FREE_ROWS = 3;

  /** A name that does not fit is cut to so many cells, or left out: fewer letters tell nothing. */
  private static final int LEAST_LABEL = 5;

  private final Scene scene;
  private final Plot plot;
  private final Geometry g;
  private final CellGrid grid;

  private GraphPainter(Scene scene, Plot plot, CellGrid grid) {
    this.scene = scene;
    this.plot = plot;
    g = plot.geometry;
    this.grid = grid;
  }

  static void paint(Scene scene, CellGrid grid) {
    Geometry g = scene.geometry;
    if (scene.snapshot.isOpening()) {
      sentence(scene, grid, opening(scene));
      return;
    }
    paint(scene, scene.plot, scene.hasSelected, grid);
    if (g.slice().size() == 0 || g.slice().extent(0) <= 0 || g.size() <= 1 && g.zoomLevel() == 0) {
      sentence(scene, grid, nothing(scene));
    } else if (isIdle(scene) && scene.graphRows - g.levels() >= FREE_ROWS) {
      int free = scene.graphRows - g.levels();
      int y = scene.graphTop + (scene.state.flame() ? free / 2 : g.levels() + free / 2);
      sentence(grid, y, "almost " + nothing(scene));
    }
  }

  /**
   * Paints the part of a plot that is in sight.
   *
   * @param marked whether the selected box is marked
   */
  static void paint(Scene scene, Plot plot, boolean marked, CellGrid grid) {
    new GraphPainter(scene, plot, grid).paint(marked);
  }

  private void paint(boolean marked) {
    int selected = marked ? plot.selectedBox : -1;
    int[] end = new int[g.size()];
    for (int level = 0; level < g.levels(); level++) {
      ends(level, end);
      int row = plot.rowOf(level);
      if (row >= 0) {
        for (int box = g.levelStart(level); box < g.levelStart(level + 1); box++) {
          box(box, row, end[box], box == selected);
        }
      }
    }
    hints();
  }

  /**
   * Whether the machine is idle. The graph fills its width however little there is, so a sentence
   * says that there is little.
   */
  private static boolean isIdle(Scene scene) {
    return scene.hasStates()
        && scene.snapshot.context() instanceof Snapshot.Live live
        && live.time().runNanos() >= FIRST_NANOS
        && !scene.state.states().contains(State.SLEEP)
        && scene.state.chosenShape().equals(Shape.PLAIN)
        && scene.snapshot.total() < IDLE_CPUS * live.time().nanos();
  }

  /**
   * The visible end of each box of a level, in eighths: its edge, or the beginning of the next cell
   * that a neighbour or a parent has.
   */
  private void ends(int level, int[] end) {
    int last = g.levelStart(level + 1) - 1;
    for (int box = last; box >= g.levelStart(level); box--) {
      int right = g.right(box);
      if (box < last) {
        right = Math.min(right, firstCell(g.left(box + 1)) * Geometry.CELL);
      }
      int parent = g.parent(box);
      if (parent >= 0 && g.right(parent) == g.right(box)) {
        right = Math.min(right, end[parent]);
      }
      end[box] = right;
    }
  }

  /** The first cell that belongs to a box with this left edge. */
  private static int firstCell(int left) {
    return left % Geometry.CELL <= HALF ? left / Geometry.CELL : left / Geometry.CELL + 1;
  }

  private void box(int box, int row, int end, boolean selected) {
    boolean whole = g.right(box) - g.left(box) == g.columns() * Geometry.CELL;
    // A white bar over the whole width would glare: there only the name is marked.
    int bg = selected && !whole ? Paint.of(Role.SELECT) : background(scene, g, box);
    int first = firstCell(g.left(box));
    int full = end / Geometry.CELL;
    grid.fill(first, row, full - first, bg);
    queued(box, row, first, full, bg);
    boolean guessed = isGuessed(box);
    for (int x = first; guessed && x < full; x++) {
      int under = grid.background(x, row);
      grid.put(x, row, HATCH, hatch(under), under, 0);
    }
    int inFirst = g.left(box) % Geometry.CELL;
    if (g.left(box) > 0 && inFirst <= HALF && full > first) {
      char block = Bar.leftBlock(Math.max(1, inFirst));
      grid.put(first, row, block, Paint.GROUND, grid.background(first, row), 0);
    }
    if (end % Geometry.CELL > 0 && full >= first) {
      int last = full > first ? grid.background(full - 1, row) : bg;
      grid.put(full, row, Bar.leftBlock(end % Geometry.CELL), last, Paint.GROUND, 0);
    }
    if (selected && whole) {
      String name =
          g.isRun(box) ? runLabel(g.more(box), g.columns()) : g.slice().name()[g.node(box)];
      bg = Paint.of(Role.SELECT);
      grid.fill(first, row, Math.min(full - first, TextWidth.of(name) + 2), bg);
    }
    label(box, row, first + 1, full - first - 1, bg, selected);
  }

  /** Whether a box is of a frame that may not have been there: one that a walk only guessed. */
  private boolean isGuessed(int box) {
    return !g.isRun(box)
        && g.slice().guessed()[g.node(box)]
        && g.slice().kind()[g.node(box)] != NodeKind.REASON;
  }

  /** The strokes across a guessed frame: quiet on the colour of the frame. */
  private static int hatch(int ground) {
    return Paint.isFaded(ground) ? Paint.DIM : Paint.faded(ground);
  }

  /**
   * Paints the part of a box in which tasks waited for a CPU: nothing of the box was at work there,
   * so the part is faded.
   */
  private void queued(int box, int row, int first, int full, int bg) {
    int from = (g.queuedFrom(box) + HALF) / Geometry.CELL;
    if (!scene.hasStates() || g.queuedFrom(box) == g.right(box)) {
      return;
    }
    boolean byState = scene.colouring() == Colouring.STATE && bg != Paint.of(Role.SELECT);
    int paint = byState ? Paint.of(Role.QUEUED, Paint.shade(bg)) : Paint.faded(bg);
    for (int x = Math.max(first, from); x < full; x++) {
      grid.put(x, row, scene.options.plain() ? '░' : ' ', Paint.DIM, paint, 0);
    }
  }

  private void label(int box, int row, int x, int room, int bg, boolean selected) {
    if (g.isRun(box)) {
      run(g.more(box), row, x, room, bg, selected);
      return;
    }
    if (room < 1) {
      return;
    }
    int index = g.node(box);
    boolean gone = Comparison.isGone(g.slice(), index);
    String name = g.slice().name()[index];
    String sign = isGuessed(box) ? "?" : "";
    if (g.slice().baseline() != null && scene.options.plain()) {
      sign += Comparison.sign(g.slice(), index, scene.snapshot);
    }
    NodeKind kind = g.slice().kind()[index];
    int left = Math.max(1, room - sign.length());
    if (kind.isFrame()) {
      name = ShortName.form(name, left);
    } else if (kind == NodeKind.CGROUP) {
      name = CgroupName.form(name, left);
    }
    if (room < LEAST_LABEL && TextWidth.exceeds(sign + name, room)) {
      return;
    }
    boolean strong = selected || searching(scene) && g.slice().matched()[index];
    int style = (strong ? CellGrid.BOLD : 0) | (gone ? CellGrid.UNDERLINE : 0);
    grid.text(x, row, room, sign + name, Paint.INK, CellGrid.AS_IT_IS, style);
  }

  /**
   * Paints a run of thin frames, quietly: many runs stand side by side. A run without room for its
   * count is a faded cell.
   */
  private void run(int count, int row, int x, int room, int bg, boolean selected) {
    if (selected || scene.options.plain()) {
      // Dots in a cell of their own take the place of the gap.
      String label = room < 1 ? "…" : runLabel(count, room);
      int strong = selected ? CellGrid.BOLD : 0;
      grid.text(room < 1 ? x - 1 : x, row, Math.max(1, room), label, Paint.INK, bg, strong);
    } else if (room > 1) {
      grid.text(x, row, room, runLabel(count, room), Paint.DIM, bg, 0);
    }
  }

  private static String runLabel(int count, int room) {
    String words = "… " + count + " more";
    if (words.length() <= room) {
      return words;
    }
    String number = "… " + count;
    if (number.length() <= room) {
      return number;
    }
    String tight = "…" + count;
    return tight.length() <= room ? tight : "…";
  }

  private static boolean searching(Scene scene) {
    return Search.patternOf(scene.state.search()) != null;
  }

  /** The background of a box that is not selected. */
  static int background(Scene scene, Geometry g, int box) {
    if (g.isRun(box)) {
      // Runs have no kind: in the colour of a kind they would fray the towers.
      return Paint.faded(Paint.of(Role.GROUP));
    }
    GraphSlice slice = g.slice();
    int index = g.node(box);
    int paint =
        slice.baseline() != null
            ? Comparison.paint(slice, index, scene.snapshot)
            : scene.colouring().paint(slice, index);
    boolean apart = searching(scene) ? !slice.matched()[index] : g.level(box) < g.zoomLevel();
    return apart || isIdle(slice, index) ? Paint.faded(paint) : paint;
  }

  /** Whether a node stands for idle threads: their frame, or an owner of nothing else. */
  private static boolean isIdle(GraphSlice slice, int index) {
    if (slice.kind()[index] == NodeKind.IDLE) {
      return true;
    }
    int below = index + 1;
    return slice.kind()[index].isOwner()
        && below < slice.size()
        && slice.parent()[below] == index
        && slice.extent(below) == slice.extent(index)
        && isIdle(slice, below);
  }

  private void hints() {
    int bottom = plot.top + plot.rows - 1;
    if (plot.levelsBeyond() > 0) {
      int deepest = plot.levelsBeyond();
      int widest = Math.min(deepest, plot.levelsOfWidest());
      String least = widest == 0 ? "up to " : widest < deepest ? widest + " to " : "";
      hint(plot.flame ? plot.top : bottom, least + deepest, plot.flame);
    }
    if (plot.levelsBefore() > 0) {
      hint(plot.flame ? bottom : plot.top, "" + plot.levelsBefore(), !plot.flame);
    }
  }

  private void hint(int row, String levels, boolean up) {
    String word = levels.matches("(.* )?1") ? " more level" : " more levels";
    String text = (up ? "▲ " : "▼ ") + levels + word;
    grid.text(1, row, grid.columns() - 1, text, Paint.DIM, Paint.GROUND, 0);
  }

  public static String opening(Scene scene) {
    return scene.options.origin().has(Capability.FILES) ? "reading…" : "opening the kernel side…";
  }

  /** The reason for an empty graph. */
  public static String nothing(Scene scene) {
    if (scene.snapshot.context() instanceof Snapshot.File file) {
      Snapshot.Reading reading = file.reading();
      List<String> notices = scene.snapshot.notices();
      return !reading.done()
          ? reading.waits().isEmpty() ? "nothing is read yet" : reading.waits()
          : notices.isEmpty() ? "nothing to show" : notices.get(0);
    }
    Snapshot.Live live = scene.snapshot.live();
    StateSet states = scene.state.states();
    if (live.time().ranged()) {
      return (states.contains(State.SLEEP) ? "nothing to show" : "nothing was busy")
          + " in this range; esc goes back to the present";
    }
    int[] tasks = live.host().tasks();
    int asleep = State.SLEEP.ordinal() < tasks.length ? tasks[State.SLEEP.ordinal()] : 0;
    if (live.time().runNanos() < FIRST_NANOS) {
      return "the first second is being sampled…";
    }
    if (states.contains(State.SLEEP)) {
      return "nothing to show of " + WindowWords.full(scene, scene.state);
    }
    Shape shape = scene.state.chosenShape();
    if (shape.narrowsCpus() && !states.contains(State.RUN)) {
      return "what is off the CPU belongs to no CPU; o shows other states";
    }
    String what = states.equals(StateSet.ON_CPU) ? "nothing was on a cpu" : "nothing is busy";
    if (asleep == 0 && !shape.equals(scene.state.base())) {
      return what + " of what is left; u undoes the last step";
    }
    return asleep > 0 ? what + "; o shows the " + asleep + " that sleep" : what;
  }

  private static void sentence(Scene scene, CellGrid grid, String text) {
    sentence(grid, scene.graphTop + scene.graphRows / 2, text);
  }

  /** Paints a sentence in the place of boxes. */
  static void sentence(CellGrid grid, int y, String text) {
    int x = Math.max(1, (grid.columns() - TextWidth.of(text)) / 2);
    grid.text(x, y, grid.columns() - x, text, Paint.TEXT, Paint.GROUND, 0);
  }
}

package flametop.view.table;

import flametop.profile.answer.Function;
import flametop.profile.answer.Measure;
import flametop.profile.answer.NodeKind;
import flametop.profile.answer.Shape;
import flametop.profile.answer.Snapshot;
import flametop.profile.answer.StateSet;
import flametop.profile.answer.TopQuery.Order;
import flametop.profile.answer.TopReport;
import flametop.profile.answer.TopReport.Row;
import flametop.sampler.State;
import flametop.view.base.Action;
import flametop.view.base.CellGrid;
import flametop.view.base.Paint;
import flametop.view.base.Role;
import flametop.view.base.ShortName;
import flametop.view.base.Units;
import flametop.view.base.View;
import flametop.view.keys.CommonKeys;
import flametop.view.keys.ShapeKeys;
import flametop.view.layout.Scene;
import flametop.view.paint.Comparison;
import flametop.view.paint.GraphPainter;
import flametop.view.state.Step;
import flametop.view.state.ViewState;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A row for each function: the time in the function and in its callees, and the states of that
 * time.
 */
public final class TopTable extends FilteredTable<Row, Function, Order> {

  /** States with a colour of their own in the bars, in this order; the other states come last. */
  private static final State[] STATES = {State.RUN, State.QUEUED, State.DISK, State.SLEEP};

  private static final int SHADE = Paint.SHADES / 2;
  private static final int PERCENT = 6;
  private static final int MOST_NAME = 100;

  public TopTable() {
    super(View.TOP, "function", Order.values());
    add(
        right("cpu", TopTable::cpuCells, TopTable::onCpu)
            .by(Order.CPU, "time on a CPU")
            .meaning(Scene::hasStates, "cpu", "in the function itself, on a CPU"),
        right("was", compared(60, PERCENT), (row, at) -> before(row, at, false)),
        right("self", TopTable::shareCells, (row, at) -> at.share(row.self() / all(at)))
            .by(Order.SELF, "self")
            .meaning("self", "in the function itself"),
        right(
                changeTitle("self"),
                compared(0, Comparison.CHANGE),
                (row, at) -> change(row, at, false))
            .by(Order.SELF_CHANGE, "change of self"),
        right("was", compared(60, PERCENT), (row, at) -> before(row, at, true)),
        right("total", TopTable::shareCells, (row, at) -> at.share(row.total() / all(at)))
            .by(Order.TOTAL, "total")
            .meaning("total", "also in what it calls"),
        ofChanges(
            right(
                    changeTitle("total"),
                    compared(0, Comparison.CHANGE),
                    (row, at) -> change(row, at, true))
                .by(Order.TOTAL_CHANGE, "change of total")),
        left("", TopTable::barCells, TopTable::bar)
            .like(Order.TOTAL)
            .meaning(Scene::hasStates, "bar", "self by state; faint: total")
            .meaning(scene -> !scene.hasStates(), "bar", "self; faint: total"),
        right(
                TopTable::measure,
                room -> ofRest(room, !room.scene().hasStates(), 70, 12),
                TopTable::amount)
            .like(Order.TOTAL),
        right("cpus", room -> ofRest(room, room.scene().hasStates(), 100, 6), TopTable::cpus)
            .like(Order.RUN),
        ofState("run", State.RUN)
            .by(Order.RUN, "total on a CPU")
            .meaning(Scene::hasStates, "run, …", "total by state"),
        ofState("queued", State.QUEUED).by(Order.QUEUED, "time queued"),
        ofState("disk", State.DISK).by(Order.DISK, "time in D"),
        ofState("asleep", State.SLEEP).by(Order.SLEEP, "time asleep"),
        left("  function", TopTable::nameCells, (row, at) -> at.name(row.function(), named(row)))
            .by(Order.NAME, "name"),
        left("module", TopTable::moduleCells, TopTable::module));
  }

  private static double all(Spot at) {
    return Math.max(1, page(at.scene, TopReport.class).total());
  }

  // Widths. A comparison takes its room from the figures that say least of it.

  private static int rest(Column.Room room) {
    return room.scene().compares() ? room.columns() - 36 : room.columns();
  }

  private static int ofRest(Column.Room room, boolean has, int columns, int cells) {
    return has && rest(room) >= columns ? cells : 0;
  }

  private static int shareCells(Column.Room room) {
    return room.scene().compares() && room.columns() < 60 ? 0 : PERCENT;
  }

  private static int cpuCells(Column.Room room) {
    Scene scene = room.scene();
    return ofRest(room, scene.hasStates() && !scene.compares(), 60, PERCENT);
  }

  private static int barCells(Column.Room room) {
    int rest = rest(room);
    return rest < 60 ? 0 : rest < 100 ? 10 : rest < 160 ? 16 : 30;
  }

  private static int moduleCells(Column.Room room) {
    int rest = rest(room);
    return rest < 70 ? 0 : rest < 110 ? 14 : rest < 160 ? 18 : 26;
  }

  /** A wide name is not far from its module. */
  private static int nameCells(Column.Room room) {
    int module = moduleCells(room);
    return Math.min(MOST_NAME, room.left() - (module > 0 ? module + 1 : 0));
  }

  // Titles and cells.

  private static java.util.function.Function<Scene, String> changeTitle(String narrow) {
    return scene -> scene.columns < 60 ? narrow : "change";
  }

  /** The title of the amounts where they are not told apart by state. */
  private static String measure(Scene scene) {
    return scene.hasStates() ? "" : scene.snapshot.measure().title();
  }

  private static void before(Row row, Spot at, boolean total) {
    TopReport.Before before = row.before();
    if (before != null) {
      at.quiet(Units.tenths((total ? before.total() : before.self()) / all(at)));
    }
  }

  private static void change(Row row, Spot at, boolean total) {
    TopReport.Before before = row.before();
    if (before != null) {
      long more = total ? row.total() - before.total() : row.self() - before.self();
      at.change(total ? before.totalChange() : before.selfChange(), more / all(at));
    }
  }

  private static void amount(Row row, Spot at) {
    if (!at.scene.hasStates()) {
      at.text(at.scene.snapshot.measure().figure(row.total()));
    }
  }

  private static void onCpu(Row row, Spot at) {
    at.share(Math.max(0, row.selfByState()[State.RUN.ordinal()]) / all(at));
  }

  private static void cpus(Row row, Spot at) {
    at.figure(worth(at.scene, row.totalByState()), 0, "0.00");
  }

  private Column<Row, Order> ofState(String title, State state) {
    return right(
        title,
        room -> ofRest(room, room.scene().hasStates(), 110, PERCENT),
        (row, at) -> {
          if (at.scene.state.states().contains(state)) {
            at.share(row.totalByState()[state.ordinal()] / all(at));
          } else {
            at.quiet("·");
          }
        });
  }

  private static int named(Row row) {
    return row.isGone() ? CellGrid.UNDERLINE : 0;
  }

  private static void module(Row row, Spot at) {
    String module = row.function().module();
    if (!module.isEmpty()) {
      at.quiet(ShortName.ofModule(module, at.width));
    }
  }

  /** The CPUs that the time on a CPU is worth. */
  private static String worth(Scene scene, long[] byState) {
    long window = scene.snapshot.context() instanceof Snapshot.Live live ? live.time().nanos() : 0;
    return Units.hundredths(window <= 0 ? 0 : (double) byState[State.RUN.ordinal()] / window);
  }

  /** Paints the time in the function itself by state, then the time in its callees, faint. */
  private static void bar(Row row, Spot at) {
    double whole = all(at);
    if (at.scene.options.plain() || !at.scene.hasStates()) {
      int paint = Spot.paint(row.function());
      double[] parts = {row.self() / whole, (row.total() - row.self()) / whole};
      at.bar(parts, paint, Paint.faded(paint));
      return;
    }
    int n = STATES.length;
    double[] parts = new double[2 * n + 1];
    int[] paints = new int[parts.length];
    double sum = 0;
    for (int i = 0; i < n; i++) {
      State state = STATES[i];
      boolean shown = at.scene.state.states().contains(state);
      long self = shown ? Math.max(0, row.selfByState()[state.ordinal()]) : 0;
      long total = shown ? row.totalByState()[state.ordinal()] : 0;
      parts[i] = self / whole;
      parts[n + i] = Math.max(0, total - self) / whole;
      sum += parts[i] + parts[n + i];
      paints[i] = Paint.of(Role.of(state), SHADE);
      paints[n + i] = Paint.faded(paints[i]);
    }
    parts[2 * n] = Math.max(0, row.total() / whole - sum);
    paints[2 * n] = Paint.faded(Paint.DIM);
    at.bar(parts, paints);
  }

  // Rows.

  @Override
  @Nullable List<Row> rows(Scene scene) {
    return scene.page instanceof TopReport report ? report.rows() : null;
  }

  /** Whether a function is among the rows that the table shows while it begins with the first. */
  public static boolean isOnTop(Scene scene, Function function) {
    TableLayout<Row, Order> layout = new TopTable().layout(scene);
    int room = Math.min(layout.room(), layout.rows().size());
    return layout.rows().subList(0, room).stream().anyMatch(row -> row.function().equals(function));
  }

  @Override
  int count(Scene scene, List<Row> rows) {
    return page(scene, TopReport.class).matching();
  }

  @Override
  Function key(Row row) {
    return row.function();
  }

  @Override
  boolean isFaint(Row row) {
    return row.isGone();
  }

  @Override
  @Nullable StateSet states(Scene scene) {
    return scene.hasStates() ? scene.state.states() : null;
  }

  @Override
  String title(Scene scene) {
    return scene.page instanceof TopReport report
        ? count(report.matching(), report.functions(), "functions")
        : "functions";
  }

  @Override
  String nothing(Scene scene) {
    int functions = page(scene, TopReport.class).functions();
    return functions > 0
        ? "no function matches; esc shows all " + Units.count(functions)
        : scene.snapshot.total() <= 0
            ? GraphPainter.nothing(scene)
            : "the shown stacks have no functions";
  }

  // Verbs.

  @Override
  @Nullable Step acted(Scene scene, ViewState s, Action action) {
    return switch (action) {
      case STATES -> CommonKeys.states(s);
      case SHOW_SLEEPERS -> ShapeKeys.sleepers(s);
      case FOLD_RUNTIMES -> ShapeKeys.runtimes(s);
      default -> super.acted(scene, s, action);
    };
  }

  /** Shows the sandwich of the function. */
  @Override
  Step enter(Scene scene, ViewState s) {
    Row row = row(scene, s);
    return row == null ? none(s) : Step.to(s.withSandwich(row.function()));
  }

  @Override
  Step narrowed(Scene scene, ViewState s, Row row, boolean out) {
    return ShapeKeys.narrowed(s, new Shape.Through(row.function(), false), out);
  }

  @Override
  String copied(Row row) {
    return row.function().name();
  }

  /** The name as the table shows it: a {@code ?} before what a walk has only guessed. */
  @Override
  String name(Row row) {
    return (row.guessed() ? "?" : "") + row.function().name();
  }

  // The marked row in full.

  @Override
  void detail(Scene scene, Detail detail, Row row) {
    Function function = row.function();
    String module = function.module();
    if (detail.rows() == 1) {
      detail.line(0, name(row), List.of(module));
      return;
    }
    detail.line(0, name(row), List.of());
    String from = module.isEmpty() ? kind(function.kind()) : module;
    if (!scene.hasStates()) {
      Measure measure = scene.snapshot.measure();
      String amounts =
          measure.text(row.self()) + " itself, " + measure.figure(row.total()) + " in all";
      detail.line(1, from, List.of(figures(scene, row), amounts));
      return;
    }
    String cpus =
        worth(scene, row.selfByState())
            + " cpu itself, "
            + worth(scene, row.totalByState())
            + " in all";
    detail.line(1, from, List.of(figures(scene, row), states(row.totalByState()), cpus));
  }

  private static String figures(Scene scene, Row row) {
    long all = page(scene, TopReport.class).total();
    TopReport.Before before = row.before();
    String self = Units.share(row.self(), all);
    String total = Units.share(row.total(), all);
    if (before != null) {
      self = Comparison.shares(row.self(), before.self(), all);
      total = Comparison.shares(row.total(), before.total(), all);
    }
    String times = before == null ? "" : Comparison.times(row.total(), before.total());
    return "self " + self + ", total " + total + " of all" + times;
  }

  private static String states(long[] byState) {
    long whole = 0;
    for (long nanos : byState) {
      whole += nanos;
    }
    StringBuilder text = new StringBuilder();
    for (State state : STATES) {
      long percent = whole <= 0 ? 0 : Math.round(100.0 * byState[state.ordinal()] / whole);
      text.append(text.isEmpty() ? "" : "  ").append(state.label());
      text.append(' ').append(percent).append('%');
    }
    return text.toString();
  }

  private static String kind(NodeKind kind) {
    return switch (kind) {
      case KERNEL -> "kernel";
      case JIT -> "made at run time";
      case PYTHON -> "run by CPython";
      case PHP -> "run by PHP";
      case RUBY -> "run by Ruby";
      case REASON -> "what stands for the missing part of stacks";
      case IDLE -> "threads that wait for work";
      case UNKNOWN -> "without a name";
      default -> "no module";
    };
  }
}

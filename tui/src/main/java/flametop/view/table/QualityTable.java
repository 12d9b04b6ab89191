package flametop.view.table;

import flametop.profile.answer.QualityReport;
import flametop.profile.answer.QualityReport.Counts;
import flametop.profile.answer.QualityReport.Row;
import flametop.profile.answer.Shape;
import flametop.sampler.WalkEnd;
import flametop.view.base.Action;
import flametop.view.base.CellGrid;
import flametop.view.base.Paint;
import flametop.view.base.Units;
import flametop.view.base.View;
import flametop.view.keys.ShapeKeys;
import flametop.view.layout.Heading;
import flametop.view.layout.Scene;
import flametop.view.state.Step;
import flametop.view.state.ViewState;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * How good the samples are and what they cost: sums, then a row for each process, module or
 * runtime.
 */
public final class QualityTable extends Table<Row, String, Comparator<Row>> {
  /** The kinds of rows, in the order in which a key goes through them. */
  private enum RowKind {
    PROCESSES("process", "processes"),
    MODULES("module", "modules"),
    RUNTIMES("runtime", "runtimes");

    final String one;
    final String many;

    RowKind(String one, String many) {
      this.one = one;
      this.many = many;
    }
  }

  private static final RowKind[] ROWS = RowKind.values();

  private static final int PID = 7;
  private static final int REASON = 9;
  private static final int LIMIT = 10;
  private static final int NAME = 23;
  private static final int LONGEST_NAME = 36;
  private static final int LONGEST_MODULE = 64;
  private static final int RUNTIME = 15;
  private static final int NAMED = 7;
  private static final int LANGUAGE = 8;

  /** Share of short walks from which on their reasons stand out. */
  private static final double MANY = 0.1;

  /** The title of samples with a frame over the limit of names. */
  private static final String NAME_LIMIT = "name limit";

  /** The ends of short walks. */
  private static final List<WalkEnd> SHORT_ENDS =
      List.of(WalkEnd.values()).subList(1, WalkEnd.values().length);

  /** Reasons that are longer than a column. */
  private static final Map<WalkEnd, String> SHORT =
      Map.of(
          WalkEnd.OTHER_STACK, "other stk",
          WalkEnd.UNREADABLE, "no file",
          WalkEnd.NARROW, "32-bit",
          WalkEnd.ABSENT, "absent",
          WalkEnd.NO_UNWIND_INFO, "no unwind",
          WalkEnd.JIT, "jit no fp");

  private static final Comparator<Row> BY_PID = Comparator.comparingInt(Row::pid);
  private static final Comparator<Row> BY_NAME = Comparator.comparing(Row::name);
  private static final Comparator<Row> BY_SAMPLES = most(Counts::samples);
  private static final Comparator<Row> BY_SHORT = most(QualityTable::shortOnes);
  private static final Comparator<Row> BY_SHARE =
      Comparator.comparingDouble(row -> -(double) shortOnes(row.counts()) / row.counts().samples());
  private static final Comparator<Row> BY_GUESSED = most(Counts::guessed);
  private static final Comparator<Row> BY_LIMIT = most(Counts::nameLimited);
  private static final Comparator<Row> BY_NAMELESS = most(of -> of.samples() - of.named());
  private static final Comparator<Row> BY_OTHER_CODE = most(of -> of.samples() - of.inLanguage());

  /** The orders that a key goes through; some are of runtimes only. */
  private static final List<Comparator<Row>> ORDERS =
      List.of(
          BY_SAMPLES,
          BY_SHORT,
          BY_SHARE,
          BY_GUESSED,
          BY_NAMELESS,
          BY_OTHER_CODE,
          BY_LIMIT,
          BY_NAME);

  /** The only table of its kind: the orders that a state holds are its own. */
  public static final QualityTable TABLE = new QualityTable();

  private QualityTable() {
    super(View.QUALITY, "row", BY_SAMPLES);
    add(
        right("pid", only(RowKind.PROCESSES, PID), QualityTable::pid).by(BY_PID, "pid"),
        left(
                scene -> kind(scene.state).one,
                this::nameCells,
                (row, at) -> at.text(row.name(), at.fg, CellGrid.BOLD))
            .by(BY_NAME, "name"),
        right("samples", cells(8), (row, at) -> at.text(count(row.counts().samples())))
            .by(BY_SAMPLES, "samples")
            .meaning("samples", "stacks taken if changed"),
        right(scene -> isModules(scene) ? "beyond" : "whole", cells(7), QualityTable::whole)
            .by(BY_SHARE, "share of short ones")
            .alsoAt(BY_SHORT)
            .meaning("whole", "walked to a root"),
        share("guessed", cells(8), Counts::guessed)
            .by(BY_GUESSED, "guessed")
            .meaning("beyond", "walked beyond the module")
            .meaning("guessed", "have a frame not unwound"),
        share("named", only(RowKind.RUNTIMES, NAMED), Counts::named)
            .by(BY_NAMELESS, "nameless")
            .meaning(QualityTable::isRuntimes, "named", "each frame has a name"),
        share("language", only(RowKind.RUNTIMES, LANGUAGE), Counts::inLanguage)
            .by(BY_OTHER_CODE, "other code")
            .meaning(QualityTable::isRuntimes, "language", "have a function of it"));
    for (WalkEnd end : SHORT_ENDS) {
      add(
          reason(label(end), REASON, counts -> counts.of(end))
              .by(most(counts -> counts.of(end)), "short ones: " + end.reason()));
    }
    add(
        reason(NAME_LIMIT, LIMIT, Counts::nameLimited)
            .by(BY_LIMIT, NAME_LIMIT)
            .meaning(NAME_LIMIT, "has too much to name"),
        left(
                scene -> isModules(scene) ? " walks that ended in it" : " the rest",
                room -> isWide(room.scene()) ? 0 : room.left(),
                QualityTable::reasons)
            .by(BY_SHORT, "short ones")
            .meaning("the rest", "why a walk ended"));
  }

  private static Comparator<Row> most(ToLongFunction<Counts> of) {
    return Comparator.comparingLong(row -> -of.applyAsLong(row.counts()));
  }

  /** A column of shares of the samples. */
  private Column<Row, Comparator<Row>> share(
      String title, Column.Width width, ToLongFunction<Counts> of) {
    return right(
        title,
        width,
        (row, at) -> {
          long count = of.applyAsLong(row.counts());
          at.figure(count == 0 ? "·" : Units.share(count, row.counts().samples()), 0, "·");
        });
  }

  /** A column of samples that are short of something, where there is room for each. */
  private Column<Row, Comparator<Row>> reason(String title, int cells, ToLongFunction<Counts> of) {
    return right(
        title,
        either(cells, 0),
        (row, at) -> {
          long count = of.applyAsLong(row.counts());
          at.text(count == 0 ? "·" : count(count), count == 0 ? at.quiet : reasonPaint(row, at), 0);
        });
  }

  private static RowKind kind(ViewState s) {
    return ROWS[s.table(View.QUALITY).kind()];
  }

  private static boolean isModules(Scene scene) {
    return kind(scene.state) == RowKind.MODULES;
  }

  private static boolean isRuntimes(Scene scene) {
    return kind(scene.state) == RowKind.RUNTIMES;
  }

  /** So many cells beside rows of one kind. */
  private static Column.Width only(RowKind kind, int cells) {
    return room -> kind(room.scene().state) == kind ? cells : 0;
  }

  private static long shortOnes(Counts counts) {
    return counts.samples() - counts.whole();
  }

  private static String count(long n) {
    return QualitySums.count(n);
  }

  /** A reason in the width of a column. */
  private static String label(WalkEnd end) {
    return SHORT.getOrDefault(end, end.reason());
  }

  // Widths.

  @Override
  boolean isWide(Scene scene) {
    int name = isRuntimes(scene) ? RUNTIME + NAMED + LANGUAGE + 2 : NAME;
    return scene.columns >= name + 2 + most();
  }

  /** A name is not far from its figures: else they are read in the wrong row. */
  private int nameCells(Column.Room room) {
    if (isRuntimes(room.scene())) {
      return RUNTIME;
    }
    boolean modules = isModules(room.scene());
    int narrow = room.columns() < 60 ? NAME - 2 : NAME;
    int most = modules ? LONGEST_MODULE : LONGEST_NAME;
    int name = isWide(room.scene()) ? Math.min(room.columns() - 2 - most(), most) : narrow;
    return modules ? name : name - PID - 1;
  }

  // Cells.

  private static void pid(Row row, Spot at) {
    at.quiet(row.pid() == 0 ? "" : Integer.toString(row.pid()));
  }

  private static void whole(Row row, Spot at) {
    at.text(Units.share(row.counts().whole(), row.counts().samples()));
  }

  private static int reasonPaint(Row row, Spot at) {
    boolean many = shortOnes(row.counts()) >= MANY * row.counts().samples();
    return many && !at.marked ? Paint.WORSE : at.fg;
  }

  private record Reason(String label, long count) {}

  /** Reasons and their counts, the most frequent first. */
  private static void reasons(Row row, Spot at) {
    List<Reason> found = new ArrayList<>();
    for (WalkEnd end : SHORT_ENDS) {
      found.add(new Reason(label(end), row.counts().of(end)));
    }
    found.add(new Reason(NAME_LIMIT, row.counts().nameLimited()));
    found.removeIf(reason -> reason.count() <= 0);
    found.sort(Comparator.comparingLong(reason -> -reason.count()));
    StringBuilder text = new StringBuilder();
    for (Reason reason : found) {
      text.append(text.isEmpty() ? " " : ", ");
      text.append(reason.label()).append(' ').append(count(reason.count()));
    }
    at.text(text.toString(), reasonPaint(row, at), 0);
  }

  // Rows.

  @Override
  @Nullable List<Row> rows(Scene scene) {
    if (!(scene.page instanceof QualityReport report)) {
      return null;
    }
    ViewState s = scene.state;
    List<Row> rows = new ArrayList<>(rows(report, kind(s)));
    rows.sort(order(scene, s).thenComparing(BY_NAME).thenComparing(BY_PID));
    return rows;
  }

  private static List<Row> rows(QualityReport report, RowKind kind) {
    return switch (kind) {
      case PROCESSES -> report.processes();
      case MODULES -> report.modules();
      case RUNTIMES -> report.runtimes();
    };
  }

  @Override
  String key(Row row) {
    return row.pid() + "/" + row.name();
  }

  /** The order of a single reason is followed as that of all reasons is. */
  @Override
  Comparator<Row> nextOrder(Scene scene, ViewState s) {
    Comparator<Row> order = order(scene, s);
    List<Comparator<Row>> orders = new ArrayList<>(ORDERS);
    if (kind(s) != RowKind.RUNTIMES) {
      orders.removeAll(List.of(BY_NAMELESS, BY_OTHER_CODE));
    }
    boolean ofReason = order != BY_PID && !orders.contains(order);
    return orders.get((orders.indexOf(ofReason ? BY_SHORT : order) + 1) % orders.size());
  }

  @Override
  String thing(ViewState s) {
    return kind(s).one;
  }

  // What stands above the rows.

  @Override
  Heading heading(Scene scene) {
    return Heading.of(scene, 1 + QualitySums.rows(scene));
  }

  @Override
  void around(Scene scene, CellGrid grid, TableLayout<Row, Comparator<Row>> layout) {
    if (scene.page instanceof QualityReport report && QualitySums.rows(scene) > 0) {
      QualitySums.paint(scene, grid, report);
    }
  }

  @Override
  String title(Scene scene) {
    return kind(scene.state).many;
  }

  @Override
  String nothing(Scene scene) {
    return "no samples in this window; m";
  }

  // Verbs.

  @Override
  @Nullable Step acted(Scene scene, ViewState s, Action action) {
    if (action != Action.BY_MODULE) {
      return null;
    }
    ViewState next = with(s, place(s).withNextKind(ROWS.length));
    return Step.answer(next, "by " + kind(next).one);
  }

  /** Shows the graph of the process. */
  @Override
  Step enter(Scene scene, ViewState s) {
    Row row = row(scene, s);
    if (row == null) {
      return none(s);
    }
    if (row.pid() == 0) {
      RowKind kind = kind(s);
      return Step.answer(
          s,
          kind == RowKind.PROCESSES
              ? "no process"
              : "a " + kind.one + " is no filter; b lists other rows");
    }
    Shape.Filter filter = new Shape.Processes(Set.of(row.pid()), false);
    String text = "only pid " + row.pid() + " " + row.name() + ", its past too";
    return ShapeKeys.only(s, s.withView(View.GRAPH), filter, text);
  }

  @Override
  String copied(Row row) {
    return row.name();
  }
}

package flametop.view.table;

import flametop.profile.answer.CpuReport;
import flametop.profile.answer.CpuRow;
import flametop.profile.answer.Measure;
import flametop.profile.answer.Shape;
import flametop.view.base.Action;
import flametop.view.base.CellGrid;
import flametop.view.base.Paint;
import flametop.view.base.Units;
import flametop.view.base.View;
import flametop.view.layout.Scene;
import flametop.view.paint.CpuPanelPainter;
import flametop.view.state.ShownCpus;
import flametop.view.state.Step;
import flametop.view.state.ViewState;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/** A row for each CPU, below one for all of them or for those that are marked. */
public final class CpusTable extends Table<CpuRow, Integer, Comparator<CpuRow>> {
  private static final String ALL_CPUS = "no CPU marked: sum and graph are of all";
  private static final int LEAST_BAR = 12;
  private static final int LONGEST_BAR = 60;

  /** Cells behind a bar: the waiting tasks, and a space. */
  private static final int QUEUE = 2;

  private static final Comparator<CpuRow> BY_NUMBER = ShownCpus.most(row -> -row.cpu());
  private static final Comparator<CpuRow> BY_BUSY = ShownCpus.most(CpuRow::busy);

  /** The only table of its kind: the orders that a state holds are its own. */
  public static final CpusTable TABLE = new CpusTable();

  private CpusTable() {
    super(View.CPUS, "CPU", BY_NUMBER);
    add(
        left("CPU", cells(6), CpusTable::name).by(BY_NUMBER, "number"),
        right("busy", either(7, 6), CpusTable::busy).by(BY_BUSY, "busy"),
        left("", this::barCells, CpusTable::bar).like(BY_BUSY),
        share(title("user", "user"), either(7, 4), CpuRow::user, "user"),
        share(title("system", "sys"), either(7, 4), CpuRow::system, "system"),
        share(title("irq", "irq"), either(7, 4), CpuRow::irq, "interrupts"),
        share(title("softirq", "soft"), either(7, 4), CpuRow::softirq, "soft interrupts"),
        share(title("steal", "steal"), either(7, 5), CpuRow::steal, "stolen"),
        right("waiting", either(11, 10), (row, at) -> figure(waiting(row), at))
            .by(ShownCpus.most(CpuRow::waiting), "waiting")
            .meaning("waiting", "tasks, for this CPU"),
        count(title("wakes/s", "wakes"), either(8, 6), CpuRow::wakeups, "wake-ups"),
        count(title("own", "own"), either(6, 5), CpuRow::ownWakeups, "wake-ups by flametop")
            .meaning("own", "wakes by flametop's clock"),
        right(title("frequency", "freq"), either(10, 8), CpusTable::frequency)
            .by(ShownCpus.most(CpuRow::frequency), "frequency"),
        share(title("cycles", "cycles"), either(7, 6), CpuRow::utilisation, "cycles")
            .meaning("cycles", "run, of those that passed"));
  }

  /** A column of shares, with a title and a width for a wide screen and for a narrow one. */
  private Column<CpuRow, Comparator<CpuRow>> share(
      Function<Scene, String> title,
      Column.Width width,
      ToDoubleFunction<CpuRow> share,
      String order) {
    Column.Cell<CpuRow> cell =
        (row, at) -> {
          double value = share.applyAsDouble(row);
          boolean tenths = isWide(at.scene) || Double.isNaN(value);
          figure(tenths ? Units.percent(value) : Units.wholePercent(value), at);
        };
    return right(title, width, cell).by(ShownCpus.most(share), order);
  }

  /** The same of counts. */
  private Column<CpuRow, Comparator<CpuRow>> count(
      Function<Scene, String> title,
      Column.Width width,
      ToDoubleFunction<CpuRow> count,
      String order) {
    return right(title, width, (row, at) -> figure(number(count.applyAsDouble(row), at.width), at))
        .by(ShownCpus.most(count), order);
  }

  private Function<Scene, String> title(String wide, String narrow) {
    return scene -> isWide(scene) ? wide : narrow;
  }

  // Widths.

  @Override
  boolean isWide(Scene scene) {
    return scene.columns >= 2 + most() + LEAST_BAR;
  }

  private int barCells(Column.Room room) {
    return isWide(room.scene()) ? Math.min(LONGEST_BAR, room.columns() - 3 - most()) + QUEUE : 0;
  }

  // Cells.

  private static void name(CpuRow row, Spot at) {
    boolean narrows = at.scene.state.chosenShape().narrowsCpus();
    at.text(row.cpu() >= 0 ? "CPU" + row.cpu() : narrows ? "marked" : "all");
  }

  private static void busy(CpuRow row, Spot at) {
    at.figure(Units.percent(row.busy()), CellGrid.BOLD, "n/a", "0%", "0.0%");
  }

  private static void bar(CpuRow row, Spot at) {
    int bar = at.width - QUEUE;
    CpuPanelPainter.use(at.scene.options, at.grid, at.x, at.y, bar, row, at.trough());
    CpuPanelPainter.queue(at.grid, at.x + bar, at.y, row, at.bg);
  }

  private static String waiting(CpuRow row) {
    return Double.isNaN(row.waiting()) ? "n/a" : CpuPanelPainter.waiting(row.waiting()).trim();
  }

  private static void frequency(CpuRow row, Spot at) {
    figure(CpuPanelPainter.frequency(row.frequency()), at);
  }

  private static void figure(String text, Spot at) {
    at.figure(text, 0, "n/a", "0%", "0.0%");
  }

  /** A count, in thousands where it would not fit: the sum of hundreds of CPUs. */
  private static String number(double n, int room) {
    String text = Double.isNaN(n) ? "n/a" : Measure.grouped(Math.round(n));
    return text.length() <= room ? text : Math.round(n / 1000) + "k";
  }

  // Rows.

  @Override
  @Nullable List<CpuRow> rows(Scene scene) {
    if (!(scene.page instanceof CpuReport report)) {
      return null;
    }
    List<CpuRow> rows = new ArrayList<>(report.cpus());
    rows.sort(order(scene, scene.state));
    return rows;
  }

  @Override
  Integer key(CpuRow row) {
    return row.cpu();
  }

  @Override
  boolean isStrong(CpuRow row) {
    return row.cpu() < 0;
  }

  // What stands above the rows.

  @Override
  List<String> missing(Scene scene) {
    List<String> missing = new ArrayList<>();
    if (scene.rows < 16 || !(scene.page instanceof CpuReport report)) {
      return missing;
    }
    if (!report.noFrequency().isEmpty()) {
      missing.add(report.noFrequency());
    }
    if (!report.noCycles().isEmpty()) {
      missing.add(report.noCycles());
    } else if (!report.noFrequency().isEmpty()) {
      missing.add("no share of cycles: it needs the frequency");
    }
    return missing;
  }

  @Override
  String title(Scene scene) {
    int cpus = scene.page instanceof CpuReport report ? report.cpus().size() : 0;
    return cpus == 0 ? "CPUs" : cpus == 1 ? "1 CPU" : cpus + " CPUs";
  }

  @Override
  String subtitle(Scene scene) {
    return super.subtitle(scene) + ", of about a second";
  }

  @Override
  String waiting() {
    return "measuring…";
  }

  /** The colours of the bars. */
  @Override
  void legend(Scene scene, CellGrid grid, int y, int x) {
    if (isWide(scene)) {
      CpuPanelPainter.legend(scene, grid, y, x + 1);
    }
  }

  @Override
  int rowsBelowHeads() {
    return 1;
  }

  @Override
  void paintHeads(Scene scene, CellGrid grid, TableLayout<CpuRow, Comparator<CpuRow>> layout) {
    super.paintHeads(scene, grid, layout);
    CpuRow sum = ShownCpus.sum(page(scene, CpuReport.class), scene.state.chosenShape());
    paintRow(scene, grid, layout, sum, layout.head() + 1, false, false);
  }

  @Override
  void paintRow(
      Scene scene,
      CellGrid grid,
      TableLayout<CpuRow, Comparator<CpuRow>> layout,
      int index,
      int y) {
    super.paintRow(scene, grid, layout, index, y);
    if (ShownCpus.isMarked(scene.state.chosenShape(), layout.rows().get(index).cpu())) {
      int bg = index == layout.marked() ? Paint.SELECTED_ROW : Paint.GROUND;
      grid.put(0, y, '●', Paint.ACCENT, bg, CellGrid.BOLD);
    }
  }

  // Verbs.

  @Override
  @Nullable Step acted(Scene scene, ViewState s, Action action) {
    return switch (action) {
      case MARK -> enter(scene, s);
      case BACK -> marked(scene, s).isEmpty() ? null : Step.answer(marking(s, Set.of()), ALL_CPUS);
      default -> null;
    };
  }

  /** Marks the selected CPU, or takes its mark away. */
  @Override
  Step enter(Scene scene, ViewState s) {
    CpuRow row = row(scene, s);
    if (row == null) {
      return Step.answer(s, "nothing to mark yet");
    }
    Set<Integer> marked = marked(scene, s);
    if (!marked.remove(row.cpu())) {
      marked.add(row.cpu());
    }
    int n = marked.size();
    String text = n + (n == 1 ? " CPU" : " CPUs") + " marked: sum and graph are of what ran there";
    ViewState selected = with(s, place(s).withMarked(row.cpu(), place(s).place()));
    return Step.answer(marking(selected, marked), n == 0 ? ALL_CPUS : text);
  }

  /** Numbers of the marked CPUs. */
  private Set<Integer> marked(Scene scene, ViewState s) {
    Set<Integer> marked = new TreeSet<>();
    List<CpuRow> rows = rows(scene);
    for (CpuRow row : rows == null ? List.<CpuRow>of() : rows) {
      if (ShownCpus.isMarked(s.chosenShape(), row.cpu())) {
        marked.add(row.cpu());
      }
    }
    return marked;
  }

  /** Narrows the graph to the time on these CPUs; the graph is of everything if there are none. */
  private static ViewState marking(ViewState s, Set<Integer> cpus) {
    return s.withShape(
        cpus.isEmpty()
            ? s.chosenShape().without(Shape.Cpus.class)
            : s.chosenShape().with(new Shape.Cpus(Set.copyOf(cpus), false)));
  }
}

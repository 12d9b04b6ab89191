package flametop.view;

import flametop.profile.answer.CpuReport;
import flametop.profile.answer.CpuRow;
import flametop.profile.answer.PageQuery;
import flametop.profile.answer.Shape;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** What the keys do in the view of the CPUs. */
final class CpusKeys extends TableKeys<CpuRow, CpuTable.Sort> {
  private static final String ALL_CPUS = "no CPU marked: sum and graph are of all";

  private static final Action[] ACTIONS = {
    Action.MARK, Action.BACK, Action.SORT,
  };

  private static final Action[] KEY_LINE = {
    Action.MARK,
    Action.SORT,
    Action.BACK,
    Action.FREEZE,
    Action.NEXT_VIEW,
    Action.HELP,
    Action.REFRESH,
    Action.QUIT,
  };

  CpusKeys() {
    super(ACTIONS, KEY_LINE);
  }

  @Override
  public PageQuery page(ViewState s, int columns) {
    return new CpuReport.Query();
  }

  @Override
  Keys.Step acted(Scene scene, ViewState s, Action action) {
    return switch (action) {
      case MARK -> enter(scene, s);
      case BACK ->
          marked(scene, s).isEmpty()
              ? Keys.Step.to(s.withView(View.GRAPH))
              : Keys.Step.to(marking(s, Set.of()).withMessage(ALL_CPUS, false));
      case SORT -> sorted(scene, s);
      default -> null;
    };
  }

  /** Marks the selected, or takes its mark away. */
  @Override
  Keys.Step enter(Scene scene, ViewState s) {
    List<CpuRow> rows = rows(scene, s);
    if (rows.isEmpty()) {
      return Keys.Step.to(s.withMessage("nothing to mark yet", false));
    }
    int cpu = rows.get(s.cpus().index(rows)).cpu();
    Set<Integer> marked = marked(scene, s);
    if (!marked.remove(cpu)) {
      marked.add(cpu);
    }
    int n = marked.size();
    String text =
        n == 0
            ? ALL_CPUS
            : n + (n == 1 ? " CPU" : " CPUs") + " marked: sum and graph are of what ran there";
    return Keys.Step.to(
        marking(s.withCpus(s.cpus().withSelected(cpu)), marked).withMessage(text, false));
  }

  /** Numbers of the marked CPUs. */
  private Set<Integer> marked(Scene scene, ViewState s) {
    Set<Integer> marked = new TreeSet<>();
    for (CpuRow row : rows(scene, s)) {
      if (CpuTable.isMarked(s.chosenShape(), row.cpu())) {
        marked.add(row.cpu());
      }
    }
    return marked;
  }

  /** The graph is of what ran on these CPUs; of everything if there are none. */
  private static ViewState marking(ViewState s, Set<Integer> cpus) {
    return s.withShape(
        cpus.isEmpty()
            ? s.chosenShape().without(Shape.Cpus.class)
            : s.chosenShape().with(new Shape.Cpus(Set.copyOf(cpus), false)));
  }

  @Override
  CpuTable.Sort nextOrder(Scene scene, ViewState s) {
    return s.cpus().sort().next();
  }

  @Override
  CpuTable.Sort orderAt(Scene scene, int x) {
    return CpusPainter.orderAt(scene, x);
  }

  @Override
  String label(CpuTable.Sort order) {
    return order.label();
  }

  @Override
  ViewState ordered(ViewState s, CpuTable.Sort order) {
    return s.withCpus(s.cpus().by(order));
  }

  @Override
  List<CpuRow> rows(Scene scene, ViewState s) {
    return scene.page instanceof CpuReport report ? s.cpus().rows(report) : List.of();
  }

  @Override
  int marked(ViewState s, List<CpuRow> rows) {
    return s.cpus().index(rows);
  }

  @Override
  ViewState withMarked(ViewState s, CpuRow row, int place) {
    return s.withCpus(s.cpus().withSelected(row.cpu()));
  }

  @Override
  int room(Scene scene) {
    return CpusPainter.room(scene);
  }

  @Override
  int crumbRow(Scene scene) {
    return CpusPainter.heading(scene).crumb;
  }

  @Override
  boolean isHead(Scene scene, int y) {
    return CpusPainter.isHead(scene, y);
  }

  @Override
  int rowAt(Scene scene, ViewState s, List<CpuRow> rows, int y) {
    return CpusPainter.rowAt(scene, rows, y);
  }
}

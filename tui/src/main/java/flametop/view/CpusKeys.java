package flametop.view;

import flametop.profile.CpuReport;
import flametop.profile.CpuRow;
import flametop.profile.PageQuery;
import flametop.profile.Shape;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** What the keys do in the view of the CPUs. */
final class CpusKeys implements ViewKeys {
  private static final String ALL_CPUS = "no CPU marked: sum and graph are of all";

  private static final Action[] ACTIONS = {
    Action.DOWN,
    Action.UP,
    Action.PAGE_UP,
    Action.PAGE_DOWN,
    Action.FIRST,
    Action.LAST,
    Action.MARK,
    Action.BACK,
    Action.SORT,
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

  @Override
  public Action[] actions() {
    return ACTIONS;
  }

  @Override
  public Action[] keyLine(ViewState s) {
    return KEY_LINE;
  }

  @Override
  public PageQuery page(ViewState s, int columns) {
    return new CpuReport.Query();
  }

  @Override
  public Keys.Step act(Scene scene, ViewState s, Action action) {
    int by = Rows.by(action, CpusPainter.room(scene));
    if (by != 0) {
      return move(scene, s, by);
    }
    return switch (action) {
      case MARK -> mark(scene, s);
      case BACK ->
          marked(scene, s).isEmpty()
              ? Keys.Step.to(s.withView(View.GRAPH))
              : Keys.Step.to(marking(s, Set.of()).withMessage(ALL_CPUS, false));
      case SORT -> {
        CpuTable sorted = s.cpus().resorted();
        yield Keys.Step.to(
            s.withCpus(sorted).withMessage("first by " + sorted.sort().label(), false));
      }
      default -> null;
    };
  }

  @Override
  public Keys.Step mouse(Scene scene, ViewState s, Mouse mouse) {
    if (mouse.wheel() != 0) {
      return move(scene, s, mouse.wheel());
    }
    if (!mouse.isPress()) {
      return null;
    }
    if (CpusPainter.isHead(scene, mouse.y())) {
      return act(scene, s, Action.SORT);
    }
    List<CpuRow> rows = rows(scene, s);
    int row = CpusPainter.rowAt(scene, rows, mouse.y());
    if (row < 0) {
      return null;
    }
    ViewState selected = s.withCpus(s.cpus().withSelected(rows.get(row).cpu()));
    return mouse.kind() == Mouse.Kind.DOUBLE ? mark(scene, selected) : Keys.Step.to(selected);
  }

  private static Keys.Step move(Scene scene, ViewState s, int by) {
    List<CpuRow> rows = rows(scene, s);
    if (rows.isEmpty()) {
      return Keys.Step.to(s.withMessage("nothing to move in yet", false));
    }
    int at = s.cpus().index(rows);
    int to = Rows.moved(at, by, rows.size() - 1);
    if (to == at) {
      return Rows.end(s, by);
    }
    return Keys.Step.to(s.withCpus(s.cpus().withSelected(rows.get(to).cpu())));
  }

  private static Keys.Step mark(Scene scene, ViewState s) {
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
  private static Set<Integer> marked(Scene scene, ViewState s) {
    Set<Integer> marked = new TreeSet<>();
    for (CpuRow row : rows(scene, s)) {
      if (CpuTable.isMarked(s.filter(), row.cpu())) {
        marked.add(row.cpu());
      }
    }
    return marked;
  }

  /** The graph is of what ran on these CPUs; of everything if there are none. */
  private static ViewState marking(ViewState s, Set<Integer> cpus) {
    return s.withShape(
        cpus.isEmpty()
            ? s.filter().without(Shape.Cpus.class)
            : s.filter().with(new Shape.Cpus(Set.copyOf(cpus), false)));
  }

  private static List<CpuRow> rows(Scene scene, ViewState s) {
    return scene.page instanceof CpuReport report ? s.cpus().rows(report) : List.of();
  }
}

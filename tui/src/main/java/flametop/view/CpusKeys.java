package flametop.view;

import flametop.profile.CpuReport;
import flametop.profile.CpuRow;
import flametop.profile.PageQuery;
import java.util.List;

/** What the keys do in the view of the CPUs. */
final class CpusKeys implements ViewKeys {
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
          s.cpus().marked().isEmpty()
              ? Keys.Step.to(s.withView(View.GRAPH))
              : Keys.Step.to(s.withCpus(s.cpus().unmarked()).withMessage("no CPU marked", false));
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
    CpuTable turned = s.cpus().turned(cpu).withSelected(cpu);
    int n = turned.marked().size();
    String text =
        n == 0 ? "no CPU marked" : n + (n == 1 ? " CPU" : " CPUs") + " marked: the sum is of them";
    return Keys.Step.to(s.withCpus(turned).withMessage(text, false));
  }

  private static List<CpuRow> rows(Scene scene, ViewState s) {
    return scene.page instanceof CpuReport report ? s.cpus().rows(report) : List.of();
  }
}

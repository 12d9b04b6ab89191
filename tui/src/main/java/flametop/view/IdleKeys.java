package flametop.view;

import flametop.profile.answer.CpuReport;
import flametop.profile.answer.PageQuery;

/** What the keys do in the view of the idle states. */
final class IdleKeys implements ViewKeys {
  private static final Action[] ACTIONS = Rows.moves(Action.BACK);

  private static final Action[] KEY_LINE = {
    Action.BACK,
    Action.FREEZE,
    Action.NEXT_VIEW,
    Action.HELP,
    Action.SLOWER_CLOCK,
    Action.FASTER_CLOCK,
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
    int by = Rows.by(action, IdlePainter.room(scene));
    if (by != 0) {
      return scroll(scene, s, by);
    }
    return action == Action.BACK ? Keys.Step.to(s.withView(View.GRAPH)) : null;
  }

  @Override
  public Keys.Step mouse(Scene scene, ViewState s, Mouse mouse) {
    if (mouse.wheel() != 0) {
      return scroll(scene, s, mouse.wheel());
    }
    if (!mouse.isPress()) {
      return null;
    }
    return mouse.y() == IdlePainter.heading(scene).crumb
        ? ShapeKeys.crumbAt(scene, s, mouse.x())
        : Keys.Step.to(s.withMessage("nothing to mark here; the wheel scrolls", false));
  }

  private static Keys.Step scroll(Scene scene, ViewState s, int by) {
    int at = IdlePainter.top(scene);
    int to = Rows.moved(at, by, IdlePainter.lowestTop(scene));
    if (to == at) {
      return Rows.end(s, by);
    }
    return Keys.Step.to(s.withCpus(s.cpus().withIdleTop(to)));
  }
}

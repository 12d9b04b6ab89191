package flametop.view;

import flametop.profile.CpuReport;
import flametop.profile.PageQuery;

/** What the keys do in the view of the idle states. */
final class IdleKeys implements ViewKeys {
  private static final Action[] ACTIONS = {
    Action.DOWN,
    Action.UP,
    Action.PAGE_UP,
    Action.PAGE_DOWN,
    Action.FIRST,
    Action.LAST,
    Action.BACK,
  };

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
  public PageQuery page(ViewState s) {
    return new CpuReport.Query();
  }

  @Override
  public Keys.Step act(Scene scene, ViewState s, Action action) {
    return switch (action) {
      case UP -> scroll(scene, s, -1);
      case DOWN -> scroll(scene, s, 1);
      case PAGE_UP -> scroll(scene, s, -IdlePainter.room(scene));
      case PAGE_DOWN -> scroll(scene, s, IdlePainter.room(scene));
      case FIRST -> scroll(scene, s, -Short.MAX_VALUE);
      case LAST -> scroll(scene, s, Short.MAX_VALUE);
      case BACK -> Keys.Step.to(s.withView(View.GRAPH));
      default -> null;
    };
  }

  @Override
  public Keys.Step mouse(Scene scene, ViewState s, Mouse mouse) {
    return mouse.wheel() == 0 ? null : scroll(scene, s, mouse.wheel());
  }

  private static Keys.Step scroll(Scene scene, ViewState s, int by) {
    int at = IdlePainter.top(scene);
    int to = Math.max(0, Math.min(IdlePainter.lowestTop(scene), at + by));
    if (to == at) {
      return Keys.Step.to(s.withMessage(by < 0 ? "already at the top" : "nothing below", false));
    }
    return Keys.Step.to(s.withCpus(s.cpus().withIdleTop(to)));
  }
}

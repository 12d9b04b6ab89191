package flametop.view.keys;

import flametop.view.base.Action;
import flametop.view.base.Mouse;
import flametop.view.base.View;
import flametop.view.layout.IdleLayout;
import flametop.view.layout.Scene;
import flametop.view.state.Rows;
import flametop.view.state.Step;
import flametop.view.state.ViewState;

/** What the keys do in the view of the idle states. */
public final class IdleKeys implements ViewKeys {
  @Override
  public Step act(Scene scene, ViewState s, Action action) {
    int by = Rows.by(action, IdleLayout.of(scene).table().room());
    if (by != 0) {
      return scroll(scene, s, by);
    }
    return action == Action.BACK ? Step.to(s.withView(View.GRAPH)) : null;
  }

  @Override
  public Step mouse(Scene scene, ViewState s, Mouse mouse) {
    if (mouse.wheel() != 0) {
      return scroll(scene, s, mouse.wheel());
    }
    if (!mouse.isPress()) {
      return null;
    }
    return mouse.y() == IdleLayout.of(scene).table().heading().crumb
        ? ShapeKeys.crumbAt(scene, s, mouse.x(), mouse.y())
        : Step.to(s.withMessage("nothing to mark here; the wheel scrolls", false));
  }

  private static Step scroll(Scene scene, ViewState s, int by) {
    IdleLayout layout = IdleLayout.of(scene);
    int at = layout.top();
    int to = Rows.moved(at, by, layout.lowestTop());
    if (to == at) {
      return Rows.end(s, by);
    }
    return Step.to(s.withCpus(s.cpus().withIdleTop(to)));
  }
}

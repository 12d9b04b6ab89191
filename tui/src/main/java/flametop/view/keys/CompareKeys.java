package flametop.view.keys;

import flametop.profile.answer.Snapshot;
import flametop.view.base.Action;
import flametop.view.base.Units;
import flametop.view.layout.Scene;
import flametop.view.state.Effect;
import flametop.view.state.Step;
import flametop.view.state.TimeChoice;
import flametop.view.state.ViewState;

/** The keys of comparison: hold a baseline, release it. */
public final class CompareKeys {
  private CompareKeys() {}

  /** Holds the shown time as the baseline, or releases the baseline. */
  public static Step act(Scene scene, ViewState s, Action action) {
    Snapshot snapshot = scene.snapshot;
    if (action == Action.COMPARE_END) {
      // A compared picture may still be on its way.
      String text = scene.baseline().isPresent() ? "the comparison is over" : "nothing is compared";
      return Step.to(s.withMessage(text), new Effect.ReleaseBaseline());
    }
    if (snapshot == null || snapshot.live().time().nanos() <= 0) {
      return Step.answer(s, "nothing to compare with yet");
    }
    if (s.time().range() != null) {
      return Step.to(
          s.withTime(TimeChoice.NONE)
              .withMessage(CommonKeys.lately(s) + ", compared with that range"),
          new Effect.HoldBaseline(),
          new Effect.EndRange());
    }
    String what = "these " + Units.near(snapshot.live().time().nanos());
    return Step.to(s.withMessage("compared from now on with " + what), new Effect.HoldBaseline());
  }
}

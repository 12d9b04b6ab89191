package flametop.view.keys;

import flametop.profile.answer.Snapshot;
import flametop.view.base.Action;
import flametop.view.base.Units;
import flametop.view.layout.Scene;
import flametop.view.state.Step;
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
      return Step.answer(s.withMoment(s.moment().comparedNoMore()), text);
    }
    if (snapshot.isOpening() || snapshot.live().time().nanos() <= 0) {
      return Step.answer(s, "nothing to compare with yet");
    }
    ViewState compared = s.withMoment(s.moment().compared());
    if (s.moment().range().isPresent()) {
      return Step.answer(
          TimeKeys.withoutRange(compared),
          CommonKeys.lately(scene, s) + ", compared with that range");
    }
    String what = "these " + Units.near(snapshot.live().time().nanos());
    return Step.answer(compared, "compared from now on with " + what);
  }
}

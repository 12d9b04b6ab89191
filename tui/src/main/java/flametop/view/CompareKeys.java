package flametop.view;

import flametop.profile.answer.Snapshot;

/** What the keys do that compare the present with what was. */
final class CompareKeys {
  private CompareKeys() {}

  /** Whether the picture is compared with one that was held. */
  static boolean comparing(Scene scene) {
    return scene.snapshot != null && scene.snapshot.baseline() != null;
  }

  static Keys.Step act(Scene scene, ViewState s, Action action) {
    Snapshot snapshot = scene.snapshot;
    if (action == Action.COMPARE_END) {
      // What is compared may be on its way here still.
      String text = comparing(scene) ? "compared no more" : "nothing is compared";
      return Keys.Step.to(s.withMessage(text, false), new Effect.ReleaseBaseline());
    }
    if (snapshot == null || snapshot.windowNanos() <= 0) {
      return Keys.Step.to(s.withMessage("nothing to compare with yet", false));
    }
    if (s.time().range() != null) {
      return Keys.Step.to(
          s.withTime(TimeChoice.NONE)
              .withMessage(Keys.lately(s) + ", compared with that range", false),
          new Effect.HoldBaseline(),
          new Effect.EndRange());
    }
    String what = "these " + Units.near(snapshot.windowNanos());
    return Keys.Step.to(
        s.withMessage("what comes is compared with " + what, false), new Effect.HoldBaseline());
  }
}

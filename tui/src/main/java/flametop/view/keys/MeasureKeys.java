package flametop.view.keys;

import flametop.profile.answer.EventsReport;
import flametop.profile.answer.LiveSource;
import flametop.view.layout.Scene;
import flametop.view.state.Effect;
import flametop.view.state.Step;
import flametop.view.state.ViewState;

/** The choice of the measure that is shown: the time of tasks, or a source of events. */
public final class MeasureKeys {
  private MeasureKeys() {}

  /** Shows the next measure in the same view. */
  static Step next(Scene scene, ViewState s) {
    if (scene.snapshot.isOpening()) {
      return Step.answer(s, "not yet: sampling is still being opened");
    }
    EventsReport events = scene.snapshot.live().events();
    int next = events.after();
    EventsReport.Row row = events.of(next);
    if (next == events.shown()) {
      for (EventsReport.Row opening : events.rows()) {
        if (opening.attaching()) {
          return Step.answer(s, "not yet: " + opening.spec() + " is still being attached");
        }
      }
      return Step.answer(s, "time is the only measure; 9 adds sources of events");
    }
    return row == null ? shown(s, LiveSource.TIME, "the time of tasks") : shown(s, row);
  }

  /** Shows the measure of a row, or time. */
  public static Step shown(ViewState s, EventsReport.Row row) {
    return shown(s, row.number(), row.spec());
  }

  private static Step shown(ViewState s, int number, String spec) {
    ViewState next =
        s.atRoot()
            .withMoment(s.moment().comparedNoMore())
            .ofEvents(number != LiveSource.TIME)
            .withMessage("shows " + spec);
    return Step.to(next, new Effect.ShowMeasure(number));
  }
}

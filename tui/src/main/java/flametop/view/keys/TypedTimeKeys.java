package flametop.view.keys;

import flametop.profile.answer.Snapshot;
import flametop.profile.answer.TimeRange;
import flametop.view.base.Key;
import flametop.view.base.Prompt;
import flametop.view.base.Units;
import flametop.view.layout.Scene;
import flametop.view.layout.TimeStrip;
import flametop.view.state.Step;
import flametop.view.state.TimeText;
import flametop.view.state.ViewState;
import java.time.ZoneId;

/** The keys while a time is typed to go to. */
public final class TypedTimeKeys {
  private TypedTimeKeys() {}

  /** Opens the prompt. */
  static Step begun(Scene scene, ViewState s) {
    return TimeStrip.of(scene) == null
        ? Step.answer(s, "no room for a strip of time")
        : typed(s, Prompt.EMPTY);
  }

  public static Step typed(ViewState s, Prompt prompt) {
    return Step.to(s.withTime(s.time().withTyped(prompt)));
  }

  public static Step press(Scene scene, ViewState s, Prompt prompt, Key key) {
    return switch (key.kind()) {
      case ENTER -> prompt.isEmpty() ? closed(s) : go(scene, s, prompt.text());
      case ESCAPE -> closed(s);
      default ->
          key.kind() == Key.Kind.BACKSPACE && prompt.isEmpty()
              ? closed(s)
              : PromptKeys.edited(s, prompt, key, line -> typed(s, line));
    };
  }

  private static Step closed(ViewState s) {
    return Step.to(s.withTime(s.time().withTyped(null)));
  }

  private static Step go(Scene scene, ViewState s, String text) {
    if (scene.snapshot.isOpening()) {
      return Step.answer(s, "no time has passed yet");
    }
    Snapshot.Live live = scene.snapshot.live();
    long now = live.host().time();
    TimeRange wanted =
        TimeText.read(text, now, live.time().past().wallNanos(), ZoneId.systemDefault());
    if (wanted == null) {
      return Step.answer(s, "'" + text + "' is no time; 14:03, 14:03:20, -3m, 14:03-14:05 are");
    }
    long begin = now - live.time().runNanos();
    if (wanted.to() <= begin) {
      String since = Units.span(live.time().runNanos());
      return Step.answer(s, "flametop has looked for " + since + " only; that is before");
    }
    return Step.to(
        s.withTime(s.time().withCursor(wanted.from())).withMoment(s.moment().withRange(wanted)));
  }
}

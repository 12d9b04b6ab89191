package flametop.view.state;

import flametop.profile.answer.TimeRange;
import flametop.view.base.Prompt;
import org.jspecify.annotations.Nullable;

/**
 * Where the user is on the strip of time. Immutable.
 *
 * @param on whether keys move the cursor
 * @param cursor ns, CLOCK_MONOTONIC
 * @param dragged the time at which a drag of the mouse began; null without a drag
 * @param typed the time to go to, while it is being typed; null else
 * @param heat whether the strip is a heat map
 */
public record TimeChoice(
    boolean on, long cursor, @Nullable TimeRange dragged, @Nullable Prompt typed, boolean heat) {
  public static final TimeChoice NONE = new TimeChoice(false, 0, null, null, false);

  /** The same without cursor, drag and prompt. */
  public TimeChoice withoutCursor() {
    return new TimeChoice(false, 0, null, null, heat);
  }

  /** The same with a strip that is a heat map, or is none. */
  public TimeChoice withHeat(boolean value) {
    return new TimeChoice(on, cursor, null, typed, value);
  }

  public TimeChoice withOn(boolean value) {
    return new TimeChoice(value, cursor, null, null, heat);
  }

  public TimeChoice withCursor(long value) {
    return new TimeChoice(true, value, null, null, heat);
  }

  public TimeChoice withDragged(@Nullable TimeRange value) {
    return new TimeChoice(on, cursor, value, null, heat);
  }

  public TimeChoice withTyped(@Nullable Prompt value) {
    return new TimeChoice(on, cursor, null, value, heat);
  }
}

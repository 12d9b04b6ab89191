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
 */
public record TimeChoice(
    boolean on, long cursor, @Nullable TimeRange dragged, @Nullable Prompt typed) {
  public static final TimeChoice NONE = new TimeChoice(false, 0, null, null);

  public TimeChoice withOn(boolean value) {
    return new TimeChoice(value, cursor, null, null);
  }

  public TimeChoice withCursor(long value) {
    return new TimeChoice(true, value, null, null);
  }

  public TimeChoice withDragged(@Nullable TimeRange value) {
    return new TimeChoice(on, cursor, value, null);
  }

  public TimeChoice withTyped(@Nullable Prompt value) {
    return new TimeChoice(on, cursor, null, value);
  }
}

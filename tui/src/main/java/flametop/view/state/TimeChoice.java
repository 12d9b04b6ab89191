package flametop.view.state;

import flametop.profile.answer.TimeRange;
import org.jspecify.annotations.Nullable;

/**
 * Where the user is on the strip of time. Immutable.
 *
 * @param on whether keys move the cursor
 * @param cursor ns, CLOCK_MONOTONIC
 * @param dragged the time at which a drag of the mouse began; null without a drag
 */
public record TimeChoice(boolean on, long cursor, @Nullable TimeRange dragged) {
  public static final TimeChoice NONE = new TimeChoice(false, 0, null);

  public TimeChoice withOn(boolean value) {
    return new TimeChoice(value, cursor, null);
  }

  public TimeChoice withCursor(long value) {
    return new TimeChoice(true, value, null);
  }

  public TimeChoice withDragged(@Nullable TimeRange value) {
    return new TimeChoice(on, cursor, value);
  }
}

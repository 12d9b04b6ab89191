package flametop.view.state;

import flametop.profile.answer.TimeRange;

/**
 * The choice on the strip of time. Immutable.
 *
 * @param on whether keys move the cursor
 * @param cursor ns, CLOCK_MONOTONIC
 * @param range null for none
 * @param dragged the time at which a drag of the mouse began; null without a drag
 */
public record TimeChoice(boolean on, long cursor, TimeRange range, TimeRange dragged) {
  public static final TimeChoice NONE = new TimeChoice(false, 0, null, null);

  public TimeChoice withOn(boolean value) {
    return new TimeChoice(value, cursor, range, null);
  }

  public TimeChoice withCursor(long value) {
    return new TimeChoice(true, value, range, null);
  }

  public TimeChoice withRange(TimeRange value) {
    return new TimeChoice(on, cursor, value, dragged);
  }

  public TimeChoice withDragged(TimeRange value) {
    return new TimeChoice(on, cursor, range, value);
  }
}

package flametop.view.state;

import flametop.profile.answer.TimeRange;

/**
 * What is chosen on the strip of time. Immutable.
 *
 * @param on the keys move the cursor
 * @param cursor ns, CLOCK_MONOTONIC
 * @param range null if none is
 * @param dragged the time where a drag of the mouse began; null if there is none
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

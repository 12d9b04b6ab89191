package flametop.view;

/**
 * What is chosen on the strip of time. Immutable.
 *
 * @param on the keys move the cursor
 * @param cursor ns, CLOCK_MONOTONIC
 * @param range null if none is
 */
record TimeChoice(boolean on, long cursor, TimeRange range) {
  static final TimeChoice NONE = new TimeChoice(false, 0, null);

  TimeChoice withOn(boolean value) {
    return new TimeChoice(value, cursor, range);
  }

  TimeChoice withCursor(long value) {
    return new TimeChoice(true, value, range);
  }

  TimeChoice withRange(TimeRange value) {
    return new TimeChoice(on, cursor, value);
  }
}

package flametop.profile.format;

import java.util.HashMap;
import java.util.Map;
import java.util.function.ToIntFunction;

/** The numbers that a sink gave, by what they stand for, as long as there is room for more. */
final class Remembered<K> {
  private final int most;
  private final Map<K, Integer> numbers = new HashMap<>();

  /** Of what profiles name far less than there is room for. */
  Remembered() {
    this(1 << 22);
  }

  Remembered(int most) {
    this.most = most;
  }

  boolean isEmpty() {
    return numbers.isEmpty();
  }

  /** The number of a thing, which the sink is asked for if it is not known. */
  int of(K thing, ToIntFunction<K> made) {
    Integer known = numbers.get(thing);
    if (known != null) {
      return known;
    }
    int number = made.applyAsInt(thing);
    if (number != StackSink.NO_FRAME && numbers.size() < most) {
      numbers.put(thing, number);
    }
    return number;
  }
}

package flametop.profile.format;

import java.util.HashMap;
import java.util.Map;
import java.util.function.ToIntFunction;

/** The numbers that a sink gave, by what they stand for, as long as there is room for more. */
final class Remembered<K> {
  /** What profiles name is far less. */
  private static final int MOST = 1 << 22;

  private final Map<K, Integer> numbers = new HashMap<>();

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
    if (number != StackSink.NO_FRAME && numbers.size() < MOST) {
      numbers.put(thing, number);
    }
    return number;
  }
}

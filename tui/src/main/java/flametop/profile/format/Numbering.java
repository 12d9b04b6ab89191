package flametop.profile.format;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Numbers for things, from 0 on, in the order in which they come; equal things are one. */
public final class Numbering<T> {
  private final Map<T, Integer> numbers = new HashMap<>();
  private final List<T> all = new ArrayList<>();

  /** The number of a thing, a new one if it comes for the first time. */
  public int of(T thing) {
    Integer known = numbers.putIfAbsent(thing, all.size());
    if (known != null) {
      return known;
    }
    all.add(thing);
    return all.size() - 1;
  }

  public T get(int number) {
    return all.get(number);
  }

  public int size() {
    return all.size();
  }

  /** All things, by their numbers. */
  public List<T> all() {
    return Collections.unmodifiableList(all);
  }
}

package flametop.profile.log;

import flametop.array.IntColumn;
import java.util.function.IntConsumer;
import java.util.function.IntPredicate;

/**
 * The stacks that wait for the name of each frame: a linked list for each frame, in two columns.
 */
final class Waiters {
  private static final int NONE = -1;

  /** By frame: where its list begins. */
  private final IntColumn first = new IntColumn(NONE);

  private final IntColumn stack = new IntColumn();
  private final IntColumn next = new IntColumn();

  /** Where the list of free places begins. */
  private int free = NONE;

  void add(int frame, int waiting) {
    int place = free;
    if (place == NONE) {
      place = stack.size;
      stack.add(waiting);
      next.add(first.get(frame));
    } else {
      free = next.get(place);
      stack.set(place, waiting);
      next.set(place, first.get(frame));
    }
    first.set(frame, place);
  }

  /** Tells of all stacks that wait for a frame, and forgets them. */
  void take(int frame, IntConsumer waiting) {
    for (int place = first.get(frame); place != NONE; place = free(place)) {
      waiting.accept(stack.get(place));
    }
    first.set(frame, NONE);
  }

  /** Forgets the stacks that wait for a frame but those that are kept. */
  void keep(int frame, IntPredicate kept) {
    int before = NONE;
    for (int place = first.get(frame); place != NONE; ) {
      if (kept.test(stack.get(place))) {
        before = place;
        place = next.get(place);
      } else {
        place = free(place);
        if (before == NONE) {
          first.set(frame, place);
        } else {
          next.set(before, place);
        }
      }
    }
  }

  /** Frees a place; returns the place after it. */
  private int free(int place) {
    int after = next.get(place);
    next.set(place, free);
    free = place;
    return after;
  }
}

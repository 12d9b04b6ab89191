package flametop.profile.live;

import flametop.profile.log.Spot;
import flametop.profile.log.Sums;
import flametop.sampler.State;
import java.util.BitSet;
import java.util.function.IntConsumer;
import java.util.function.IntPredicate;

/**
 * The age of the entries of sleepers. An entry is <i>lasting</i> once two passes in a row have seen
 * one stay in it, so that some of its time is known without samples. An entry is <i>brief</i> if
 * its stays so far ended before: its threads go on with something, and are not idle. An entry whose
 * first stay goes on is neither.
 */
final class IdleEntries {
  private static final int SLEEP = Spot.of(State.SLEEP.ordinal());

  private final Sums sums;
  private final IntPredicate waits;
  private final BitSet lasting = new BitSet();
  private final BitSet brief = new BitSet();

  /** Entries that are not lasting and have changed since the last look. */
  private final BitSet changed = new BitSet();

  /**
   * @param sums of the entries, by {@link Spot#kind}
   * @param waits whether the stack of an entry waits for work
   */
  IdleEntries(Sums sums, IntPredicate waits) {
    this.sums = sums;
    this.waits = waits;
  }

  /** The head of the window passed a change of an entry. */
  void passed(int entry) {
    if (!lasting.get(entry)) {
      changed.set(entry);
    }
  }

  /** Tells whether the threads of an entry of sleep are idle. */
  boolean isIdle(int entry) {
    return !brief.get(entry) && waits.test(entry);
  }

  /**
   * Judges the entries that changed.
   *
   * @param now the time up to which stays are told at the head, ns
   * @param turned takes each entry that {@linkplain #isIdle is idle} now and was not, or was
   * @return whether there was any
   */
  boolean look(long now, IntConsumer turned) {
    boolean any = false;
    for (int entry = changed.nextSetBit(0); entry >= 0; entry = changed.nextSetBit(entry + 1)) {
      long known = sums.head(entry, SLEEP, now);
      boolean open = sums.head(entry, SLEEP, now + 1) != known;
      if (known <= 0 && open) {
        continue;
      }
      changed.clear(entry);
      lasting.set(entry, known > 0);
      if (brief.get(entry) != known <= 0) {
        brief.flip(entry);
        if (waits.test(entry)) {
          turned.accept(entry);
          any = true;
        }
      }
    }
    return any;
  }
}

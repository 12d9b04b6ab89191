package flametop.profile.tree;

import flametop.array.IntColumn;
import java.util.BitSet;
import java.util.List;
import java.util.function.IntConsumer;

/**
 * Where things of the stream are kept: one slot each. The stream gives an id anew once it has
 * forgotten it, but what has the id may be referred to for long: by the log, by a trie. So a slot
 * is free only when its id is forgotten and {@link #sweep} finds that nothing refers to it.
 */
public final class Slots {
  public static final int NONE = -1;

  /** Slots have so many bits; the things in so many slots would take gigabytes. */
  public static final int BITS = 24;

  /** Numbers above the slots stand for things without a slot. */
  private static final int MOST = (1 << BITS) - (1 << 10);

  private final IntColumn slotOf = new IntColumn(NONE);
  private final BitSet used = new BitSet();
  private final BitSet introduced = new BitSet();
  private int count;
  private long taken;

  /** All below are used. */
  private int search;

  /** A slot for the thing that has this id from now on. */
  public int introduce(int id) {
    forget(id);
    int slot = take();
    slotOf.set(id, slot);
    introduced.set(slot);
    return slot;
  }

  /** A slot for a thing without an id; kept only while something refers to the slot. */
  public int take() {
    int slot = used.nextClearBit(search);
    if (slot >= MOST) {
      throw new IllegalStateException("more than " + MOST + " things are kept");
    }
    search = slot + 1;
    used.set(slot);
    count = Math.max(count, slot + 1);
    taken++;
    return slot;
  }

  /** Keeps a thing in a slot of its list, or in the slot behind the last. */
  public static <T> void put(List<T> things, int slot, T thing) {
    if (slot == things.size()) {
      things.add(thing);
    } else {
      things.set(slot, thing);
    }
  }

  /** The slot of the thing with this id; {@link #NONE} if there is none. */
  public int of(int id) {
    return slotOf.get(id);
  }

  /** Nothing has this id any more. */
  public void forget(int id) {
    int slot = of(id);
    if (slot != NONE) {
      introduced.clear(slot);
      slotOf.items[id] = NONE;
    }
  }

  /** All slots are below. */
  public int count() {
    return count;
  }

  public boolean used(int slot) {
    return used.get(slot);
  }

  /** Whether what is kept there has an id. */
  public boolean introduced(int slot) {
    return introduced.get(slot);
  }

  /** How many are used. */
  public int size() {
    return used.cardinality();
  }

  /** How many were ever taken. */
  public long taken() {
    return taken;
  }

  /** Frees every slot without an id that is not kept, and tells of it. */
  public void sweep(BitSet kept, IntConsumer freed) {
    search = 0;
    for (int slot = used.nextSetBit(0); slot >= 0; slot = used.nextSetBit(slot + 1)) {
      if (!introduced.get(slot) && !kept.get(slot)) {
        used.clear(slot);
        freed.accept(slot);
      }
    }
  }
}

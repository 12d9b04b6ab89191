package flametop.profile.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.profile.answer.Shape;
import flametop.sampler.State;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PackingTest {
  private final Packing packing = new Packing();

  private static List<List<Object>> all(Entries entries) {
    List<List<Object>> all = new ArrayList<>();
    entries.deliver(
        0,
        entries.count,
        1,
        (owner, stack, spot, base, open, samples) ->
            all.add(List.of(owner, stack, spot, base, open, samples)));
    return all;
  }

  private byte[] packsTo(Entries entries) {
    byte[] packed = packing.pack(entries);
    Entries again = new Entries(1);
    // What was packed meanwhile leaves no trace.
    packing.pack(new Entries(1));
    packing.unpack(packed, again);
    assertEquals(all(entries), all(again));
    BitSet owners = new BitSet();
    BitSet stacks = new BitSet();
    packing.mark(packed, owners, stacks);
    BitSet ownersThere = new BitSet();
    BitSet stacksThere = new BitSet();
    for (int i = 0; i < entries.count; i++) {
      ownersThere.set(entries.owner[i]);
      if (entries.stack[i] >= 0) {
        stacksThere.set(entries.stack[i]);
      }
    }
    assertEquals(ownersThere, owners);
    assertEquals(stacksThere, stacks);
    return packed;
  }

  @Test
  void pack_nothing_isNothing() {
    packsTo(new Entries(1));
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void pack_anyEntries_areTheSameAgain(long seed) {
    Random random = new Random(seed);
    for (int round = 0; round < 50; round++) {
      Entries entries = new Entries(1);
      int count = random.nextInt(2_000);
      int slots = 1 + random.nextInt(1 << random.nextInt(23));
      for (int i = 0; i < count; i++) {
        entries.add(
            random.nextInt(slots),
            random.nextInt(slots) - Math.min(random.nextInt(slots), 40),
            random.nextInt(1 << (random.nextBoolean() ? 4 : 16)),
            random.nextInt(4) == 0 ? random.nextInt() : random.nextInt(3) - 1,
            random.nextLong() >> random.nextInt(64),
            random.nextLong() >> random.nextInt(64));
      }
      packsTo(entries);
    }
  }

  @Test
  void pack_extremeNumbers_areTheSameAgain() {
    Entries entries = new Entries(1);
    long[] extremes = {Long.MIN_VALUE, Long.MAX_VALUE, -1, 0, 1};
    for (long base : extremes) {
      for (long samples : extremes) {
        for (int open : new int[] {Integer.MIN_VALUE, -1, 0, 1, Integer.MAX_VALUE}) {
          entries.add((1 << 24) - 1, (1 << 24) - 1, 0xFFFF, open, base, samples);
          entries.add(0, Stacks.OLDER, 0, open, base, samples);
        }
      }
    }
    packsTo(entries);
  }

  /** Fifty threads that run, wait and sleep, as passes and the CPU clock see them. */
  @Test
  void pack_entriesOfABusyMachine_takeFiveBytesEach() {
    Random random = new Random(7);
    Entries entries = new Entries(4_096);
    long now = 1_000_000_000_000_000L;
    int[] stack = new int[50];
    for (long pass = 1_000; entries.count < 4_000; pass++) {
      now += 52_000_000;
      for (int task = 0; task < stack.length; task++) {
        int owner = 300 + task;
        long at = now + task * 10_000L + random.nextInt(3_000);
        int sleep = State.SLEEP.ordinal();
        entries.add(owner, 5_000 + stack[task], sleep, -1, at - random.nextInt(40_000_000), pass);
        entries.add(
            owner, Stacks.NOT_SAMPLED, State.RUN.ordinal(), 0, random.nextInt(9_000_000), 0);
        entries.add(owner, Stacks.NOT_SAMPLED, sleep, 0, random.nextInt(50_000_000), 0);
        stack[task] = random.nextInt(3) == 0 ? random.nextInt(3_000) : stack[task];
        int sampled = Spot.sampled(sleep, Shape.NO_CPU);
        entries.add(owner, 5_000 + stack[task], sampled, 0, 52_000_000, 1);
        entries.add(owner, 5_000 + stack[task], sleep, 1, -at, -pass);
      }
    }
    byte[] packed = packsTo(entries);
    assertTrue(packed.length < 5 * entries.count, packed.length + " of " + entries.count);
  }
}

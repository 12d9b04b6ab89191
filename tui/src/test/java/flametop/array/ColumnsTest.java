package flametop.array;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Columns and their index beside lists and a map of the JDK. */
class ColumnsTest {
  private static final int EMPTY = -7;
  private static final int STEPS = 50_000;

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void intColumn_randomCalls_isTheSameAsAList(long seed) {
    Random random = new Random(seed);
    IntColumn column = new IntColumn(EMPTY);
    List<Integer> list = new ArrayList<>();
    for (int step = 0; step < STEPS; step++) {
      int value = random.nextInt();
      switch (random.nextInt(8)) {
        case 0 -> {
          int row = random.nextInt(list.size() + 20);
          column.set(row, value);
          while (list.size() <= row) {
            list.add(EMPTY);
          }
          list.set(row, value);
        }
        case 1 -> {
          if (!list.isEmpty()) {
            assertEquals(list.remove(list.size() - 1), column.pop());
            column.items[column.size] = EMPTY;
          }
        }
        case 2 -> {
          if (step % 97 == 0) {
            int from = random.nextInt(list.size() + 1);
            IntColumn more = column.copy();
            column.addAll(more, from);
            list.addAll(List.copyOf(list.subList(from, list.size())));
          }
        }
        case 3 -> {
          if (step % 211 == 0) {
            column.empty();
            list.clear();
          } else if (step % 101 == 0) {
            column.trim();
          }
        }
        default -> {
          column.add(value);
          list.add(value);
        }
      }
      int row = random.nextInt(list.size() + 100);
      assertEquals(row < list.size() ? list.get(row) : EMPTY, column.get(row));
    }
    assertArrayEquals(list.stream().mapToInt(i -> i).toArray(), column.toArray());
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void longColumn_randomCalls_isTheSameAsAList(long seed) {
    Random random = new Random(seed);
    LongColumn column = new LongColumn();
    List<Long> list = new ArrayList<>();
    for (int step = 0; step < STEPS; step++) {
      long value = random.nextLong();
      switch (random.nextInt(8)) {
        case 0 -> {
          int row = random.nextInt(list.size() + 20);
          column.set(row, value);
          while (list.size() <= row) {
            list.add(0L);
          }
          list.set(row, value);
        }
        case 1 -> {
          if (step % 203 == 0) {
            int rows = random.nextInt(2 * list.size() + 10);
            column.zero(rows);
            list.clear();
            while (list.size() < rows) {
              list.add(0L);
            }
          } else if (step % 101 == 0) {
            column.resize(list.size() + 3);
            list.addAll(List.of(0L, 0L, 0L));
          } else if (step % 103 == 0) {
            column.trim();
          }
        }
        default -> {
          column.add(value);
          list.add(value);
        }
      }
      int row = random.nextInt(list.size() + 100);
      assertEquals(row < list.size() ? list.get(row) : 0, column.get(row));
    }
    assertArrayEquals(list.stream().mapToLong(i -> i).toArray(), column.copy().toArray());
  }

  @Test
  void held_columnThatGoesOn_staysAsItWas() {
    LongColumn longs = new LongColumn();
    IntColumn ints = new IntColumn();
    for (int i = 0; i < 1_000; i++) {
      longs.add(i);
      ints.add(i);
    }
    LongColumn heldLongs = longs.held();
    IntColumn heldInts = ints.held();
    long[] before = longs.toArray();
    for (int i = 0; i < 100_000; i++) {
      longs.add(-1);
      ints.add(-1);
    }
    assertArrayEquals(before, heldLongs.toArray());
    assertEquals(1_000, heldInts.size);
    assertEquals(999, heldInts.get(999));
  }

  /** Few distinct keys, so that many are found; and keys that differ in few bits. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void longIndex_randomKeys_isTheSameAsAMap(long seed) {
    Random random = new Random(seed);
    LongColumn keys = new LongColumn();
    LongIndex index = new LongIndex(keys);
    Map<Long, Integer> map = new HashMap<>();
    for (int step = 0; step < STEPS; step++) {
      long key = (long) random.nextInt(200) << 32 | random.nextInt(200) - 100 & 0xFFFF_FFFFL;
      assertEquals(map.getOrDefault(key, LongIndex.NONE), index.find(key));
      if (random.nextInt(3) > 0) {
        Integer known = map.putIfAbsent(key, map.size());
        assertEquals(known == null ? map.size() - 1 : known, index.row(key));
      }
      assertEquals(map.size(), index.size());
    }
    map.forEach((key, row) -> assertEquals(key, index.key(row)));
    // Another key in each row.
    for (int row = 0; row < keys.size; row++) {
      keys.items[row] ^= 1L << 62;
    }
    index.fill();
    map.forEach((key, row) -> assertEquals(row, index.find(key ^ 1L << 62)));
    map.forEach((key, row) -> assertEquals(LongIndex.NONE, index.find(key)));
    index.clear();
    assertEquals(0, index.size());
    map.forEach((key, row) -> assertEquals(LongIndex.NONE, index.find(key ^ 1L << 62)));
    assertEquals(0, index.row(5));
  }
}

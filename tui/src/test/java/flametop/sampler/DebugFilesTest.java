package flametop.sampler;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class DebugFilesTest {
  @Test
  void toString_someOnTheirWay_saysHowFarItIs() {
    DebugFiles files = new DebugFiles(14, 2, 3, 1, 1, 9 << 20);
    assertEquals(7, files.awaited());
    assertEquals(
        "debuginfod: 3 of 12 fetched, 9 MiB, 2 from the cache, 1 not there, 1 failed",
        files.toString());
  }

  @Test
  void toString_cacheOnly_saysOnlyThat() {
    assertEquals("debuginfod: 2 from the cache", new DebugFiles(2, 2, 0, 0, 0, 0).toString());
    assertEquals("", new DebugFiles(0, 0, 0, 0, 0, 0).toString());
  }

  @Test
  void of_counters_isInTheirOrder() {
    long[] counters = new long[Counter.values().length];
    for (int i = 0; i < 6; i++) {
      counters[Counter.DEBUG_WANTED.ordinal() + i] = 10L + i;
    }
    assertEquals(new DebugFiles(10, 11, 12, 13, 14, 15), DebugFiles.of(counters));
  }
}

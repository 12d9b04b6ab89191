package flametop.profile.host;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

class HostMemoryTest {
  private static int of(String total) {
    return HostMemory.history(List.of("MemFree: 1 kB", total, "Active: 3 kB"));
  }

  @Test
  void history_anyMachine_isAPartOfItsMemoryWithinBounds() {
    assertEquals(64, of("MemTotal:       24682116 kB"));
    assertEquals(64, of("MemTotal:        2097152 kB"));
    assertEquals(16, of("MemTotal:         524288 kB"));
    assertEquals(4, of("MemTotal:          65536 kB"));
    assertEquals(4, of("MemTotal: many kB"));
  }

  @Test
  void history_thisMachine_isKnown() {
    assertTrue(HostMemory.history() >= 4);
  }
}

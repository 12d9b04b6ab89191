package flametop.profile.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.sampler.State;
import org.junit.jupiter.api.Test;

class OwnersTest {
  private static final int LINE = 4_096;

  private final Owners owners = new Owners();

  private void process(int id, int tgid, String comm, String commandLine) {
    owners.processes().seen(id, tgid, 0, comm, commandLine);
    owners.tasks().seen(id, id, tgid, comm);
    owners.tasks().state(id, State.SLEEP);
  }

  @Test
  void processSeen_moreTextThanIsKept_forgetsTheGoneOldestFirst() {
    int count = 20_000;
    for (int i = 0; i < count; i++) {
      process(i, i, "cc1", "x".repeat(LINE));
      if (i > 0) {
        owners.gone(i);
      }
    }
    long kept = 0;
    for (int i = 0; i < count; i++) {
      kept += owners.processes().commandLine(i).length();
    }
    assertTrue(kept <= 8 << 20, () -> "all of them");
    assertEquals(LINE, owners.processes().commandLine(0).length(), "it lives");
    assertEquals(0, owners.processes().commandLine(1).length());
    assertEquals(LINE, owners.processes().commandLine(count - 1).length());
  }

  @Test
  void state_shortThreadsOfALongProcess_leaveNothingToBeFound() {
    owners.processes().seen(0, 7, 0, "server", "server");
    for (int task = 0; task < 1_000; task++) {
      owners.tasks().seen(task, 0, 100 + task, "server");
      owners.tasks().state(task, State.RUN);
      int first = owners.owner(task);
      owners.tasks().seen(task, 0, 100 + task, "worker");
      int renamed = owners.owner(task);
      assertEquals("server", owners.comm(first));
      assertEquals("worker", owners.comm(renamed));
      owners.tasks().seen(task, 0, 100 + task, "server");
      assertEquals(first, owners.owner(task), "the same under the same names");
      owners.gone(task);
      assertEquals(100 + task, owners.tid(renamed), "its time is still told of");
    }
    assertTrue(owners.known() < 10, () -> owners.known() + " are kept");
  }

  @Test
  void cgroup_processIsMoved_hasOtherOwnersFromThenOnAndTheFormerWhenItIsBack() {
    process(0, 7, "server", "server");
    int unknown = owners.owner(0);
    owners.processes().cgroup(0, "/a");
    int first = owners.owner(0);
    owners.processes().cgroup(0, "/a/b");
    int second = owners.owner(0);
    assertEquals("[no cgroup]", owners.cgroup(unknown));
    assertEquals("/a", owners.cgroup(first));
    assertEquals("/a/b", owners.cgroup(second));
    assertTrue(owners.group(first) != owners.group(second));
    owners.processes().cgroup(0, "/a");
    assertEquals(first, owners.owner(0));
    owners.gone(0);
    assertEquals("/a/b", owners.cgroup(second), "its time is still told of");
  }

  @Test
  void processSeen_allLive_keepsAllTheirText() {
    for (int i = 0; i < 5_000; i++) {
      process(i, i, "java", "x".repeat(LINE));
    }
    for (int i = 0; i < 5_000; i++) {
      assertEquals(LINE, owners.processes().commandLine(i).length());
    }
  }
}

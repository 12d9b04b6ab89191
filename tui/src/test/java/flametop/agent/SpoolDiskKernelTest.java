package flametop.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A spool on a disk that is smaller than its bound: needs root, for the disk. */
@Tag("kernel")
class SpoolDiskKernelTest {
  @TempDir private Path folder;

  @Test
  void add_fullDisk_oldestGiveRoomAndAllAreCounted() throws Exception {
    Path disk = Files.createDirectory(folder.resolve("disk"));
    assertEquals(
        0,
        new ProcessBuilder(
                "mount", "-t", "tmpfs", "-o", "size=64k,mode=700", "tmpfs", disk.toString())
            .inheritIO()
            .start()
            .waitFor());
    try {
      Files.setPosixFilePermissions(disk, PosixFilePermissions.fromString("rwx------"));
      Metrics metrics = new Metrics();
      try (Spool spool = Spool.open(disk, 1 << 20, metrics)) {
        byte[] body = new byte[10_000];
        for (int i = 0; i < 30; i++) {
          new Random(i).nextBytes(body);
          spool.add("parca", body.clone());
          assertEquals(i + 1, metrics.dropped() + spool.size());
        }
        assertTrue(spool.size() >= 3, spool.size() + " wait");
        assertEquals(30 - spool.size(), metrics.droppedBy(Drop.SPOOL_FULL));
        // Somebody else takes all of the disk: nothing of ours is left half.
        Spool.Entry oldest = spool.hold();
        assertNotNull(oldest);
        assertNotNull(spool.read(oldest));
        int waiting = spool.size();
        spool.add("parca", new byte[60_000]);
        assertEquals(31, metrics.dropped() + spool.size());
        assertTrue(spool.size() <= waiting);
        assertNotNull(spool.read(oldest), "the one that is being sent stays");
      }
      try (Spool spool = Spool.open(disk, 1 << 20, new Metrics())) {
        for (Spool.Entry entry = spool.hold(); entry != null; entry = spool.hold()) {
          assertNotNull(spool.read(entry));
          spool.sent(entry);
        }
      }
    } finally {
      new ProcessBuilder("umount", disk.toString()).inheritIO().start().waitFor();
    }
  }
}

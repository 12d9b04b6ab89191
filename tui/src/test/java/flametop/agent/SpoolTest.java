package flametop.agent;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Profiles that wait. */
class SpoolTest {
  private static final long MIB = 1 << 20;

  @TempDir private Path temporary;

  private Path folder;
  private final Metrics metrics = new Metrics();

  @BeforeEach
  void folder() {
    folder = temporary.resolve("spool");
  }

  private static byte[] body(int number, int length) {
    byte[] body = new byte[length];
    new Random(number).nextBytes(body);
    return body;
  }

  private static Spool.Entry next(Spool spool) {
    Spool.Entry entry = spool.hold();
    assertNotNull(entry);
    return entry;
  }

  private Path file(Spool.Entry entry) {
    return folder.resolve(entry.file());
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void hold_severalProfiles_oldestFirstAndEachOnce(boolean onDisk) throws Exception {
    try (Spool spool = Spool.open(onDisk ? folder : null, MIB, metrics)) {
      for (int i = 0; i < 12; i++) {
        spool.add("parca", body(i, 100 + i));
      }
      for (int i = 0; i < 12; i++) {
        Spool.Entry entry = next(spool);
        assertArrayEquals(body(i, 100 + i), spool.read(entry));
        spool.sent(entry);
      }
      assertNull(spool.hold());
      assertEquals(0, spool.bytes());
      assertEquals(0, metrics.dropped());
    }
  }

  @Test
  void open_afterAnEnd_sameProfilesInTheSameOrder() throws Exception {
    try (Spool spool = Spool.open(folder, MIB, metrics)) {
      for (int i = 0; i < 3; i++) {
        spool.add("otlp", body(i, 50));
      }
      spool.sent(next(spool));
    }
    Metrics later = new Metrics();
    try (Spool spool = Spool.open(folder, MIB, later)) {
      spool.add("otlp", body(3, 50));
      for (int i = 1; i <= 3; i++) {
        Spool.Entry entry = next(spool);
        assertEquals("otlp", entry.kind());
        assertArrayEquals(body(i, 50), spool.read(entry));
        spool.sent(entry);
      }
      assertEquals(2, later.found.get());
    }
  }

  @Test
  void add_noRoom_oldestAreDroppedAndCounted() throws Exception {
    try (Spool spool = Spool.open(folder, 1_000, metrics)) {
      for (int i = 0; i < 20; i++) {
        spool.add("parca", body(i, 200));
        assertTrue(spool.bytes() <= 1_000);
      }
      assertEquals(4, spool.size());
      assertEquals(16, metrics.droppedBy(Drop.SPOOL_FULL));
      assertArrayEquals(body(16, 200), spool.read(next(spool)));
      spool.add("parca", body(99, 1_000));
      assertEquals(1, metrics.droppedBy(Drop.TOO_LARGE));
      assertEquals(4, spool.size());
    }
  }

  @Test
  void add_oldestIsBeingSent_isNotDropped() throws Exception {
    try (Spool spool = Spool.open(folder, 600, metrics)) {
      spool.add("parca", body(0, 200));
      spool.add("parca", body(1, 200));
      Spool.Entry held = next(spool);
      spool.add("parca", body(2, 200));
      assertArrayEquals(body(0, 200), spool.read(held));
      spool.sent(held);
      assertArrayEquals(body(2, 200), spool.read(next(spool)));
      assertEquals(1, metrics.dropped());
      spool.add("parca", body(3, 500));
      assertEquals(2, metrics.dropped(), "the one that is sent leaves no room");
    }
  }

  @Test
  void read_damagedFiles_none() throws Exception {
    try (Spool spool = Spool.open(folder, MIB, metrics)) {
      for (int damage = 0; damage < 5; damage++) {
        spool.add("parca", body(damage, 300));
        Spool.Entry entry = next(spool);
        byte[] bytes = Files.readAllBytes(file(entry));
        switch (damage) {
          case 0 -> bytes = new byte[bytes.length];
          case 1 -> bytes[bytes.length - 1] ^= 1;
          case 2 -> bytes = Arrays.copyOf(bytes, bytes.length - 1);
          case 3 -> bytes = new byte[0];
          default -> bytes[0] = 'F';
        }
        Files.write(file(entry), bytes);
        assertNull(spool.read(entry), "damage " + damage);
        assertTrue(spool.drop(entry, Drop.DAMAGED));
      }
      assertEquals(5, metrics.droppedBy(Drop.DAMAGED));
    }
  }

  @Test
  void open_foreignFilesAndACutOne_foreignOnesStay() throws Exception {
    Files.createDirectory(
        folder, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    Path notes = Files.writeString(folder.resolve("notes.txt"), "mine");
    Files.writeString(folder.resolve("9999999999999999999.parca"), "mine");
    Path short_ = Files.writeString(folder.resolve("17.parca"), "mine");
    Files.createSymbolicLink(folder.resolve("0000000000000000007.parca"), notes);
    Files.createDirectory(folder.resolve("0000000000000000008.parca"));
    Files.writeString(folder.resolve(".flametop-part"), "half of a pro");
    try (Spool spool = Spool.open(folder, MIB, metrics)) {
      assertNull(spool.hold());
      spool.add("parca", body(0, 10));
      assertArrayEquals(body(0, 10), spool.read(next(spool)));
    }
    assertEquals("mine", Files.readString(notes));
    assertEquals("mine", Files.readString(short_));
    assertFalse(Files.exists(folder.resolve(".flametop-part")));
  }

  @Test
  void open_smallerBound_oldestAreDropped() throws Exception {
    try (Spool spool = Spool.open(folder, MIB, metrics)) {
      for (int i = 0; i < 10; i++) {
        spool.add("parca", body(i, 200));
      }
    }
    try (Spool spool = Spool.open(folder, 500, metrics)) {
      assertEquals(2, spool.size());
      assertEquals(8, metrics.droppedBy(Drop.SPOOL_FULL));
    }
  }

  @Test
  void open_otherAgentOrOpenFolder_refused() throws Exception {
    try (Spool spool = Spool.open(folder, MIB, metrics)) {
      assertEquals(0, spool.size());
      assertEquals(
          PosixFilePermissions.fromString("rwx------"), Files.getPosixFilePermissions(folder));
      IOException refused =
          assertThrows(IOException.class, () -> Spool.open(folder, MIB, new Metrics()));
      assertTrue(refused.getMessage().contains("another agent"), refused.getMessage());
    }
    Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxrwxrwx"));
    IOException open = assertThrows(IOException.class, () -> Spool.open(folder, MIB, metrics));
    assertTrue(open.getMessage().contains("chmod go-w"), open.getMessage());
  }

  @Test
  void close_inMemory_whatWaitsIsCounted() throws Exception {
    try (Spool spool = Spool.open(null, MIB, metrics)) {
      spool.add("parca", body(0, 10));
      spool.add("parca", body(1, 10));
    }
    assertEquals(2, metrics.droppedBy(Drop.ENDED));
  }

  @Test
  void add_folderGone_countedAndTheNextIsKept() throws Exception {
    try (Spool spool = Spool.open(folder, MIB, metrics)) {
      Path moved = Files.move(folder, temporary.resolve("moved"));
      spool.add("parca", body(0, 10));
      assertEquals(1, metrics.droppedBy(Drop.NOT_WRITTEN));
      Files.move(moved, folder);
      spool.add("parca", body(1, 10));
      assertArrayEquals(body(1, 10), spool.read(next(spool)));
    }
  }

  @Test
  void add_manyRandomSteps_sumsHold() throws Exception {
    Random random = new Random(5);
    List<Integer> model = new ArrayList<>();
    try (Spool spool = Spool.open(folder, 4_000, metrics)) {
      for (int i = 0; i < 500; i++) {
        spool.add("parca", body(i, random.nextInt(600)));
        model.add(i);
        while (model.size() > spool.size()) {
          model.remove(0);
        }
        if (random.nextInt(3) == 0 && spool.size() > 0) {
          Spool.Entry entry = next(spool);
          byte[] read = spool.read(entry);
          assertArrayEquals(body(model.remove(0), read.length), read);
          spool.sent(entry);
          metrics.sent.incrementAndGet();
        }
        assertEquals(i + 1, metrics.sent.get() + metrics.dropped() + spool.size());
      }
      long onDisk = 0;
      try (var files = Files.list(folder)) {
        for (Path file : files.filter(f -> f.toString().endsWith(".parca")).toList()) {
          onDisk += Files.size(file);
        }
      }
      assertEquals(spool.bytes(), onDisk);
    }
  }
}

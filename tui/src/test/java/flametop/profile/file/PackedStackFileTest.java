package flametop.profile.file;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.profile.answer.GraphQuery;
import flametop.profile.answer.Snapshot;
import java.io.ByteArrayOutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Files of stacks that are packed, whole and damaged. */
class PackedStackFileTest extends StackFileFixture {
  @Test
  void snapshot_ofPackedFiles_isThatOfThePlain() throws Exception {
    String text = "main;a;b 3\n".repeat(100_000) + "main;c 1\n";
    List<String> plain = drawn(read(text));
    assertEquals(plain, drawn(read(Packed.GZIP.of(text))));
    assertEquals(plain, drawn(read(Packed.ZSTD.of(text))));
  }

  @Test
  void snapshot_ofADamagedPackedFile_hasWhatCameBefore() throws Exception {
    StringBuilder text = new StringBuilder();
    Random random = new Random(1);
    for (int i = 0; i < 100_000; i++) {
      text.append("main;f").append(random.nextInt()).append(" 1\n");
    }
    byte[] bytes = Packed.GZIP.of(text.toString());
    Snapshot snapshot = read(Arrays.copyOf(bytes, bytes.length / 2));
    assertTrue(snapshot.total() > 1_000);
    assertEquals(
        List.of(
            folder.resolve("a.packed")
                + " is read up to where it failed: it ends too early;"
                + " copy it or pack it again"),
        snapshot.notices());
  }

  /** Where it is cut a line is, too: half of its number is not its number. */
  @Test
  void snapshot_ofAPackedFileThatIsCut_isWithoutTheLineThatWasCut() throws Exception {
    ByteArrayOutputStream packed = new ByteArrayOutputStream();
    try (GZIPOutputStream out = new GZIPOutputStream(packed, 512, true)) {
      out.write("main;a 1000\nmain;b 10".getBytes(UTF_8));
      out.flush();
      assertEquals(
          List.of("all 1000", " main 1000", "  a 1000"), drawn(read(packed.toByteArray())));
    }
  }

  @Test
  void snapshot_ofAPackedFileWithoutMoreThanItsHead_saysOneThing() throws Exception {
    byte[] zstd = Packed.ZSTD.of("main;a 1\n".repeat(1_000));
    byte[] gzip = {0x1F, (byte) 0x8B, 8, 0, 0};
    for (byte[] head : List.of(gzip, Arrays.copyOf(zstd, 12))) {
      Path path = Files.write(folder.resolve("a.packed"), head);
      assertEquals(
          List.of(path + " cannot be read: it ends too early; copy it or pack it again"),
          read(path).notices());
    }
  }

  @ParameterizedTest
  @EnumSource(Packed.class)
  void snapshot_ofSeveralPackedPieces_hasAll(Packed how) throws Exception {
    byte[] first = how.of(random(1, 3_000));
    byte[] second = how.of(random(2, 4_000));
    Snapshot snapshot = read(joined(first, second));
    assertEquals(7_000, snapshot.total(), snapshot.notices()::toString);
    assertEquals(List.of(), snapshot.notices());
  }

  @ParameterizedTest
  @EnumSource(Packed.class)
  void snapshot_ofSomethingBehindPackedData_saysSo(Packed how) throws Exception {
    for (String rest : List.of("garbage\n", "x", "main;a 5\n".repeat(50_000))) {
      Snapshot snapshot = read(joined(how.of(random(1, 3_000)), rest.getBytes(UTF_8)));
      assertEquals(3_000, snapshot.total(), snapshot.notices()::toString);
      assertEquals(1, snapshot.notices().size(), rest);
    }
  }

  /** A decoder may fail in any way: its failure ends the reading, and is said. */
  @ParameterizedTest
  @EnumSource(Packed.class)
  void snapshot_ofFlippedBits_endsAndSaysWhatIsMissing(Packed how) throws Exception {
    String text = random(1, 2_000);
    List<String> whole = drawn(read(text));
    byte[] good = how.of(text);
    Random random = new Random(how.ordinal());
    int said = 0;
    for (int round = 0; round < 30; round++) {
      byte[] bad = good.clone();
      int flips = 1 + random.nextInt(3);
      for (int i = 0; i < flips; i++) {
        bad[6 + random.nextInt(bad.length - 6)] ^= (byte) (1 << random.nextInt(8));
      }
      try (StackFile file = open(Files.write(folder.resolve("a.packed"), bad))) {
        Snapshot.Reading reading = file.whole().get(60, TimeUnit.SECONDS);
        assertTrue(reading.done());
        Snapshot snapshot = file.snapshot(query(GraphQuery.ROOT, GraphQuery.ROOT, 9, null)).get();
        if (snapshot.notices().isEmpty()) {
          assertEquals(whole, drawn(snapshot), "round " + round);
        } else {
          said++;
        }
      }
    }
    assertTrue(said > 10, "said " + said);
  }

  @Test
  void snapshot_ofABadSecondMember_hasTheFirstAndSaysSo() throws Exception {
    byte[] first = Packed.GZIP.of("main;a 300\n");
    byte[] second = Packed.GZIP.of("main;b 400\n");
    second[2] = 9;
    Snapshot snapshot = read(joined(first, second));
    assertEquals(300, snapshot.total());
    assertEquals(
        List.of(
            folder.resolve("a.packed")
                + " is read up to where it failed: damaged gzip data"
                + " (packed in no way that is known); copy it or pack it again"),
        snapshot.notices());
    assertEquals(List.of(), read(joined(first, new byte[1_000])).notices());
  }

  @Test
  void snapshot_ofFramesOfZstdThatHoldNothing_isWithoutThem() throws Exception {
    byte[] skipped = {0x5A, 0x2A, 0x4D, 0x18, 3, 0, 0, 0, 1, 2, 3};
    byte[] frame = Packed.ZSTD.of("main;a 3\n");
    Snapshot snapshot = read(joined(frame, skipped, frame, skipped));
    assertEquals(6, snapshot.total(), snapshot.notices()::toString);
    assertEquals(List.of(), snapshot.notices());
  }
}

package flametop.sampler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The golden file of the crate {@code flametop-stream}, decoded here as it is there. */
class GoldenStreamTest {
  static final Path GOLDEN =
      Path.of(System.getProperty("basedir", "."), "..", "sampler-native", "stream", "golden");

  private static byte[] golden(String version) throws IOException {
    return Files.readAllBytes(GOLDEN.resolve(version + ".flametop"));
  }

  private static StreamText read(byte[] bytes, boolean checkIds)
      throws DamagedStreamException, SamplerException {
    ByteBuffer file = ByteBuffer.wrap(bytes);
    StreamReader.readHeader(file);
    StreamText text = new StreamText();
    StreamReader reader = new StreamReader(file.position(), true, checkIds);
    while (file.hasRemaining()) {
      reader.read(next(file), text);
    }
    return text;
  }

  private static final Pattern STRING = Pattern.compile("(\\w+)=\"([^\"]*)\"");

  @ParameterizedTest
  @ValueSource(strings = {"v1", "v2"})
  void read_goldenFile_sameTextAsTheRustReader(String version) throws IOException {
    List<String> expected =
        Files.readAllLines(GOLDEN.resolve(version + ".txt")).stream()
            .map(GoldenStreamTest::cleaned)
            .toList();
    assertEquals(
        expected.stream()
            .filter(line -> !line.startsWith("fact ") && !line.startsWith("file "))
            .toList(),
        read(golden(version), false).lines);
  }

  @Test
  void read_kindsAndNumbersOfLater_eachToldOnce() throws IOException {
    List<String> notices = read(golden("v2"), false).notices;
    List<String> told =
        List.of(
            "records of kind 999",
            "records of kind 65535",
            "modules of kind 9",
            "names of source 6",
            "stacks that are short for reason 13",
            "stacks that are short for reason 255",
            "tasks in state 8",
            "tasks in state 255");
    assertEquals(told.size(), notices.size(), notices::toString);
    for (int i = 0; i < told.size(); i++) {
      String notice = notices.get(i);
      assertTrue(notice.startsWith("the stream has " + told.get(i) + ", which"), notice);
    }
  }

  @Test
  void readHeader_newerVersion_refusedByItsNumber() throws IOException {
    byte[] file = golden("v2");
    file[8] = 3;
    SamplerException e =
        assertThrows(SamplerException.class, () -> StreamReader.readHeader(ByteBuffer.wrap(file)));
    assertTrue(e.getMessage().contains("version 3"), e::getMessage);
    assertTrue(e.getMessage().contains("version 2"), e::getMessage);
  }

  @Test
  void readHeader_goldenFile_sameFacts() throws IOException {
    ByteBuffer file = ByteBuffer.wrap(golden("v2"));
    StreamFacts facts = StreamReader.readHeader(file);

    assertEquals("web-1", facts.host());
    assertEquals("6.18.0-1-amd64", facts.kernel());
    assertEquals(List.of(0, 1, 5), java.util.Arrays.stream(facts.cpus()).boxed().toList());
    assertEquals(19, facts.passHz());
    assertEquals(99, facts.cpuHz());
    assertTrue(facts.wholeHost());
    assertEquals(81_000_000_000_000L, facts.monotonicNanos());
    assertEquals(1_760_000_000_123_456_789L, facts.wallNanos());
    assertEquals(
        List.of(
            new StreamFacts.IdleState(0, "POLL", 0, 0),
            new StreamFacts.IdleState(1, "C1E, naïve", 10, 20)),
        facts.idleStates(0));
    assertEquals(List.of(), facts.idleStates(1));
    assertEquals("CPU 1 and 5: the kernel has no cpuidle driver", facts.idleMissing());
    assertEquals("no frequencies: the kernel has no cpufreq driver", facts.frequencyMissing());
    assertEquals("", facts.cyclesMissing());
  }

  @Test
  void read_everyTruncation_damagedOrWhole() throws IOException {
    byte[] whole = golden("v2");
    for (int length = 0; length < whole.length; length++) {
      readAll(java.util.Arrays.copyOf(whole, length), true);
    }
  }

  /** Checksums are mended after each corruption, so that what lies behind them is reached. */
  @Test
  void read_randomCorruption_damagedOrRead() throws IOException {
    byte[] golden = golden("v2");
    Random random = new Random(20_251);
    int damaged = 0;
    for (int round = 0; round < 4_000; round++) {
      byte[] bytes = golden.clone();
      int changes = 1 + random.nextInt(4);
      for (int i = 0; i < changes; i++) {
        bytes[random.nextInt(bytes.length)] =
            (byte) (random.nextBoolean() ? random.nextInt() : -random.nextInt(2));
      }
      mendChecksums(bytes);
      damaged += readAll(bytes, round % 2 == 0) ? 1 : 0;
    }
    assertTrue(damaged > 1_000, () -> "corruption was hardly ever found");
  }

  @Test
  void read_idThatWasNotIntroduced_damaged() throws IOException {
    ByteBuffer file = ByteBuffer.wrap(golden("v2"));
    StreamReader.readHeader(file);
    StreamReader reader = new StreamReader(file.position(), true);
    List<ByteBuffer> batches = new ArrayList<>();
    while (file.hasRemaining()) {
      batches.add(next(file));
    }
    reader.check(batches.get(0));
    reader.check(batches.get(1));
    StreamReader late = new StreamReader(0, true);
    DamagedStreamException e =
        assertThrows(DamagedStreamException.class, () -> late.check(batches.get(1)));
    assertEquals(16, e.offset(), "a gap in the sequence");
  }

  /**
   * Reads as a visitor of a recording would; returns whether it was damaged. Anything else that is
   * thrown fails the test.
   */
  private static boolean readAll(byte[] bytes, boolean checkIds) {
    try {
      read(bytes, checkIds);
      return false;
    } catch (DamagedStreamException e) {
      assertTrue(e.offset() >= 0 && e.offset() <= bytes.length, e::getMessage);
      return true;
    } catch (SamplerException e) {
      assertTrue(e.getMessage().contains("newer flametop"), e::getMessage);
      return true;
    }
  }

  /** The next batch, as the framing of a file gives it. */
  static ByteBuffer next(ByteBuffer file) {
    int length =
        file.remaining() < 4
            ? file.remaining()
            : file.duplicate().order(ByteOrder.LITTLE_ENDIAN).getInt(file.position());
    length = Math.max(0, Math.min(length, file.remaining()));
    if (length == 0) {
      length = file.remaining();
    }
    ByteBuffer batch = file.slice(file.position(), length);
    file.position(file.position() + length);
    return batch;
  }

  private static void mendChecksums(byte[] bytes) {
    ByteBuffer file = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    int at = 20 + file.getInt(12);
    if (at > 20 && at < bytes.length) {
      file.putInt(16, StreamReader.crc(file.slice(20, at - 20)));
    }
    while (at >= 20 && at + 24 < bytes.length) {
      int length = file.getInt(at);
      if (length < 24 || length > bytes.length - at) {
        return;
      }
      file.putInt(at + 4, StreamReader.crc(file.slice(at + 8, length - 8)));
      at += length;
    }
  }

  /** A line of the golden text with its strings as {@link CleanText} makes them. */
  private static String cleaned(String line) {
    if (!line.contains("=\"")) {
      return line;
    }
    Matcher m = STRING.matcher(line);
    return m.replaceAll(
        match -> {
          byte[] raw = unquoted(match.group(2));
          String clean =
              switch (match.group(1)) {
                case "cmdline" -> CleanText.cleanCommandLine(raw, 4_096);
                case "comm" -> CleanText.clean(raw, 64);
                default -> CleanText.clean(raw, 1_024);
              };
          return Matcher.quoteReplacement(match.group(1) + "=" + StreamText.quoted(clean));
        });
  }

  private static byte[] unquoted(String text) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (int i = 0; i < text.length(); i++) {
      if (text.charAt(i) == '\\') {
        out.write(Integer.parseInt(text.substring(i + 2, i + 4), 16));
        i += 3;
      } else {
        out.write(text.charAt(i));
      }
    }
    return out.toByteArray();
  }
}

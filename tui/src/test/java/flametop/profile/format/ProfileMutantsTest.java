package flametop.profile.format;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.zip.GZIPInputStream;
import jdk.jfr.Recording;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Readers of profiles and bytes that are nearly right: whatever changed, a reader ends, with stacks
 * that can be and one line of what is wrong. {@code -Dflametop.mutants=100000} tries more.
 */
@Timeout(7_200)
class ProfileMutantsTest {
  private static final int MUTANTS = Integer.getInteger("flametop.mutants", 1_500);

  /** Numbers at which something may turn. */
  private static final String[] NUMBERS = {
    "-1",
    "0",
    "9007199254740993",
    "9223372036854775807",
    "99999999999999999999",
    "1e308",
    "-1e-9",
    "0.5"
  };

  private static byte[] resource(String name) throws IOException {
    try (InputStream in =
        ProfileMutantsTest.class.getResourceAsStream("/flametop/profile/format/" + name)) {
      assertNotNull(in, name);
      return (name.endsWith(".gz") ? new GZIPInputStream(in) : in).readAllBytes();
    }
  }

  private static void read(ProfileFormat format, byte[] whole, int mutants) {
    assertTrue(ProfileReaderFuzz.read(format, whole) > 0, "the profile itself has no stacks");
    Random random = new Random(7);
    long stacks = 0;
    for (int i = 0; i < mutants; i++) {
      byte[] mutant = whole;
      for (int changes = random.nextInt(6); changes >= 0; changes--) {
        mutant = changed(mutant, random);
      }
      try {
        stacks += ProfileReaderFuzz.read(format, mutant);
      } catch (RuntimeException | Error e) {
        throw new AssertionError("mutant " + i + ": " + e, e);
      }
    }
    // A few mutants of a recording, which is another one in each run, may all be refused.
    assertTrue(stacks > 0 || mutants < 1_000, "no mutant has a stack");
  }

  private static byte[] changed(byte[] of, Random random) {
    if (of.length < 4) {
      return of;
    }
    int at = random.nextInt(of.length);
    int length = Math.min(of.length - at, 1 + random.nextInt(16));
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.write(of, 0, at);
    switch (random.nextInt(6)) {
      case 0 -> {
        out.write(random.nextInt(256));
        at++;
      }
      case 1 -> at += length;
      case 2 -> {
        out.write(of, at, length);
        out.write(of, at, length);
        at += length;
      }
      case 3 -> {
        int other = random.nextInt(of.length);
        out.write(of, other, Math.min(of.length - other, length));
      }
      case 4 -> {
        out.writeBytes(NUMBERS[random.nextInt(NUMBERS.length)].getBytes(UTF_8));
        at += length;
      }
      default -> {
        if (random.nextInt(4) == 0) {
          return Arrays.copyOf(of, at);
        }
        out.write(of[at] ^ 1 << random.nextInt(8));
        at++;
      }
    }
    out.write(of, at, of.length - at);
    return out.toByteArray();
  }

  @Test
  void pprof_mutants_endInStacksAndWords() throws Exception {
    read(ProfileFormat.PPROF, resource("any-order.pb"), MUTANTS);
    read(ProfileFormat.PPROF, resource("no-mappings.pb.gz"), MUTANTS);
  }

  @Test
  void cpuprofile_mutants_endInStacksAndWords() throws Exception {
    read(ProfileFormat.JSON, resource("node.cpuprofile"), MUTANTS);
  }

  @Test
  void perfScript_mutants_endInStacksAndWords() throws Exception {
    read(ProfileFormat.PERF_SCRIPT, resource("perf-script.txt"), MUTANTS);
  }

  @Test
  void speedscope_mutants_endInStacksAndWords() {
    String text =
        "{\"shared\":{\"frames\":[{\"name\":\"a\"},{\"name\":\"b\",\"file\":\"f\"},{\"name\":\"c\"}]},"
            + "\"profiles\":[{\"type\":\"evented\",\"name\":\"x\",\"unit\":\"milliseconds\",\"events\":["
            + "{\"type\":\"O\",\"frame\":0,\"at\":1},{\"type\":\"O\",\"frame\":1,\"at\":1.5},"
            + "{\"type\":\"C\",\"frame\":1,\"at\":2},{\"type\":\"C\",\"frame\":0,\"at\":3}]},"
            + "{\"type\":\"sampled\",\"name\":\"y\",\"unit\":\"bytes\",\"samples\":[[0,1],[0,2],[1]],"
            + "\"weights\":[1,2,3]}]}";
    read(ProfileFormat.JSON, text.getBytes(UTF_8), MUTANTS);
  }

  @Test
  void trace_mutants_endInStacksAndWords() {
    String text =
        "[{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":2,\"args\":{\"name\":\"t\"}},"
            + "{\"ph\":\"X\",\"name\":\"in\",\"pid\":1,\"tid\":2,\"ts\":12,\"dur\":3},"
            + "{\"ph\":\"X\",\"name\":\"out\",\"pid\":1,\"tid\":2,\"ts\":10,\"dur\":10},"
            + "{\"ph\":\"B\",\"name\":\"b\",\"pid\":1,\"tid\":2,\"ts\":30},"
            + "{\"ph\":\"B\",\"name\":\"c\",\"pid\":1,\"tid\":2,\"ts\":31},"
            + "{\"ph\":\"E\",\"pid\":1,\"tid\":2,\"ts\":33},{\"ph\":\"E\",\"pid\":1,\"tid\":2,\"ts\":39}]";
    read(ProfileFormat.JSON, text.getBytes(UTF_8), MUTANTS);
  }

  @Test
  void traceWithProfileChunks_mutants_endInStacksAndWords() {
    String text =
        "[{\"args\":{\"data\":{\"startTime\":1}},\"id\":\"0x1\",\"name\":\"Profile\",\"ph\":\"P\",\"pid\":1},"
            + "{\"args\":{\"data\":{\"cpuProfile\":{\"nodes\":["
            + "{\"id\":1,\"callFrame\":{\"functionName\":\"f\"}},"
            + "{\"id\":2,\"parent\":1,\"callFrame\":{\"functionName\":\"g\",\"lineNumber\":3}}],"
            + "\"samples\":[1,2,2,9]},\"timeDeltas\":[0,5,2147483648,1.5]}},"
            + "\"id\":\"0x1\",\"name\":\"ProfileChunk\",\"ph\":\"P\",\"pid\":1}]";
    read(ProfileFormat.JSON, text.getBytes(UTF_8), MUTANTS);
  }

  @Test
  void jfr_mutants_endInStacksAndWords(@TempDir Path folder) throws Exception {
    Path path = folder.resolve("x");
    try (Recording recording = new Recording()) {
      recording.enable("jdk.ThreadSleep").withStackTrace().withThreshold(java.time.Duration.ZERO);
      recording.start();
      Thread.sleep(1);
      recording.stop();
      recording.dump(path);
    }
    // The JDK's reader takes a hundred times as long as ours.
    read(ProfileFormat.JFR, Files.readAllBytes(path), Math.max(1, MUTANTS / 20));
  }
}

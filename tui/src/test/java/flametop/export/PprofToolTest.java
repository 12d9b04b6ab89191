package flametop.export;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import flametop.profile.answer.FoldedStack;
import flametop.profile.answer.Measure;
import flametop.sampler.State;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The profile as pprof reads it, which every Go brings. */
@Timeout(600)
class PprofToolTest {
  @TempDir private Path folder;

  @BeforeAll
  static void goIsThere() throws Exception {
    try {
      Process go =
          new ProcessBuilder("go", "version")
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      assumeTrue(go.waitFor() == 0, "go does not run");
    } catch (IOException e) {
      assumeTrue(false, "no go is installed");
    }
  }

  private String pprof(StackExport export, String... arguments) throws Exception {
    Path file = Files.write(folder.resolve("out.pb.gz"), Exports.bytes(StackFormat.PPROF, export));
    List<String> command = new ArrayList<>(List.of("go", "tool", "pprof"));
    command.addAll(List.of(arguments));
    command.add(file.toString());
    Path out = folder.resolve("out");
    Path err = folder.resolve("err");
    Process process =
        new ProcessBuilder(command)
            .directory(folder.toFile())
            .redirectOutput(out.toFile())
            .redirectError(err.toFile())
            .start();
    int code = process.waitFor();
    String text = Files.readString(out, StandardCharsets.UTF_8);
    assertEquals(0, code, Files.readString(err) + text);
    return text;
  }

  private static FoldedStack shared(String root, String leaf, FoldedStack.Share... shares) {
    return Exports.shared(Exports.stack(0, root, "main", leaf + "_[k]"), shares);
  }

  private static StackExport server() {
    return Exports.of(
        Measure.TIME,
        shared(
            "app",
            "ep_poll",
            new FoldedStack.Share(7, "app", 0, "", State.SLEEP, 2_000_000_000L, 38)),
        shared(
            "app",
            "vfs_read",
            new FoldedStack.Share(7, "app", 8, "io", State.RUN, 250_000_000L, 25),
            new FoldedStack.Share(9, "app", 9, "app", State.DISK, 750_000_000L, 14)));
  }

  @Test
  void top_stacks_totalAndValueOfAFunction() throws Exception {
    String top = pprof(server(), "-top", "-unit=us");
    assertTrue(top.contains("File: web-1\n"), top);
    assertTrue(top.contains("Type: time\n"), top);
    assertTrue(top.contains("Duration: 30s, Total samples = 3000000us"), top);
    assertTrue(top.matches("(?s).*\\n +1000000us +33\\.33%.* vfs_read\\n.*"), top);
    assertTrue(top.matches("(?s).*\\n +0 .* 3000000us +100% +main\\n.*"), top);
  }

  @Test
  void tags_shares_processThreadAndState() throws Exception {
    String tags = pprof(server(), "-tags", "-unit=us");
    // Older ones write a fraction, and shares of what has the label.
    for (String line : List.of("750000 disk", "250000 io", "2250000 7", "750000 9")) {
      String[] words = line.split(" ");
      assertTrue(
          tags.matches("(?s).* " + words[0] + "(\\.0)?us \\([ 0-9.]+%\\): " + words[1] + "\n.*"),
          tags);
    }
    String focused = pprof(server(), "-top", "-unit=us", "-tagfocus=state=run");
    assertTrue(focused.contains("250000us, 8.33% of 3000000us total"), focused);
  }

  @Test
  void comments_provenance_allOfIt() throws Exception {
    assertEquals(
        String.join("\n", Exports.provenance("web-1").lines())
            + "\nseen: 77 times, by passes and samples\nfirst frame: comm",
        pprof(server(), "-comments").strip());
  }

  @Test
  void samples_stacks_howManySawThem() throws Exception {
    String top = pprof(server(), "-top", "-sample_index=samples");
    assertTrue(top.contains("Type: samples\n"), top);
    assertTrue(top.matches("(?s).*\\n +0 .* 77 +100% +main\\n.*"), top);
    assertTrue(top.matches("(?s).*\\n +39 .* vfs_read\\n.*"), top);
  }

  @Test
  void raw_header_timeAndPeriod() throws Exception {
    String raw = pprof(server(), "-raw");
    assertTrue(raw.contains("PeriodType: cpu nanoseconds\nPeriod: " + 1_000_000_000 / 199), raw);
    assertTrue(raw.contains("Time: 2023-11-14 22:13:20"), raw);
    assertTrue(raw.contains("\nDuration: 30"), raw);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void top_hostileNames_totalAndEveryName(long seed) throws Exception {
    StackExport export = Exports.hostile(seed);
    String top = pprof(export, "-top", "-unit=us", "-nodecount=100000", "-nodefraction=0");
    assertTrue(
        top.contains(String.format(Locale.ROOT, "Total samples = %dus", export.total())), top);
    String raw = pprof(export, "-raw");
    for (FoldedStack stack : export.stacks()) {
      for (String name : stack.names()) {
        String written = new String(name.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
        assertTrue(raw.contains(written.isEmpty() ? "-" : written), name);
      }
    }
  }
}

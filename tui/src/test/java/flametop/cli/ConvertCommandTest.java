package flametop.cli;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** One format into another. */
@Timeout(60)
class ConvertCommandTest {
  private static final Path SAMPLES =
      Path.of(System.getProperty("basedir", "."), "src/test/resources/flametop/profile/format");
  private static final Path STREAM =
      Path.of(System.getProperty("basedir", "."), "../sampler-native/stream/golden/v1.flametop");

  /** The recording ends in a record that is damaged on purpose. */
  private static final int DAMAGED = ExitCode.FAILED.number();

  private static final int FAILED = ExitCode.FAILED.number();
  private static final int USAGE = ExitCode.USAGE.number();

  @TempDir private Path folder;
  private final StringWriter err = new StringWriter();

  /**
   * @param words with a space between two
   */
  private int run(String words) {
    err.getBuffer().setLength(0);
    CommandLine line = Main.commandLine(new Interruption(), List.of());
    line.setErr(new PrintWriter(err, true));
    return line.execute(words.split(" "));
  }

  private Path converted(Path in, String out, String... more) {
    Path path = folder.resolve(out);
    String line = "convert " + in + " -o " + path + " " + String.join(" ", more);
    assertEquals(ExitCode.DONE.number(), run(line.strip()), err::toString);
    return path;
  }

  private static List<String> stacks(Path folded) throws Exception {
    return Files.readAllLines(folded).stream().filter(line -> !line.startsWith("# ")).toList();
  }

  @Test
  void convert_thereAndBack_losesNoStackAndNoModule() throws Exception {
    for (String sample : List.of("any-order.pb", "perf-script.txt", "no-mappings.pb.gz")) {
      Path in = SAMPLES.resolve(sample);
      List<String> direct = stacks(converted(in, sample + ".folded"));
      assertFalse(direct.isEmpty());
      Path pprof = converted(in, sample + ".pb.gz");
      assertEquals(direct, stacks(converted(pprof, sample + ".1.folded")), sample);
      Path speedscope = converted(pprof, sample + ".speedscope.json");
      Path again = converted(speedscope, sample + ".2.pb.gz");
      assertEquals(direct, stacks(converted(again, sample + ".2.folded")), sample);
      if (sample.equals("any-order.pb")) {
        String json = Files.readString(speedscope);
        assertTrue(json.matches("(?s).*\"module\":\"[^\"]*/sample\\.bin\".*"), json);
        assertTrue(json.matches("(?s).*\"file\":\"[^\"]*sample\\.go\",\"line\":[1-9].*"), json);
      }
    }
  }

  @Test
  void convert_perfToSpeedscope_hasAProfileForEachThreadInOrder() throws Exception {
    StringBuilder perf = new StringBuilder();
    for (String sample : List.of("1/1 f", "1/2 g", "1/1 g", "1/1 f", "3/3 f")) {
      String[] words = sample.split(" ");
      perf.append("app ").append(words[0]).append(" [000] 1.000001: 10 cpu-clock: \n\t 400 ");
      perf.append(words[1]).append("+0x1 (/bin/app)\n\n");
    }
    Path in = Files.writeString(folder.resolve("perf.txt"), perf);
    JsonObject file = json(converted(in, "threads.speedscope.json"));
    List<String> names = new ArrayList<>();
    for (JsonElement frame : file.getAsJsonObject("shared").getAsJsonArray("frames")) {
      names.add(frame.getAsJsonObject().get("name").getAsString());
    }
    List<String> profiles = new ArrayList<>();
    for (JsonElement element : file.getAsJsonArray("profiles")) {
      StringBuilder order = new StringBuilder();
      JsonObject profile = element.getAsJsonObject();
      for (JsonElement sample : profile.getAsJsonArray("samples")) {
        order.append(' ').append(names.get(sample.getAsJsonArray().get(0).getAsInt()));
      }
      profiles.add(profile.get("name").getAsString() + ":" + order);
    }
    assertEquals(
        List.of(
            "app, process 1, thread 1 \"app\": f g f",
            "app, process 1, thread 2 \"app\": g",
            "app, process 3, thread 3 \"app\": f"),
        profiles);
    assertEquals(2, profiles(converted(in, "processes.speedscope.json", "--by", "process")));
    assertEquals(1, profiles(converted(in, "one.speedscope.json", "--by", "none")));
    assertEquals(USAGE, run("convert " + in + " --by none -o " + folder.resolve("x.pb.gz")));
  }

  @Test
  void convert_toPprof_keepsAllSampleTypesUnlessOneIsChosen() throws Exception {
    Path in = SAMPLES.resolve("no-mappings.pb.gz");
    assertEquals(
        List.of("inuse_space", "alloc_objects", "alloc_space", "inuse_objects"),
        types("convert", converted(in, "all.pb.gz")));
    Path one = converted(in, "one.pb.gz", "--sample-type", "alloc_space");
    assertEquals(List.of("alloc_space"), types("convert", one));
    assertEquals(
        stacks(converted(in, "1.folded", "--sample-type", "alloc_space")),
        stacks(converted(one, "2.folded")));
  }

  @Test
  void convert_recordedStream_keepsProcessesStatesAndModules() throws Exception {
    Path pprof = folder.resolve("stream.pb.gz");
    assertEquals(DAMAGED, run("convert " + STREAM + " -o " + pprof));
    byte[] bytes;
    try (GZIPInputStream in = new GZIPInputStream(Files.newInputStream(pprof))) {
      bytes = in.readAllBytes();
    }
    String text = new String(bytes, ISO_8859_1);
    assertTrue(text.contains("state") && text.contains("pid"), text);
    Path direct = folder.resolve("direct.folded");
    assertEquals(DAMAGED, run("convert " + STREAM + " -o " + direct));
    assertEquals(stacks(direct).size(), stacks(converted(pprof, "again.folded")).size());
  }

  private static List<String> types(String command, Path profile) {
    StringWriter out = new StringWriter();
    CommandLine line = Main.commandLine(new Interruption(), List.of());
    line.setOut(new PrintWriter(out));
    assertEquals(0, line.execute(command, profile.toString(), "--sample-type", "list"));
    return out.toString().lines().toList();
  }

  private static JsonObject json(Path path) throws Exception {
    return JsonParser.parseString(Files.readString(path)).getAsJsonObject();
  }

  private static int profiles(Path speedscope) throws Exception {
    return json(speedscope).getAsJsonArray("profiles").size();
  }

  @Test
  void convert_severalFiles_addsTheirStacksUp() throws Exception {
    Path one = Files.writeString(folder.resolve("1"), "a;b 1\n");
    Path two = Files.writeString(folder.resolve("2"), "a;b 2\na;c 4\n");
    Path out = folder.resolve("sum.folded");
    assertEquals(0, run("convert " + one + " " + two + " -o " + out));
    assertEquals(List.of("a;b 3", "a;c 4"), stacks(out));
    Path bytes = Files.writeString(folder.resolve("3"), "# unit: bytes\na;b 2\n");
    Path none = folder.resolve("none.folded");
    assertEquals(FAILED, run("convert " + one + " " + bytes + " -o " + none));
    assertTrue(err.toString().contains("different units"), err::toString);
    assertFalse(Files.exists(none));
  }

  @Test
  void convert_whatCannotBe_saysWhyInOneLine() throws Exception {
    Path stacks = Files.writeString(folder.resolve("1"), "a;b 1\n");
    assertEquals(USAGE, run("convert " + stacks + " -o " + folder.resolve("x.bin")));
    assertTrue(err.toString().contains("says no format"), err::toString);
    assertEquals(USAGE, run("convert " + stacks + " --format gif -o x"));
    Path empty = Files.writeString(folder.resolve("2"), "{\"traceEvents\":[]}");
    Path out = folder.resolve("x.folded");
    assertEquals(FAILED, run("convert " + empty + " -o " + out));
    assertFalse(Files.exists(out));
    Path cut = folder.resolve("cut");
    byte[] whole = Files.readAllBytes(SAMPLES.resolve("any-order.pb"));
    Files.write(cut, java.util.Arrays.copyOf(whole, whole.length - 3));
    assertEquals(FAILED, run("convert " + cut + " -o " + out));
    assertTrue(
        err.toString().contains("read up to where it failed: it ends too early"), err::toString);
    assertTrue(Files.size(out) > 0);
  }

  @Test
  void format_notGiven_isThatOfTheSuffixInConvertAndRecord() throws Exception {
    String stacks = Files.writeString(folder.resolve("1"), "a;b 1\n").toString();
    String replay = "record --replay " + STREAM;
    for (String command : List.of("convert " + stacks, replay)) {
      int code = command.equals(replay) ? DAMAGED : 0;
      String in = folder.resolve(command.split(" ")[0]).toString();
      for (String suffix : List.of(".pb.gz", ".PPROF", ".prof")) {
        assertEquals(code, run(command + " -o " + in + suffix), err::toString);
        byte[] bytes = Files.readAllBytes(Path.of(in + suffix));
        assertEquals(0x1F8B, (bytes[0] & 0xFF) << 8 | bytes[1] & 0xFF, in + suffix);
      }
      for (String suffix : List.of("", ".folded", ".collapsed")) {
        assertEquals(code, run(command + " -o " + in + suffix), err::toString);
        assertFalse(stacks(Path.of(in + suffix)).isEmpty(), in + suffix);
        assertTrue(
            stacks(Path.of(in + suffix)).stream().allMatch(line -> line.matches(".* [0-9]+")));
      }
      assertEquals(code, run(command + " -o " + in + ".speedscope.json"));
      assertTrue(profiles(Path.of(in + ".speedscope.json")) > 0);
      assertEquals(code, run(command + " -o " + in + ".html"));
      assertTrue(read(Path.of(in + ".html")).startsWith("<!DOCTYPE html>"));
      assertEquals(code, run(command + " -o " + in + "2.html --format folded"));
      assertFalse(stacks(Path.of(in + "2.html")).isEmpty());
      assertEquals(USAGE, run(command + " -o " + in + ".bin"));
      assertTrue(err.toString().contains(".bin says no format; end it in"), err::toString);
      assertFalse(Files.exists(Path.of(in + ".bin")));
    }
    assertEquals(USAGE, run(replay + " -o " + folder.resolve("x.flametop")));
    assertTrue(err.toString().contains("would only copy it"), err::toString);
  }

  @Test
  void sampleType_list_printsTheTypes() {
    for (String command : List.of("view", "convert")) {
      assertEquals(
          List.of("inuse_space", "alloc_objects", "alloc_space", "inuse_objects"),
          types(command, SAMPLES.resolve("no-mappings.pb.gz")));
    }
  }

  @Test
  void view_withoutOptions_asksForATerminalOnly() {
    String sample = SAMPLES.resolve("no-mappings.pb.gz").toString();
    // As the command line without options makes the command, without picocli.
    Exception thrown =
        assertThrows(
            Exception.class,
            () -> Main.withoutOptions(new String[] {"view", sample}, List.of()).call());
    assertTrue(thrown.getMessage().contains("stdout is no terminal"), thrown::toString);
  }

  @Test
  void top_ofARecording_isASummary() throws Exception {
    Path text = folder.resolve("top.txt");
    assertEquals(DAMAGED, run("top --replay " + STREAM + " -o " + text), err::toString);
    assertTrue(Files.readString(text).contains("heaviest stacks, "), () -> read(text));
    Path json = folder.resolve("top.json");
    assertEquals(DAMAGED, run("top --json --replay " + STREAM + " -o " + json));
    assertTrue(Files.readString(json).startsWith("{\"schema\":\"flametop-summary-1\""));
  }

  @Test
  void record_xstackOfARecording_hasARowForEachTaskAndPass() throws Exception {
    Path rows = folder.resolve("rows");
    String words = "record --replay " + STREAM + " --format xstack --states all -o " + rows;
    assertEquals(DAMAGED, run(words), err::toString);
    List<String> lines = Files.readAllLines(rows);
    assertEquals("timestamp|tid|tgid|comm|state|ustack|kstack", lines.get(0));
    assertTrue(lines.size() > 1, () -> read(rows));
    assertTrue(lines.stream().allMatch(line -> line.split("\\|").length == 7), () -> read(rows));
    assertEquals(USAGE, run("record -q"));
  }

  private static String read(Path path) {
    try {
      return Files.readString(path, UTF_8);
    } catch (java.io.IOException e) {
      return e.toString();
    }
  }
}

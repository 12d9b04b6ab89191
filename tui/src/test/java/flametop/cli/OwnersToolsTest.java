package flametop.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import flametop.profile.answer.FoldedStack;
import flametop.profile.answer.Snapshot;
import flametop.profile.file.StackFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import jdk.jfr.Recording;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Profiles by other programs: the total, and the own values of twenty frames at random, are those
 * that the tool of the profile's owner prints.
 */
@Timeout(300)
final class OwnersToolsTest {
  private static final Path SAMPLES =
      Path.of(System.getProperty("basedir", "."), "src/test/resources/flametop/profile/format");
  private static final int FRAMES = 20;

  @TempDir private Path folder;

  /** The values of a profile by function, and their sum. */
  private record Values(Map<String, Long> own, Map<String, Long> all, long total) {}

  private static Values read(Path path, String type) throws Exception {
    StackFile.Choice choice = new StackFile.Choice(null, type);
    try (StackFile file = StackFile.added(List.of(ReplayedStacks.open(path)), choice)) {
      Snapshot.Reading reading = file.whole().get();
      long parts = reading.measure().parts();
      Map<String, Long> own = new HashMap<>();
      Map<String, Long> all = new HashMap<>();
      long total = 0;
      for (FoldedStack stack : file.held(0).get()) {
        long value = stack.value() / parts;
        total += value;
        own.merge(stack.names()[stack.names().length - 1], value, Long::sum);
        for (String name : new HashSet<>(List.of(stack.names()))) {
          all.merge(name, value, Long::sum);
        }
      }
      return new Values(own, all, total);
    }
  }

  /** Runs a tool; a machine without the tool has no such test. */
  private String run(String line) throws Exception {
    return run(line.split(" "));
  }

  private String run(String... command) throws Exception {
    Path out = folder.resolve("out");
    try {
      Process process =
          new ProcessBuilder(command)
              .directory(folder.toFile())
              .redirectOutput(out.toFile())
              .redirectError(folder.resolve("err").toFile())
              .start();
      assertEquals(0, process.waitFor(), () -> text(folder.resolve("err")));
    } catch (IOException e) {
      assumeTrue(false, command[0] + " is not installed");
    }
    return Files.readString(out);
  }

  private static String text(Path path) {
    try {
      return Files.readString(path);
    } catch (IOException e) {
      return e.toString();
    }
  }

  private static void agree(Map<String, Long> theirs, Map<String, Long> ours, String what) {
    List<String> names = new ArrayList<>(theirs.keySet());
    assertTrue(!names.isEmpty(), what + ": the tool printed nothing");
    Collections.sort(names);
    Collections.shuffle(names, new Random(9));
    for (String name : names.subList(0, Math.min(FRAMES, names.size()))) {
      assertEquals(theirs.get(name), ours.getOrDefault(name, 0L), what + ": " + name);
    }
  }

  @Test
  void pprof_ofItsOwnTestData_isWhatPprofPrints() throws Exception {
    for (String name : List.of("any-order.pb", "no-samples-type.pb.gz")) {
      Path file = SAMPLES.resolve(name).toAbsolutePath().normalize();
      String top =
          run(
              "go tool pprof -top -unit=ms -nodefraction=0 -edgefraction=0 -nodecount=10000 -symbolize=none "
                  + file);
      Matcher rows =
          Pattern.compile(
                  "(?m)^ *([0-9.]+)(?:ms)? +[0-9.]+% +[0-9.]+% +([0-9.]+)(?:ms)? +[0-9.]+%  (.*?)(?: \\(inline\\))?$")
              .matcher(top);
      Map<String, Long> own = new HashMap<>();
      Map<String, Long> all = new HashMap<>();
      while (rows.find()) {
        // What has no name is a module there, and an address here.
        if (rows.group(3).startsWith("[")) {
          continue;
        }
        own.put(rows.group(3), Math.round(Double.parseDouble(rows.group(1)) * 1e6));
        all.put(rows.group(3), Math.round(Double.parseDouble(rows.group(2)) * 1e6));
      }
      Matcher total = Pattern.compile(" of ([0-9.]+)ms total").matcher(top);
      assertTrue(total.find(), top);
      Values ours = read(file, "");
      assertEquals(Math.round(Double.parseDouble(total.group(1)) * 1e6), ours.total, top);
      if (file.endsWith("any-order.pb")) {
        agree(own, ours.own, file.toString());
        agree(all, ours.all, file.toString());
      }
    }
  }

  @Test
  void perf_ofALoad_isWhatPerfReports() throws Exception {
    Path data = folder.resolve("perf.data");
    String load = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; seq 1 300000 >/dev/null";
    String unused =
        run("perf", "record", "-e", "cpu-clock", "-g", "-o", data.toString(), "sh", "-c", load);
    String report =
        run(
            "perf report -i "
                + data
                + " --stdio --no-children --no-demangle -g none -F period,sym -t |");
    Map<String, Long> own = new HashMap<>();
    long total = 0;
    for (String line : report.lines().filter(l -> !l.startsWith("#") && l.contains("|")).toList()) {
      String[] cells = line.split("\\|");
      long period = Long.parseLong(cells[0].strip());
      total += period;
      String name = cells[1].strip().replaceFirst("^\\[[^]]*\\] ", "");
      if (!name.startsWith("0x") && !name.equals("[unknown]")) {
        own.merge(name, period, Long::sum);
      }
    }
    Values ours = read(data, "");
    assertTrue(total > 0, report);
    assertEquals(total, ours.total, report);
    agree(own, ours.own, "perf");
  }

  @SuppressWarnings("UnusedVariable") // the compiler must not leave the work out
  private static volatile long worked;

  @Test
  void jfr_ofThisJvm_isWhatJfrPrints() throws Exception {
    Path path = folder.resolve("x.jfr");
    try (Recording recording = new Recording()) {
      recording.enable("jdk.ExecutionSample").withPeriod(java.time.Duration.ofMillis(10));
      recording.enable("jdk.ThreadPark").withStackTrace().withThreshold(java.time.Duration.ZERO);
      recording.start();
      java.util.concurrent.locks.LockSupport.parkNanos(1_000_000);
      Random random = new Random(1);
      for (int samples = 0; samples < 40_000; samples++) {
        worked = new java.math.BigInteger(2_000, random).pow(3).bitLength();
      }
      recording.stop();
      recording.dump(path);
    }
    String printed = run("jfr print --json --stack-depth 64 --events jdk.ExecutionSample " + path);
    Map<String, Long> own = new HashMap<>();
    long total = 0;
    for (JsonElement event :
        JsonParser.parseString(printed)
            .getAsJsonObject()
            .getAsJsonObject("recording")
            .getAsJsonArray("events")) {
      JsonObject values = event.getAsJsonObject().getAsJsonObject("values");
      JsonObject method =
          values
              .getAsJsonObject("stackTrace")
              .getAsJsonArray("frames")
              .get(0)
              .getAsJsonObject()
              .getAsJsonObject("method");
      String type = method.getAsJsonObject("type").get("name").getAsString().replace('/', '.');
      own.merge(type + "." + method.get("name").getAsString(), 1L, Long::sum);
      total++;
    }
    // The park came first, and is of another type: samples must not have its time.
    Values ours = read(path, "");
    assertTrue(total > 0, "no sample");
    assertEquals(total, ours.total);
    agree(own, ours.own, "jfr");
  }

  @Test
  void cpuprofile_ofEveryNode_isWhatNodeAddsUp() throws Exception {
    Path script = folder.resolve("load.js");
    Files.writeString(
        script,
        """
        function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
        function text(n) {
          let s = '';
          for (let i = 0; i < n; i++) s += String.fromCharCode(65 + i % 26);
          return JSON.stringify([s, s.length]).length;
        }
        const end = Date.now() + 400;
        while (Date.now() < end) { fib(18); text(5000); }
        """);
    // What a sample's node has by itself, by V8's own description of the format.
    Path sums = folder.resolve("sums.js");
    Files.writeString(
        sums,
        """
        const p = JSON.parse(require('fs').readFileSync(process.argv[2], 'utf8'));
        const by = new Map(p.nodes.map(n => [n.id, n])); const own = {}; let total = 0;
        let at = p.startTime; p.samples.forEach((id, i) => { at += p.timeDeltas[i];
        const to = i + 1 < p.samples.length ? at + p.timeDeltas[i + 1] : p.endTime;
        const c = by.get(id).callFrame; const took = Math.max(0, to - at); total += took;
        const url = c.url.split('/').pop();
        const name = c.functionName || `(anonymous) ${url}:${c.lineNumber + 1}`;
        own[name] = (own[name] || 0) + took; });
        console.log(JSON.stringify({own, total}));
        """);
    List<String> nodes = new ArrayList<>(List.of("node"));
    String more = System.getProperty("flametop.nodes", "");
    Stream.of(more.split(":")).filter(path -> !path.isEmpty()).forEach(nodes::add);
    Set<Path> seen = new HashSet<>();
    for (String node : nodes) {
      String unused = run(node + " --cpu-prof --cpu-prof-dir=" + folder + " " + script);
      Path profile;
      try (Stream<Path> files = Files.list(folder)) {
        profile =
            files
                .filter(path -> path.toString().endsWith(".cpuprofile") && seen.add(path))
                .findFirst()
                .orElseThrow();
      }
      JsonObject theirs =
          JsonParser.parseString(run(node + " " + sums + " " + profile)).getAsJsonObject();
      Map<String, Long> own = new HashMap<>();
      theirs
          .getAsJsonObject("own")
          .entrySet()
          .forEach(e -> own.put(e.getKey(), e.getValue().getAsLong()));
      own.remove("(root)");
      Values ours = read(profile, "");
      assertEquals(theirs.get("total").getAsLong(), ours.total, node);
      agree(own, ours.own, node);
    }
  }
}

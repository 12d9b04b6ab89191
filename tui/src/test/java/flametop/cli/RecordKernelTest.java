package flametop.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The commands as they are started, on the real kernel: needs root and the native library. */
@Tag("kernel")
@Timeout(600)
class RecordKernelTest {
  private static final String NATIVE = System.getProperty("flametop.native.dir", "");
  private static final String THEMES = System.getProperty("flametop.themes.dir", "");

  @TempDir private Path folder;

  private final List<Process> started = new ArrayList<>();

  /** How a command ended. */
  private record Ended(int code, String out, String err) {}

  private Process start(String... args) throws IOException {
    return start(List.of(), NATIVE, args);
  }

  private Process start(List<String> prefix, String nativeFolder, String... args)
      throws IOException {
    List<String> command = new ArrayList<>(prefix);
    // A runner in the background may have switched them off.
    command.addAll(List.of("env", "--default-signal=INT,HUP"));
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-XX:+UseSerialGC", "-Dflametop.native.dir=" + nativeFolder));
    command.addAll(List.of("-Dflametop.themes.dir=" + THEMES, "-cp"));
    command.add(System.getProperty("java.class.path"));
    command.add("flametop.cli.Main");
    command.addAll(List.of(args));
    Process process =
        new ProcessBuilder(command)
            .redirectOutput(folder.resolve("stdout").toFile())
            .redirectError(folder.resolve("stderr").toFile())
            .start();
    started.add(process);
    return process;
  }

  private Ended await(Process process) throws IOException, InterruptedException {
    int code = process.waitFor();
    Ended ended =
        new Ended(
            code,
            Files.readString(folder.resolve("stdout"), StandardCharsets.UTF_8),
            Files.readString(folder.resolve("stderr"), StandardCharsets.UTF_8));
    assertFalse(ended.err.contains("\tat "), ended.err);
    assertFalse(ended.err.contains("does not add up"), ended.err);
    return ended;
  }

  private Ended run(String... args) throws IOException, InterruptedException {
    return await(start(args));
  }

  /**
   * @param line words with a space between two
   */
  private Ended record(String line) throws IOException, InterruptedException {
    return run(("record " + line).split(" "));
  }

  private Process startRecord(String line) throws IOException {
    return start(("record " + line).split(" "));
  }

  /** The lines of stacks, without those that say where they come from. */
  private static Stream<String> stacks(String folded) {
    return folded.lines().filter(line -> !line.startsWith("# "));
  }

  private Process other(String... command) throws IOException {
    Process process = new ProcessBuilder(command).start();
    started.add(process);
    return process;
  }

  /** Waits until the recording has come so far that its file is begun. */
  private void awaitPart(long bytes) throws IOException, InterruptedException {
    while (part() < bytes) {
      TimeUnit.MILLISECONDS.sleep(5);
    }
  }

  /** Bytes that are recorded so far; -1 before the file is begun. */
  private long part() throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.filter(f -> f.toString().endsWith(".part")).toList()) {
        return Files.size(file);
      }
    }
    return -1;
  }

  @AfterEach
  void nothingIsLeft() throws IOException {
    started.forEach(Process::destroyForcibly);
    try (Stream<Path> files = Files.list(folder)) {
      assertTrue(files.noneMatch(f -> f.toString().endsWith(".part")), "no part is left");
    }
  }

  @Test
  void check_root_possible() throws Exception {
    Ended ended = run("check");
    assertEquals(0, ended.code, ended.out + ended.err);
    assertTrue(ended.out.endsWith("flametop can sample here\n"), ended.out);
  }

  @Test
  void selfTest_root_works() throws Exception {
    Ended ended = run("--self-test");
    assertEquals(0, ended.code, ended.out + ended.err);
    for (String what : List.of("helper", "stacks on a CPU", "stacks asleep", "uprobe", "USDT")) {
      assertTrue(ended.out.contains("\nok  " + what + " "), what + ":\n" + ended.out);
    }
    assertTrue(ended.out.endsWith("flametop works here\n"), ended.out);
  }

  @Test
  void record_sleeper_fromTheProcessToTheKernel() throws Exception {
    Ended ended = record("-p " + other("sleep", "100").pid() + " --states S -i 5");
    assertEquals(0, ended.code, ended.err);
    assertTrue(stacks(ended.out).allMatch(line -> line.matches("sleep;.* [0-9]+")), ended.out);
    String slept = ".*;clock_nanosleep;.*hrtimer_nanosleep_\\[k\\] [0-9]+";
    assertTrue(ended.out.lines().anyMatch(line -> line.matches(slept)), ended.out);
    assertTrue(ended.err.contains("passes   "), ended.err);
  }

  @Test
  void record_filterThatMatchesNothing_saysSoAndWritesNoStack() throws Exception {
    Ended ended = record("-c no-such-comm -i 3");
    assertEquals(0, ended.code, ended.err);
    assertEquals(0, stacks(ended.out).count(), ended.out);
    assertTrue(
        ended.err.contains(
            "wrote nothing: no task of this target matched comm no-such-comm in these states;"
                + " --states all takes those that sleep, too"),
        ended.err);
    ended = record("-c no-such-comm --states all --by thread -i 3");
    assertEquals(0, ended.code, ended.err);
    assertTrue(ended.err.contains("matched comm no-such-comm\n"), ended.err);
  }

  @Test
  void record_sourceWithoutEvents_saysThatNoneCame() throws Exception {
    long pid = other("sleep", "100").pid();
    Ended ended = record("-p " + pid + " -e tracepoint:sched:sched_process_exit -d 1");
    assertEquals(0, ended.code, ended.err);
    assertTrue(ended.out.contains("# exact total: 0\n"), ended.out);
    assertTrue(ended.err.contains("wrote nothing: no event came\n"), ended.err);
  }

  @Test
  void record_sourceThatTheMachineLacks_isNamedWithTheReason() throws Exception {
    Ended ended = record("-e tracepoint:sched:sched_process_exits -d 1");
    assertEquals(3, ended.code, ended.err);
    assertTrue(
        ended.err.contains(
            "-e tracepoint:sched:sched_process_exits: there is no tracepoint"
                + " sched:sched_process_exits; did you mean sched_process_exit"),
        ended.err);
  }

  @Test
  void record_byThread_processAndThread() throws Exception {
    long pid = other("sleep", "100").pid();
    Ended ended = record("-t " + pid + " --by thread --unit samples -i 5");
    assertEquals(0, ended.code, ended.err);
    String start = "sleep-" + pid + ";sleep-" + pid + ";";
    assertTrue(stacks(ended.out).allMatch(line -> line.startsWith(start)), ended.out);
    assertTrue(stacks(ended.out).count() > 0, ended.err);
  }

  @Test
  void record_byAncestor_aForkStormStandsBelowWhoStartedIt() throws Exception {
    Path script = folder.resolve("storm.sh");
    Files.writeString(
        script,
        "i=0; while [ $i -lt 60000 ]; do x=$(/bin/echo a | /bin/cat); /bin/true; i=$((i+1)); done");
    // By its name a starter, so that who runs this test is no ancestor.
    Path tini = Files.copy(Path.of("/bin/sh"), folder.resolve("tini"));
    Process starter = other(tini.toString(), "-c", "/bin/sh " + script + " & echo $!; wait");
    String storm = starter.inputReader().readLine();
    Path output = folder.resolve("out.folded");
    // Children that lived when the recording began may have had parents that were not known yet:
    // on a machine that is loaded these are some tenths of a second.
    Ended ended = record("-a -d 10 --by ancestor --states all -o " + output);
    assertEquals(0, ended.code, ended.err);
    assertTrue(starter.isAlive(), "it was recorded from beginning to end");
    String own = "sh_storm.sh-" + storm + ";";
    long below = 0;
    long beside = 0;
    boolean hasLoop = false;
    for (String line : stacks(Files.readString(output)).toList()) {
      long weight = Long.parseLong(line.substring(line.lastIndexOf(' ') + 1));
      boolean isChild = line.matches("[^;]+;(echo|cat|true);.*");
      hasLoop |= line.startsWith(own + "sh_storm.sh;");
      below += isChild && line.startsWith(own) ? weight : 0;
      beside += isChild && line.matches("(echo|cat|true)-.*") ? weight : 0;
    }
    ProcessHandle.of(Long.parseLong(storm)).ifPresent(ProcessHandle::destroyForcibly);
    assertTrue(hasLoop, "the loop itself stands there too");
    assertTrue(below > 100_000, below + " µs below the loop");
    assertTrue(beside < below / 20, beside + " µs on their own, " + below + " below the loop");
  }

  @Test
  void record_signals_writtenAndInterrupted() throws Exception {
    for (Map.Entry<String, Integer> of : Map.of("INT", 130, "TERM", 143, "HUP", 129).entrySet()) {
      String signal = of.getKey();
      Path out = folder.resolve(signal + ".folded");
      Process process = startRecord("--states all -o " + out);
      awaitPart(0);
      other("kill", "-" + signal, String.valueOf(process.pid())).waitFor();
      Ended ended = await(process);
      assertEquals(of.getValue(), ended.code, signal + ": " + ended.err);
      assertTrue(Files.exists(out), ended.err);
    }
  }

  @Test
  void record_streamInterrupted_replayable() throws Exception {
    Path out = folder.resolve("out.flametop");
    Process process = startRecord("--format flametop -o " + out);
    awaitPart(2_000);
    other("kill", "-INT", String.valueOf(process.pid())).waitFor();
    Ended ended = await(process);
    assertEquals(130, ended.code, ended.err);

    String replay = "--replay " + out + " --states all --by thread";
    Ended first = record(replay);
    Ended second = record(replay);
    assertEquals(0, first.code, first.err);
    assertTrue(stacks(first.out).count() > 0, first.err);
    assertEquals(first.out, second.out, "a replay is the same each time");
    Ended filtered =
        run("record", "--replay", out.toString(), "--states", "all", "-c", "no such comm");
    assertEquals(0, stacks(filtered.out).count());
  }

  @Test
  void record_stoppedForSeconds_whatWasMissedAddsUp() throws Exception {
    Process busy = other("sh", "-c", "while :; do :; done");
    Path out = folder.resolve("out.flametop");
    Process process = startRecord("--format flametop --cpu-hz 499 -o " + out);
    awaitPart(2_000);
    String pid = String.valueOf(process.pid());
    other("kill", "-STOP", pid).waitFor();
    TimeUnit.SECONDS.sleep(2);
    // Tasks whose ends, and samples, nobody takes meanwhile.
    for (int i = 0; i < 50; i++) {
      other("true").waitFor();
    }
    other("kill", "-CONT", pid).waitFor();
    // What is late is told by the next pass, and none is made after the signal.
    for (int batches = 0; batches < 5; batches++) {
      awaitPart(part() + 1);
    }
    other("kill", "-INT", pid).waitFor();
    Ended ended = await(process);
    busy.destroyForcibly();
    assertEquals(130, ended.code, ended.err);
    assertTrue(ended.err.matches("(?s).* made \\+ [1-9][0-9,]* late\n.*"), ended.err);
  }

  @Test
  void record_targetEndsEarly_writtenAndSaysSo() throws Exception {
    Process sleeper = other("sleep", "100");
    Path out = folder.resolve("out.flametop");
    long pid = sleeper.pid();
    Process process = startRecord("-p " + pid + " -d 60 --format flametop -o " + out);
    awaitPart(1_500);
    sleeper.destroyForcibly().waitFor();
    Ended ended = await(process);
    assertEquals(4, ended.code, ended.err);
    assertTrue(ended.err.contains("pid " + pid + " ended early"), ended.err);
    assertTrue(Files.exists(out));
  }

  @Test
  void record_noCapabilities_notPossible() throws Exception {
    List<String> without = List.of("setpriv", "--bounding-set", "-all", "--inh-caps", "-all");
    Ended ended = await(start(without, NATIVE, "record", "-d", "1"));
    assertEquals(3, ended.code, ended.err);
    assertEquals(1, ended.err.lines().count(), ended.err);
    Ended check = await(start(without, NATIVE, "check"));
    assertEquals(3, check.code, check.out + check.err);
    assertTrue(check.out.contains("-> "), check.out);
  }

  @Test
  void record_symbolizerMissing_notPossible() throws Exception {
    Path lame = Files.createDirectory(folder.resolve("native"));
    Files.copy(Path.of(NATIVE, "libflametop.so"), lame.resolve("libflametop.so"));
    Ended ended = await(start(List.of(), lame.toString(), "record", "-d", "1"));
    assertEquals(3, ended.code, ended.err);
    assertTrue(
        ended.err.contains("the symbolizer " + lame.resolve("flametop-symbolizer")), ended.err);
  }

  @Test
  void record_hostileComm_noControlCharacters() throws Exception {
    Process hostile =
        other("bash", "-c", "printf '\\033]0;x\\007\\n;a b' >/proc/self/comm; read -r _");
    Ended ended = record("-p " + hostile.pid() + " --states all -i 5");
    assertEquals(0, ended.code, ended.err);
    assertTrue(stacks(ended.out).count() > 0, ended.err);
    assertTrue(
        (ended.out + ended.err)
            .chars()
            .allMatch(c -> c == '\n' || c >= 0x20 && c != 0x7F && !(c >= 0x80 && c < 0xA0)));
    assertTrue(stacks(ended.out).allMatch(line -> line.matches("[^; ]+;.* [0-9]+")), ended.out);
  }

  @Test
  void record_fullDisk_nothingHalfWrittenAndNothingLost() throws Exception {
    Path disk = Files.createDirectory(folder.resolve("disk"));
    assertEquals(
        0, other("mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", disk.toString()).waitFor());
    try {
      Path out = disk.resolve("out.folded");
      Ended ended = record("--states all -d 1 -o " + out);
      assertEquals(1, ended.code, ended.err);
      assertTrue(ended.err.contains("No space left on device; make room"), ended.err);
      assertTrue(stacks(ended.out).count() > 0, "the stacks are on stdout");
      try (Stream<Path> files = Files.list(disk)) {
        assertEquals(List.of(), files.toList());
      }

      Path stream = disk.resolve("out.flametop");
      ended = record("--format flametop -d 30 -o " + stream);
      assertEquals(1, ended.code, ended.err);
      assertTrue(ended.err.contains("what came before is kept there"), ended.err);
      assertEquals(0, record("--replay " + stream).code);
    } finally {
      other("umount", disk.toString()).waitFor();
    }
  }
}

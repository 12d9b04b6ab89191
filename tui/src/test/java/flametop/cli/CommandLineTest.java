package flametop.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.profile.answer.StateSet;
import flametop.sampler.KernelSource;
import flametop.sampler.KernelSource.CheckLine;
import flametop.sampler.State;
import flametop.sampler.Target;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** What the command line says to what it is given, without sampling anything. */
@Timeout(600)
class CommandLineTest {
  @TempDir private Path folder;

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private ExitCode run(String... args) {
    CommandLine line = Main.commandLine(new Interruption(), List.of());
    line.setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true));
    int number = line.execute(args);
    return java.util.Arrays.stream(ExitCode.values())
        .filter(code -> code.number() == number)
        .findFirst()
        .orElseThrow();
  }

  /**
   * @param line words with a space between two
   */
  private void refused(ExitCode code, String message, String line) {
    refused(code, message, line.split(" "));
  }

  private void refused(ExitCode code, String message, String[] args) {
    err.getBuffer().setLength(0);
    assertEquals(code, run(args), () -> String.join(" ", args) + ": " + err);
    String text = err.toString();
    assertEquals(1, text.lines().count(), text);
    assertTrue(text.startsWith("flametop: ") && text.contains(message), text);
    assertFalse(text.contains("\tat "), text);
  }

  private void misused(String message, String line) {
    refused(ExitCode.USAGE, message, line);
  }

  @Test
  void rates_outOfRange_whatWhichValueWhatIsAllowed() {
    misused("'-F': '0' is no whole number from 1 to 999", "-F 0");
    misused("several numbers of processes or threads stand behind one -p or -t", "-p 1 2 3");
    misused("several numbers of processes", "record -p 1 2");
    misused("Unmatched argument", "record -p 1 2 x");
    misused("'-F': '1e9' is no whole number from 1 to 999", "-F 1e9");
    misused("'-F': 'x' is no whole number from 1 to 999", "record -F x");
    misused("'--cpu-hz': '-1' is no whole number from 0 to 999", "record --cpu-hz -1");
    misused("'--cpu-hz': '99999999999999' is no", "--cpu-hz 99999999999999");
  }

  @Test
  void otherValues_wrong_whatIsAllowed() {
    misused("'--states': 'lazy' is none of busy, on, off, all", "--states lazy");
    misused("'--states': 'run,' is none of", "record --states run,");
    misused("'--by': 'pid' is none of none, service, comm, process, thread", "record --by pid");
    misused("'--unit': 'ms' is none of us, samples", "record --unit ms");
    misused(
        "'--format': 'png' is none of folded, speedscope, pprof, html, svg, text, json, xstack, flametop",
        "record --format png");
    misused("'-d': '0' is no number of seconds", "record -d 0");
    misused("'-d': 'NaN' is no number of seconds", "record -d NaN");
    misused("'-i': '0' is no whole number from 1", "record -i 0");
    misused("'--refresh': '0' is no number from 0.1 to 60", "--refresh 0");
    misused("'--history': '1' is no whole number from 4 to 256", "--history 1");
    misused("'abc' is no number from 1 to 4194304", "-p abc");
    misused("'0' is no number from 1 to 4194304", "record -t 0");
  }

  @Test
  void options_thatDoNotGoTogether_refused() {
    misused("-a, -p, -t and --cgroup name different targets", "record -a -p 1");
    misused("-d and -i both say when to end", "record -d 1 -i 1");
    misused("--replay has its own target", "record --replay x -p 1");
    misused("--replay has the rates of its", "record --replay x -F 9");
    misused("--replay has the rates of its", "--replay x --cpu-hz 0");
    misused("--replay ends where the recording does", "record --replay x -d 1");
    misused("--replay-speed goes with --replay", "record --replay-speed 2");
    misused("a stream (.flametop) holds all that is sampled", "record --format flametop -c sh");
    misused("a stream (.flametop) holds all that is sampled", "record -o x.flametop -c sh");
    misused("Unknown option: '--bogus'", "--bogus");
    misused("Unmatched argument", "record extra");
  }

  @Test
  void options_beforeACommand_refusedRatherThanDropped() {
    misused("--replay stands before record; options come after it", "--replay x record");
    misused("-p stands before record", "-p 1 record -d 1");
    assertEquals(ExitCode.DONE, run("--help", "record"));
  }

  @Test
  void names_ofFilesWithEscapes_areCleaned() throws IOException {
    Path stream = Files.writeString(folder.resolve("\033]0;x\007"), "FLAMETOP");
    refused(ExitCode.FAILED, "does not begin as a flametop stream does", "diff " + stream + " x");
    assertTrue(err.toString().chars().noneMatch(c -> c == 0x1B || c == 7), err.toString());
  }

  @Test
  void targets_listOfNothing_refusedRatherThanAllTasks() {
    for (String option : List.of("-p", "-t")) {
      for (String list : List.of(",", "1,", ",1", "1,,2")) {
        misused("is no number from 1 to", "record " + option + " " + list);
      }
    }
  }

  @Test
  void targets_numbersBetweenCommasBlanksOrLineEnds_areAList() {
    for (String list :
        List.of("4194304,1", "4194304, 1", "4194304 1", "4194304\n1", "1\n4194304\n")) {
      refused(
          ExitCode.TARGET_GONE, "there is no process 4194304", new String[] {"record", "-p", list});
    }
  }

  @Test
  void target_notThere_gone() {
    refused(
        ExitCode.TARGET_GONE, "there is no process 4194304; ps -eLf lists", "record -p 4194304");
    refused(ExitCode.TARGET_GONE, "there is no thread 4194304", "record -t 4194304");
  }

  @Test
  void target_givenTwice_isOne() {
    assertEquals("pid 7,8", Target.processes(List.of(7, 8, 7)).fact());
    assertEquals("tid 9", Target.threads(List.of(9, 9)).fact());
  }

  @Test
  void isThere_livingAndUnreapedAndNone_onlyTheLiving() throws Exception {
    assertTrue(
        TargetOptions.isThere(Target.processes(List.of((int) ProcessHandle.current().pid()))));
    assertFalse(TargetOptions.isThere(Target.processes(List.of(4_194_304))));
    // The shell becomes a sleep, which reaps no child; the child ends only after that.
    Process parent =
        new ProcessBuilder("sh", "-c", "sleep 0.3 & echo $!; exec sleep 100 >&-").start();
    try {
      int child = Integer.parseInt(parent.inputReader().readLine());
      while (!Files.readString(Path.of("/proc/" + child + "/status")).contains("State:\tZ")) {
        Thread.sleep(5);
      }
      assertFalse(TargetOptions.isThere(Target.processes(List.of(child))));
    } finally {
      parent.destroyForcibly();
    }
  }

  /** Does something while the native library is looked for in the folder of the test. */
  private void withNativeFolder(Runnable does) {
    String before = System.setProperty("flametop.native.dir", folder.toString());
    try {
      does.run();
    } finally {
      if (before != null) {
        System.setProperty("flametop.native.dir", before);
      }
    }
  }

  @Test
  void nativeLibrary_missing_oneLineWithTheRemedy() {
    withNativeFolder(
        () -> {
          String missing =
              "the native library " + folder.resolve("libflametop.so") + " is missing: build it";
          refused(ExitCode.NOT_POSSIBLE, missing, "record -d 1");
          refused(ExitCode.NOT_POSSIBLE, missing, "check");
          System.clearProperty("flametop.native.dir");
          refused(ExitCode.NOT_POSSIBLE, "start flametop by its launcher", "check");
        });
  }

  @Test
  void nativeLibrary_notALibrary_oneLineWithTheRemedy() throws IOException {
    Files.writeString(folder.resolve("libflametop.so"), "not a library");
    withNativeFolder(() -> refused(ExitCode.NOT_POSSIBLE, "apt install libelf1 zlib1g", "check"));
  }

  @Test
  void user_unknown_saysSo() throws IOException {
    Path stream =
        Files.copy(
            Path.of(
                System.getProperty("basedir", "."), "../sampler-native/stream/golden/v1.flametop"),
            folder.resolve("s"));
    misused("there is no such user", "record --replay " + stream + " -u no-such\u001Buser");
  }

  @Test
  void output_existsOrCannotBe_refusedBeforeSampling() throws IOException {
    Path old = Files.writeString(folder.resolve("old"), "old");
    refused(ExitCode.FAILED, "exists and was kept; --force replaces it", "record -d 1 -o " + old);
    assertEquals("old", Files.readString(old));
    refused(
        ExitCode.FAILED, "does not exist; make it first", "record -o " + folder.resolve("no/out"));
    refused(ExitCode.FAILED, "not a plain file", "record --force -o /dev/zero");
  }

  @Test
  void replay_badFile_oneLine() throws IOException {
    refused(ExitCode.FAILED, "does not exist", "record --replay " + folder.resolve("none"));
    refused(
        ExitCode.FAILED, folder + " is no plain file; --replay takes", "record --replay " + folder);
    Path junk = Files.writeString(folder.resolve("junk"), "not a stream at all, but long enough");
    refused(
        ExitCode.FAILED,
        "is damaged at byte 0: it does not begin as a flametop stream does",
        "record --replay " + junk);
  }

  @Test
  void screen_noTerminal_saysToUseRecord() {
    // Under a test runner stdout is a pipe or a file.
    if (!Terminals.isStdout() || !Terminals.isStdin()) {
      misused("`flametop record` samples without", "-a");
    }
  }

  @Test
  void events_listed_tabsBetweenAndNoneEndsWithFour() {
    StringWriter text = new StringWriter();
    PrintWriter writer = new PrintWriter(text);
    EventsCommand.print(
        new KernelSource.SourceList(
            1, List.of(new KernelSource.ListedSource("cycles", "cycles of it", "no vPMU"))),
        "cyc",
        writer);
    assertEquals("cycles\tcycles of it\tno vPMU", text.toString().strip());
    Failure.Ends none =
        assertThrows(
            Failure.Ends.class,
            () -> EventsCommand.print(new KernelSource.SourceList(0, List.of()), "x\ny", writer));
    assertEquals(ExitCode.TARGET_GONE, Failure.of(none).code());
    assertTrue(Failure.of(none).message().contains("flametop events lists all"));
  }

  private List<String> helps() {
    List<String> texts = new ArrayList<>();
    for (String line : List.of("--help", "record --help", "view --help", "diff --help")) {
      out.getBuffer().setLength(0);
      assertEquals(ExitCode.DONE, run(line.split(" ")));
      texts.add(out.toString());
    }
    return texts;
  }

  @Test
  void help_both_fitAScreenWithThreeExamples() {
    for (String text : helps()) {
      List<String> lines = text.lines().toList();
      assertTrue(lines.size() <= 24, () -> lines.size() + " lines");
      lines.forEach(line -> assertTrue(line.length() <= 80, line));
      int examples = lines.indexOf("Examples:");
      assertEquals(
          3,
          lines.subList(examples + 1, lines.size()).stream()
              .filter(line -> line.startsWith("  "))
              .count());
    }
  }

  @Test
  void help_examples_areValid() {
    for (String text : helps()) {
      text.lines()
          .filter(line -> line.matches("  (flametop |.*[|] flametop ).*"))
          .map(
              line ->
                  line.substring(line.indexOf("flametop "))
                      .split(" {2,}")[0]
                      .replaceAll(" [|>].*", "")
                      .split(" "))
          .forEach(
              words ->
                  Main.commandLine(new Interruption(), List.of())
                      .parseArgs(java.util.Arrays.copyOfRange(words, 1, words.length)));
    }
  }

  @Test
  void states_listsAndSets_parsed() {
    StatesOptions.States states = new StatesOptions.States();
    assertEquals(StateSet.BUSY, states.convert("busy"));
    assertEquals(
        StateSet.of(State.RUN, State.QUEUED, State.DISK, State.SLEEP),
        states.convert("run,queued,D,S"));
    assertEquals(StateSet.ALL, states.convert("R,runq,s,d,t,z,p,other"));
  }

  @Test
  void check_lines_alignedWithTheRemedy() {
    PrintWriter writer = new PrintWriter(out);
    List<CheckLine> lines =
        List.of(
            new CheckLine(true, true, "kernel", "6.18.0", ""),
            new CheckLine(false, false, "idle states", "no cpuidle driver", "none is needed"));
    assertEquals(ExitCode.DONE, CheckCommand.print(lines, "can sample", "cannot sample", writer));
    writer.flush();
    assertEquals(
        """
        ok  kernel       6.18.0
        no  idle states  no cpuidle driver
                         -> none is needed
        flametop can sample here
        """,
        out.toString());
    assertEquals(
        ExitCode.NOT_POSSIBLE,
        CheckCommand.print(
            List.of(new CheckLine(false, true, "BTF", "missing", "CONFIG_DEBUG_INFO_BTF=y")),
            "can sample",
            "cannot sample",
            writer));
    writer.flush();
    assertTrue(
        out.toString().endsWith("flametop cannot sample here: see the lines marked no\n"),
        out.toString());
  }

  @Test
  void balance_sums_inPlainWords() {
    long[] counters = new long[flametop.sampler.Counter.values().length];
    java.util.Arrays.setAll(
        counters,
        i ->
            new long[] {10, 2, 8, 800, 50, 700, 20, 20, 4, 3, 2, 1, 100, 90, 80, 5, 3, 2}
                [Math.min(i, 17)]);
    assertEquals(
        List.of(
            "passes   10 due = 8 made + 2 late",
            "tasks    800 seen in all passes = 50 with a new stack + 700 unchanged + 20 on a CPU + 20 idle kernel threads + 10 failed"
                + " (4 mm busy, 3 torn, 2 faulted, 1 exited)",
            "samples  90 of the CPU clock = 80 placed + 5 without a stack + 3 lost + 2 not fetched"),
        new Balance(counters).lines());
    counters[1] = 3;
    assertTrue(
        new Balance(counters).lines().get(0).endsWith("(this does not add up; please report it)"));
  }

  @Test
  void failure_unexpected_oneLineAndNoTrace() {
    Failure failure = Failure.of(new IllegalStateException("a\nb\u001B"));
    assertEquals(ExitCode.FAILED, failure.code());
    assertEquals(1, failure.message().lines().count());
    assertTrue(failure.message().contains("please report it"), failure::message);
  }

  private Path file(String name, String text) throws IOException {
    return Files.writeString(folder.resolve(name), text);
  }

  private ExitCode diff(Path before, Path now, String options) {
    String line = "diff " + before + " " + now + " --force -o " + folder.resolve("out") + options;
    return run(line.split(" "));
  }

  private ExitCode diff(Path before, Path now) {
    return diff(before, now, "");
  }

  private List<String> written() throws IOException {
    return Files.readAllLines(folder.resolve("out"));
  }

  @Test
  void diff_ofAnInputWithoutStacks_failsAndWritesNothing() throws IOException {
    Path good = file("good", "a;b 1\n");
    for (String text : List.of("", "no stack\n", "a;b 0\n", "{\n\"a\": 12\n}\n", "# x\n")) {
      Path bad = file("bad", text);
      for (Path[] files : new Path[][] {{bad, good}, {good, bad}}) {
        err.getBuffer().setLength(0);
        assertEquals(ExitCode.FAILED, diff(files[0], files[1]), text);
        assertFalse(Files.exists(folder.resolve("out")), text);
        assertTrue(err.toString().contains("bad"), err::toString);
        assertTrue(err.toString().contains("nothing to compare"), err::toString);
      }
    }
  }

  @Test
  void diff_ofADamagedInput_writesWhatThereIsAndFails() throws IOException {
    Path cut = folder.resolve("cut.gz");
    try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(cut))) {
      out.write("a;b 1\n".getBytes(StandardCharsets.UTF_8));
      out.flush();
    }
    byte[] bytes = Files.readAllBytes(cut);
    bytes[bytes.length - 6] ^= 1;
    Files.write(cut, bytes);
    assertEquals(ExitCode.FAILED, diff(cut, file("good", "a;b 2\n")));
    assertEquals(List.of("a;b 1 2"), written());
    assertTrue(err.toString().contains("damaged gzip data"), err::toString);
  }

  @Test
  void diff_written_hasTheNumbersAsTheyAre() throws IOException {
    Path before = file("before", "a;b 9007199254740993\n<module> (x.py:24);f 0.5\n");
    Path now = file("now", "a;b 1\na;c 999999999999999\n");
    assertEquals(ExitCode.DONE, diff(before, now));
    assertEquals(
        List.of("<module> (x.py:24);f 0.5 0", "a;b 9007199254740993 1", "a;c 0 999999999999999"),
        written());
  }

  /** As difffolded.pl does: without what is less than one. */
  @Test
  void diff_scaled_hasWhatDifffoldedHas() throws IOException {
    Path before = file("before", "a;b 2\na;c 1\na;d 9000000000000000\n");
    Path now = file("now", "a;b 3\na;c 2\na;e 5999999999999998\n");
    assertEquals(ExitCode.DONE, diff(before, now, " -n"));
    // Totals of 9000000000000003 and 6000000000000003.
    assertEquals(
        List.of("a;b 1 3", "a;c 0 2", "a;d 6000000000000000 0", "a;e 0 5999999999999998"),
        written());
    Path same = file("same", "a;b 2.5\n");
    assertEquals(ExitCode.DONE, diff(same, same, " -n"));
    assertEquals(List.of("a;b 2.5 2.5"), written());
    assertEquals(ExitCode.DONE, diff(same, file("twice", "a;b 3.5\na;c 1.5\n"), " -n"));
    assertEquals(List.of("a;b 5 3.5", "a;c 0 1.5"), written());
  }

  @Test
  void comm_ofDiff_takesBothWays() throws IOException {
    Path one = file("one", "a b;c 1\n");
    for (String option : List.of("--comm", "--no-comm")) {
      assertEquals(ExitCode.DONE, diff(one, one, " " + option), err::toString);
      assertEquals(List.of("a b;c 1 1"), written());
    }
  }

  @Test
  void themeList_anyCommandWithAScreen_namesOneALineAndNoScreen() throws IOException {
    Path file = file("a.folded", "a;b 1\n");
    for (String command : List.of("", "view " + file, "diff " + file + " " + file)) {
      String line = (command + " --theme list").strip();
      out.getBuffer().setLength(0);
      assertEquals(ExitCode.DONE, run(line.split(" ")), () -> line + ": " + err);
      List<String> names = out.toString().lines().toList();
      assertTrue(
          names.containsAll(
              List.of("dark", "ember", "fjord", "light", "mono", "paper", "safe", "terminal")),
          names.toString());
      assertEquals("", err.toString());
    }
  }
}

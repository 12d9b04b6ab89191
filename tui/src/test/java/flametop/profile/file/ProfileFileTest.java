package flametop.profile.file;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import flametop.profile.answer.FoldedStack;
import flametop.profile.answer.NodeKind;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.zip.GZIPInputStream;
import jdk.jfr.Recording;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Profiles of other programs: what is read of them, what is said of what cannot be. */
@Timeout(120)
class ProfileFileTest extends StackFileFixture {
  private static byte[] resource(String name) throws IOException {
    try (InputStream in =
        ProfileFileTest.class.getResourceAsStream("/flametop/profile/format/" + name)) {
      assertNotNull(in, name);
      return in.readAllBytes();
    }
  }

  @Test
  void pprof_inAnyOrderOfItsFields_isReadWithAllTypes() throws Exception {
    byte[] bytes = resource("any-order.pb");
    Profile cpu = profile(bytes, "");
    assertEquals("ns", cpu.unit());
    assertEquals(1_760_000_000, cpu.total());
    assertEquals(List.of("shown: cpu; --sample-type shows another: samples"), cpu.notices());
    Profile samples = profile(bytes, "samples");
    assertEquals("samples", samples.unit());
    assertEquals(176, samples.total());
    assertEquals("15", samples.stacks().get("runtime.main;main.main;main.busyLoop"));
    FoldedStack stack = samples.held().get(0);
    assertEquals("sample.bin", stack.modules()[0]);
    Profile other = profile(bytes, "heap");
    assertEquals(0, other.total());
    assertTrue(
        other.notices().get(0).endsWith("it has no sample type heap; it has samples, cpu"),
        other.notices()::toString);
  }

  @Test
  void pprof_withoutNames_hasAddresses() throws Exception {
    Profile heap = profile(resource("no-mappings.pb.gz"), "alloc_space");
    assertEquals("bytes", heap.unit());
    assertEquals(818_615 + 947_340, heap.total());
    assertTrue(
        heap.stacks().containsKey("0x104e541;0x1027bfa;0x10cd9fa;0x10ce058;0x103caee;0x103cbf8"),
        heap.stacks()::toString);
    assertEquals(NodeKind.USER, heap.held().get(0).kinds()[0]);
    Profile cpu = profile(resource("no-samples-type.pb.gz"), "");
    assertEquals(7_120_000_000.0, cpu.total());
    assertTrue(
        cpu.held().stream()
            .anyMatch(s -> Arrays.asList(s.modules()).contains("cppbench_server_main")),
        "no module");
  }

  @Test
  void pprof_thatIsCut_isReadUpToThere() throws Exception {
    byte[] bytes = resource("any-order.pb");
    int cutInWords = 0;
    for (int length = 100; length < bytes.length; length += 13) {
      Profile cut = profile(Arrays.copyOf(bytes, length), "");
      assertTrue(cut.total() <= 1_760_000_000, "all of it");
      cutInWords += cut.notices().toString().contains("it ends too early") ? 1 : 0;
    }
    // Where one field ends nothing tells that others followed.
    assertTrue(cutInWords > (bytes.length - 100) / 13 / 2, () -> "not said");
  }

  @Test
  void pprof_withNumbersOutOfRange_saysWhatIsMissing() throws Exception {
    byte[] types = {0x0A, 4, 0x08, 99, 0x10, 1};
    // A sample of locations 7 and 1, value 3; location 1 with function 5, which is not there.
    byte[] sample = {0x12, 7, 0x0A, 2, 7, 1, 0x12, 1, 3};
    byte[] negative = {0x12, 15, 0x0A, 1, 1, 0x12, 10, -1, -1, -1, -1, -1, -1, -1, -1, -1, 1};
    byte[] location = {0x22, 6, 0x08, 1, 0x22, 2, 0x08, 5};
    byte[] strings = {0x32, 0, 0x32, 5, 'c', 'o', 'u', 'n', 't'};
    Profile profile = profile(joined(types, sample, negative, location, strings), "");
    assertEquals(Map.of("[no location];[no location]", "3"), profile.stacks());
    assertEquals(
        List.of(
            "2 frames refer to a location or function that the file does not have: [no location]",
            "1 stack is left out: its number is negative"),
        profile.notices());
  }

  @Test
  void speedscope_eventedAndSampled_areOneGraphByProfile() throws Exception {
    Profile profile =
        json(
            "{'profiles':[{'type':'evented','name':'one','unit':'none','startValue':0,'endValue':14,"
                + "'events':[{'type':'O','frame':0,'at':0},{'type':'O','frame':1,'at':0},"
                + "{'type':'C','frame':1,'at':5},{'type':'O','frame':2,'at':7},"
                + "{'at':9,'frame':2,'type':'C'},{'type':'C','frame':0,'at':14}]},"
                + "{'type':'sampled','name':'two','unit':'none','samples':[[0,1],[0],[0,1]],"
                + "'weights':[1,0.25,2]}],"
                + "'shared':{'frames':[{'name':'a'},{'name':'b','file':'x/b.js'},{'name':'c'}]},"
                + "'$schema':'https://www.speedscope.app/file-format-schema.json'}");
    assertEquals(
        Map.of("one;a", "7", "one;a;b", "5", "one;a;c", "2", "two;a", "0.25", "two;a;b", "3"),
        profile.stacks());
    assertEquals(NodeKind.PROCESS, profile.held().get(0).kinds()[0]);
    assertEquals("b.js", profile.held().get(1).modules()[2]);
    assertEquals("samples", profile.unit());
    assertEquals(List.of(), profile.notices());
  }

  @Test
  void speedscope_functionsThatNeverEnd_lastUntilTheProfilesEnd() throws Exception {
    String text =
        "{'shared':{'frames':[{'name':'a'},{'name':'b'}]},'profiles':[{'type':'evented','name':'x',"
            + "'unit':'none',%s'events':[{'type':'O','frame':0,'at':1},{'type':'O','frame':1,'at':4}]}]}";
    Profile profile = json(String.format(text, "'startValue':0,'endValue':10,"));
    assertEquals(Map.of("a", "3", "a;b", "6"), profile.stacks());
    List<String> said = List.of("2 samples or events begin or end without their other half");
    assertEquals(said, profile.notices());
    Profile endless = json(String.format(text, ""));
    assertEquals(Map.of("a", "3"), endless.stacks());
    assertEquals(said, endless.notices());
    Profile early = json(String.format(text, "'endValue':2,"));
    assertEquals(Map.of("a", "3"), early.stacks());
  }

  @Test
  void speedscope_withWhatCannotBe_saysSoAndReadsTheRest() throws Exception {
    Profile profile =
        json(
            "{'shared':{'frames':[{'name':'a'},{'name':'b'}]},'profiles':[{'type':'evented',"
                + "'name':'x','unit':'seconds','events':[{'type':'O','frame':0,'at':1},"
                + "{'type':'C','frame':1,'at':2},{'type':'O','frame':1,'at':0.5},"
                + "{'type':'O','frame':99,'at':0.75},{'type':'C','frame':0,'at':1.5}]},"
                + "{'type':'sampled','name':'y','unit':'seconds','samples':[[0],[1],[1]],"
                + "'weights':[-1,1e300]}]}");
    assertEquals(
        Map.of("x;a", "1000000000", "x;a;b", "250000000", "x;a;b;[no frame]", "750000000"),
        profile.stacks());
    assertEquals("ns", profile.unit());
    assertEquals(
        List.of(
            "some stacks have frames that the file does not describe: [no frame]",
            "1 samples or events have a weight below 0 and are left out",
            "1 samples or events have a weight or a time that is too large and are left out",
            "1 samples or events go back in time, and count as no time",
            "3 samples or events begin or end without their other half",
            "1 samples or events have no weight and are left out"),
        profile.notices());
  }

  @Test
  void cpuprofile_ofNode_hasTheTimesOfItsSamples() throws Exception {
    byte[] bytes = resource("node.cpuprofile");
    JsonObject json = JsonParser.parseString(new String(bytes, UTF_8)).getAsJsonObject();
    JsonArray deltas = json.getAsJsonArray("timeDeltas");
    long first = deltas.get(0).getAsLong();
    long whole = json.get("endTime").getAsLong() - json.get("startTime").getAsLong();
    Profile time = profile(bytes, "");
    assertEquals("us", time.unit());
    assertEquals((double) (whole - first), time.total());
    Profile samples = profile(bytes, "samples");
    assertEquals(json.getAsJsonArray("samples").size(), samples.total());
    assertTrue(
        time.stacks().keySet().stream().anyMatch(s -> s.contains("(anonymous) s.js:1;fib;fib")),
        time.stacks()::toString);
  }

  @Test
  void cpuprofile_withCirclesAndClocksThatGoBack_endsAndSaysSo() throws Exception {
    String frame = "'callFrame':{'functionName':'";
    Profile profile =
        json(
            "{'nodes':[{'id':1,"
                + frame
                + "(root)'},'children':[2]},{'id':2,"
                + frame
                + "f'}},{'id':3,"
                + frame
                + "g'},'children':[4]},{'id':4,"
                + frame
                + "h'},'children':[3,4]}],'samples':[2,3,2,2,77,9007199254740995],"
                + "'timeDeltas':[5,7,-3,11,4,2],'startTime':100,'endTime':90}");
    assertEquals(Map.of("f", "22"), profile.stacks());
    assertEquals(
        List.of(
            "3 samples are of nodes that the file does not have, or has in a circle",
            "1 samples go back in time, and count as no time",
            "shown: time; --sample-type shows another: samples"),
        profile.notices());
  }

  @Test
  void trace_ofPairsAndDurations_hasOwnTimesByThread() throws Exception {
    Profile profile =
        json(
            "{'traceEvents':[{'ph':'M','name':'thread_name','pid':1,'tid':2,'args':{'name':'main'}},"
                + "{'ph':'X','name':'inner','pid':1,'tid':2,'ts':12,'dur':3},"
                + "{'ph':'X','name':'outer','pid':1,'tid':2,'ts':10,'dur':10.5},"
                + "{'ph':'B','name':'b','pid':1,'tid':3,'ts':0},{'ph':'B','name':'c','pid':1,'tid':3,'ts':1},"
                + "{'ph':'E','pid':1,'tid':3,'ts':4},{'ph':'E','pid':1,'tid':3,'ts':9},"
                + "{'ph':'E','pid':1,'tid':3,'ts':10},{'ph':'C','name':'counter','ts':3},"
                + "{'ph':'X','name':'bad','pid':1,'tid':3,'ts':1,'dur':-2}]}");
    assertEquals(
        Map.of(
            "main;outer", "7.5", "main;outer;inner", "3", "thread 3;b", "6", "thread 3;b;c", "3"),
        profile.stacks());
    assertEquals(
        List.of(
            "1 events are of other kinds than B, E, X and ProfileChunk, and are left out",
            "1 events have no time, or a time that is negative or too large",
            "1 events begin or end without their other half"),
        profile.notices());
  }

  @Test
  void json_ofHostileShapes_isRefusedInOneLine() throws Exception {
    List<String> texts =
        List.of(
            "[".repeat(1_000_000),
            "{'profiles':[" + "{'a':".repeat(1_000_000),
            "{'shared':{'frames':[{'name':'" + "x".repeat(3 << 20) + "'}]}}",
            "{'nodes':[{'id':" + "9".repeat(5_000) + "}]}",
            "{'shared':{'frames':[",
            "{'json': true}",
            "{'traceEvents':[{'ph':x}]}");
    for (String text : texts) {
      Profile profile = json(text);
      assertEquals(0, profile.total());
      assertEquals(1, profile.notices().size(), profile.notices()::toString);
      assertTrue(profile.notices().get(0).length() < 300, profile.notices()::toString);
    }
    assertEquals(
        List.of("in has no stacks: a profile without samples"),
        json("{'traceEvents':[]}").notices());
  }

  @Test
  @SuppressWarnings("StringConcatToTextBlock") // tabs count
  void perfScript_hasCommsEventsAndPeriods() throws Exception {
    Profile profile = profile(resource("perf-script.txt"), "");
    assertEquals("ns", profile.unit());
    assertEquals(4 * 1_001_001, profile.total());
    for (FoldedStack stack : profile.held()) {
      assertEquals("node", stack.names()[0]);
      assertEquals(NodeKind.PROCESS, stack.kinds()[0]);
    }
    Profile two =
        profile(
            "# captured on: a day\n#\n"
                + "my prog 12/13 [001] 5.000001:        250 cycles:u: \n"
                + "\t    55 f<int (*)(char)>+0x10 (/a b/x.so)\n"
                + "\t    66 inl (inlined)\n"
                + "\tffff do_it+0x1 ([kernel.kallsyms])\n\n"
                + "prog 12 5.000002:          1 page-faults: \n"
                + "\t    77 [unknown] (/bin/x)\n\n"
                + "prog 12 [000] 6.0: cycles:u:      99 g (/bin/x)\n"
                + "nonsense\n");
    assertEquals(Map.of("my prog;do_it;inl;f<int (*)(char)>", "250", "prog;g", "1"), two.stacks());
    assertEquals("cycles_u", two.unit());
    FoldedStack stack = two.held().get(0);
    assertEquals(List.of("", "[kernel]", "", "x.so"), List.of(stack.modules()));
    assertEquals(
        List.of(NodeKind.PROCESS, NodeKind.KERNEL, NodeKind.INLINED, NodeKind.USER),
        List.of(stack.kinds()));
    assertEquals(
        List.of(
            "shown: cycles:u; --sample-type shows another: page-faults",
            "1 stack is left out: it is no line of perf script"),
        two.notices());
  }

  @Test
  void perfScript_ofSamplesOfOneLine_hasAllOfThem() throws Exception {
    Profile profile =
        profile(
            """
                        false 12 1.000001:  3 cycles:u:  ffffffff9b201293 [unknown] ([unknown])
                           dd 13 1.000002:  4 cycles:u:      7fa68b1f2d84 start+0x4 (/usr/lib/ld.so)
                           dd 13 1.000003:  5 cycles:u:\s
                           dd 13 1.000004:  6 cycles:u:      7fa68b1f2d84 start+0x4 (/usr/lib/ld.so)
            """);
    assertEquals(Map.of("false;[unknown]", "3", "dd;start", "10", "dd", "5"), profile.stacks());
  }

  @Test
  void perfScript_withoutTimes_hasCommsEventsAndPeriods() throws Exception {
    Profile profile =
        profile(
            """
            # captured on: a day
            my prog  12 cycles:u:\s
              40ab f+0x1 (/x)
              500a main+0x1 (/x)

            my prog 11/12 [001]      7 cycles:u:\s
              500a main+0x1 (/x)

            dd 13 cycles:u:     40ab g+0x1 (/x)
            Processed 12 events: all
              a 3 b: 15 6.5:  9 cycles:u:     40ab g+0x1 (/x)
            """);
    assertEquals(
        Map.of("my prog;main;f", "1", "my prog;main", "7", "dd;g", "1", "a 3 b:;g", "9"),
        profile.stacks());
    assertEquals(List.of("1 stack is left out: it is no line of perf script"), profile.notices());
    List<String> tasks =
        profile.held().stream()
            .flatMap(stack -> stack.shares().stream())
            .map(share -> share.process() + " " + share.pid() + "/" + share.tid())
            .sorted()
            .toList();
    assertEquals(List.of("a 3 b: 0/15", "dd 0/13", "my prog 0/12", "my prog 11/12"), tasks);
  }

  @Test
  void perfScript_emptyLineAboveTheFrames_partsNothing() throws Exception {
    Profile profile =
        profile(
            """
            a 1 1.000001: 3 cycles:

              40 f+0x1 (/x)
              50 main+0x1 (/x)

            a 1 1.000002: 4 cycles:

            a 1 1.000003: 5 cycles:
              50 main+0x1 (/x)
            """);
    assertEquals(Map.of("a;main;f", "3", "a", "4", "a;main", "5"), profile.stacks());
    assertEquals(List.of(), profile.notices());
  }

  @Test
  void perfScript_linesThatAreNoFrames_areSaid() throws Exception {
    Profile profile =
        profile(
            """
            a 1 1.000001: 3 cycles:
              40 f+0x1 (/x)
              ODD_LINE
              50 main+0x1 (/x)

              60 lost+0x1 (/x)
            """);
    assertEquals(Map.of("a;main;f", "3"), profile.stacks());
    assertEquals(
        List.of(
            "1 indented lines begin with no address, and are left out",
            "1 indented lines are frames below no sample, and are left out"),
        profile.notices());
  }

  @Test
  void perfScript_ofModulesOfTheKernel_hasFramesOfTheKernel() throws Exception {
    Profile profile =
        profile(
            """
            swapper 0 [012] 1.000001: 7 cycles:
              ff f0+0x1 (bpf_prog_2b956549c660136a_of)
              ff f1+0x1 (/lib/modules/5.4.14-a.1/kernel/drivers/net/mlx5_core.ko)
              ff f2+0x1 (/lib/modules/6.1/kernel/fs/xfs.ko.xz)
              ff f3+0x1 (/usr/lib/debug/boot/vmlinux-5.4.14-a.1)
              ff f4+0x1 (/boot/vmlinux)
              ff f5+0x1 ([nf_tables])
            """);
    NodeKind[] kinds = profile.held().get(0).kinds();
    assertEquals(7, kinds.length);
    for (int i = 1; i < kinds.length; i++) {
      assertEquals(NodeKind.KERNEL, kinds[i], profile.held().get(0).names()[i]);
    }
  }

  @Test
  void perfScript_ofFramesWithoutNames_hasTheirAddresses() throws Exception {
    Profile profile =
        profile(
            """
            a 1 1.000001: 3 cycles:
              40ab  (/lib/x.so)
              50ab (/lib/x.so)
              40ab (/lib/x.so)
            """);
    assertEquals(Map.of("a;0x40ab;0x50ab;0x40ab", "3"), profile.stacks());
    assertEquals(List.of("", "x.so", "x.so", "x.so"), List.of(profile.held().get(0).modules()));
  }

  @Test
  void perfScript_withBothNumbersAndThousandsOfFrames_isFound() throws Exception {
    StringBuilder text = new StringBuilder("a b 12/13 [001] 5.000001:  7 cycles:u: \n");
    for (int i = 0; i < 5_000; i++) {
      text.append("\t    55 f+0x10 (/bin/x)\n");
    }
    Profile profile = profile(text.append('\n').toString());
    assertEquals(7, profile.total());
    assertEquals(5_001, profile.held().get(0).names().length);
  }

  @Test
  void jfr_ofThisJvm_hasThreadsAndAllocations() throws Exception {
    Path path = folder.resolve("x.bin");
    try (Recording recording = new Recording()) {
      recording.enable("jdk.ObjectAllocationInNewTLAB").withStackTrace();
      recording.enable("jdk.ObjectAllocationOutsideTLAB").withStackTrace();
      recording.enable("jdk.ThreadSleep").withStackTrace().withThreshold(java.time.Duration.ZERO);
      recording.start();
      Thread thread = new Thread(ProfileFileTest::allocate, "who allocates");
      thread.start();
      thread.join();
      recording.stop();
      recording.dump(path);
    }
    Profile file = profile(StackInput.open(path), "allocation");
    assertEquals("bytes", file.unit());
    assertTrue(file.total() >= 20 << 20, () -> "" + file.total());
    assertTrue(
        file.stacks().keySet().stream()
            .anyMatch(
                s -> s.startsWith("who allocates;") && s.contains("ProfileFileTest.allocate")),
        file.stacks()::toString);
    Profile copy = profile(Files.readAllBytes(path), "allocation");
    assertEquals(file.stacks(), copy.stacks());
    Profile sleeps = profile(StackInput.open(path), "wait");
    assertTrue(sleeps.total() >= 10_000_000, () -> "" + sleeps.total());
    byte[] cut = Arrays.copyOf(Files.readAllBytes(path), (int) Files.size(path) / 2);
    Profile damaged = profile(cut, "allocation");
    assertEquals(1, damaged.notices().size(), damaged.notices()::toString);
  }

  // The compiler must not leave the arrays out.
  @SuppressWarnings("UnusedVariable")
  private static volatile byte[] kept;

  private static void allocate() {
    try {
      for (int i = 0; i < 20; i++) {
        kept = new byte[1 << 20];
        Thread.sleep(1);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** What the readers refuse is said; nothing else comes of any bytes. */
  @Test
  void profiles_withBytesThatChanged_endInAPictureAndWords() throws Exception {
    Random random = new Random(5);
    for (String name : List.of("any-order.pb", "node.cpuprofile", "perf-script.txt")) {
      byte[] whole = resource(name);
      for (int i = 0; i < 200; i++) {
        byte[] bytes = whole.clone();
        for (int changes = random.nextInt(8); changes >= 0; changes--) {
          bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
        }
        Profile profile = profile(bytes, "");
        assertTrue(profile.total() >= 0);
      }
    }
  }

  @Test
  void pprof_packedOrNot_isTheSame() throws Exception {
    byte[] packed = resource("no-mappings.pb.gz");
    byte[] plain = new GZIPInputStream(new ByteArrayInputStream(packed)).readAllBytes();
    assertEquals(profile(packed, "").stacks(), profile(plain, "").stacks());
  }

  @Test
  void trace_withProfileChunks_isTheProfileThatTheyMakeTogether() throws Exception {
    String chunk = "{'args':{'data':{%s}},'id':'0x1','name':'%s','ph':'P','pid':5,'tid':6,'ts':1}";
    String node = "{'id':%d,%s'callFrame':{'functionName':'%s','url':'a.js','lineNumber':1}}";
    String text =
        "{'traceEvents':["
            + String.format(chunk, "'startTime':100", "Profile")
            + ","
            + String.format(
                chunk,
                "'cpuProfile':{'nodes':["
                    + String.format(node, 1, "", "(root)")
                    + ","
                    + String.format(node, 2, "'parent':1,", "main")
                    + "],'samples':[2,2]},'timeDeltas':[0,10]",
                "ProfileChunk")
            + ","
            + String.format(
                chunk,
                "'cpuProfile':{'nodes':["
                    + String.format(node, 3, "'parent':2,", "leaf")
                    + "],'samples':[3]},'timeDeltas':[5],'endTime':122",
                "ProfileChunk")
            + ",{'ph':'M','name':'process_name','pid':5,'args':{'name':'Renderer'}}"
            + ",{'ph':'P','name':'else','pid':5,'tid':6,'ts':1}]}";
    Profile time = profile(quoted(text), "cpu profile");
    assertEquals(Map.of("Renderer;main", "15", "Renderer;main;leaf", "7"), time.stacks());
    assertEquals(5, time.held().get(0).shares().get(0).pid());
    Profile samples = profile(quoted(text), "samples");
    assertEquals(Map.of("Renderer;main", "2", "Renderer;main;leaf", "1"), samples.stacks());
    assertTrue(
        samples.notices().stream().anyMatch(line -> line.startsWith("1 events are of other kinds")),
        samples.notices()::toString);
  }

  @Test
  void perfScript_ofLinesThatWereSeenBefore_hasTheSameFrames() throws Exception {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < 30; i++) {
      text.append(
          String.format(
              "a 1 1.000001: 1 cycles: \n\t 40%d f+0x%d (/x)\n\t 500 main (/x)\n\n",
              i % 7 + 10, i % 3));
    }
    assertEquals(Map.of("a;main;f", "30"), profile(text.toString()).stacks());
  }
}

package flametop.profile.file;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Traces of Chrome and Hermes: what each event and sample counts. */
@Timeout(120)
class TraceFileTest extends StackFileFixture {
  private static Profile trace(String text, String sampleType) throws Exception {
    return profile(quoted(text), sampleType);
  }

  private static String sample(String tid, String at, String frame) {
    return String.format(
        "{'cpu':'-1','name':'','ts':'%s','pid':7,'tid':'%s','weight':'1','sf':%s}", at, tid, frame);
  }

  private static final String FRAMES =
      "'stackFrames':{'1':{'name':'[root]','category':'root'},'2':{'parent':1,'name':'run'},"
          + "'3':{'name':'é','parent':'2'},'5':{'name':'x','parent':6},'6':{'name':'y','parent':5},"
          + "'7':{'name':'z','parent':99}}";

  private static final String EVENTS =
      "'traceEvents':[{'ph':'M','name':'thread_name','pid':7,'tid':'1','args':{'name':'js'}}%s]";

  private static final String SAMPLES =
      "'samples' : [ "
          + String.join(
              ",",
              sample("1", "11550000100", "1"),
              sample("2", "11550000101", "2"),
              sample("1", "11550000107", "3"),
              sample("1", "11550000110.5", "3"),
              sample("1", "11550000112", "2"))
          + "]";

  @Test
  void hermes_samplesBesideEvents_lastUntilTheNextOfTheirThread() throws Exception {
    // What lasts no time is no other sample type.
    String events =
        String.format(EVENTS, ",{'ph':'X','name':'e','pid':7,'tid':'1','ts':'1','dur':0}");
    for (String text :
        List.of(
            "{" + events + "," + SAMPLES + "," + FRAMES + "}",
            "{" + FRAMES + "," + SAMPLES + "," + events + "}",
            "{" + SAMPLES + "," + events + "," + FRAMES + "}")) {
      Profile time = trace(text, "");
      assertEquals(Map.of("js;[root]", "7", "js;[root];run;é", "5"), time.stacks());
      assertEquals(
          List.of("shown: time; --sample-type shows another: samples"), time.notices(), text);
      assertEquals(
          Map.of(
              "js;[root]",
              "1",
              "js;[root];run",
              "1",
              "js;[root];run;é",
              "2",
              "thread 2;[root];run",
              "1"),
          trace(text, "samples").stacks());
    }
  }

  @Test
  void hermes_eventsAndSamples_areTwoSampleTypes() throws Exception {
    String events =
        String.format(EVENTS, ",{'ph':'X','name':'e','pid':7,'tid':'1','ts':1,'dur':4}");
    String text = "{" + events + "," + SAMPLES + "," + FRAMES + "}";
    assertEquals(Map.of("js;e", "4"), trace(text, "").stacks());
    assertEquals(
        Map.of("js;[root]", "7", "js;[root];run;é", "5"), trace(text, "sampled time").stacks());
  }

  @Test
  void trace_eventsAndProfileChunks_areNotMixed() throws Exception {
    String chunk =
        "{'args':{'data':{'cpuProfile':{'nodes':[{'id':1,'callFrame':{'functionName':'f'}}],"
            + "'samples':[1,1]},'timeDeltas':[1,10]}},'id':'0x1','name':'ProfileChunk','ph':'P',"
            + "'pid':7,'tid':1,'ts':1}";
    String event = "{'ph':'X','name':'e','pid':7,'tid':1,'ts':1,'dur':4}";
    assertEquals(Map.of("thread 1;e", "4"), trace("[" + chunk + "," + event + "]", "").stacks());
    assertEquals(Map.of("thread 1;f", "10"), trace("[" + chunk + "]", "").stacks());
  }

  @Test
  void trace_eventWithoutDur_lastsAsLongAsItsTdur() throws Exception {
    String event = "{'ph':'X','name':'%s','pid':1,'tid':1,'ts':%d,%s}";
    Profile trace =
        trace(
            "["
                + String.format(event, "a", 0, "'tdur':4,'tts':9")
                + ","
                + String.format(event, "b", 10, "'tdur':4,'dur':3")
                + ","
                + String.format(event, "c", 20, "'dur':null,'tdur':2.5")
                + "]",
            "");
    assertEquals(Map.of("thread 1;a", "4", "thread 1;b", "3", "thread 1;c", "2.5"), trace.stacks());
  }

  @Test
  void trace_arrayWithoutItsEnd_isWholeUnlessAnEventIsCut() throws Exception {
    String event = "{'ph':'X','name':'a','pid':1,'tid':1,'ts':0,'dur':4}";
    for (String end : List.of("", ",", " ,\n  ", "]")) {
      Profile trace = trace("[" + event + end, "");
      assertEquals(Map.of("thread 1;a", "4"), trace.stacks(), end);
      assertEquals(List.of(), trace.notices(), end);
    }
    for (String cut :
        List.of("[" + event + ",{'ph':'X'", "[" + event + ",{", "{'traceEvents':[" + event + ",")) {
      Profile trace = trace(cut, "");
      assertEquals(Map.of("thread 1;a", "4"), trace.stacks(), cut);
      assertTrue(
          trace.notices().toString().contains("it ends too early"), trace.notices()::toString);
    }
  }

  /** Each event is its phase, name and moment; a name that is {@code -} is none. */
  private static Profile pairs(String... events) throws Exception {
    StringBuilder text = new StringBuilder("[");
    for (String event : events) {
      String[] parts = event.split(" ", -1);
      String name = parts[1].equals("-") ? "" : "'name':'" + parts[1] + "',";
      text.append(text.length() > 1 ? "," : "")
          .append(String.format("{'ph':'%s',%s'pid':1,'tid':1,'ts':%s}", parts[0], name, parts[2]));
    }
    return trace(text.append("]").toString(), "");
  }

  private static List<String> unpaired(int count) {
    return count == 0
        ? List.of()
        : List.of(count + " events begin or end without their other half");
  }

  @Test
  void trace_endWithAName_closesTheNearestOfThatNameAndWhatIsWithin() throws Exception {
    Profile nested = pairs("B a 0", "B b 1", "B c 3", "E b 6", "B d 7", "E d 9", "E a 10");
    assertEquals(
        Map.of("thread 1;a", "3", "thread 1;a;b", "2", "thread 1;a;b;c", "3", "thread 1;a;d", "2"),
        nested.stacks());
    assertEquals(unpaired(1), nested.notices());
    Profile same = pairs("B a 0", "B a 1", "B b 2", "E a 4", "E a 5");
    assertEquals(
        Map.of("thread 1;a", "2", "thread 1;a;a", "1", "thread 1;a;a;b", "2"), same.stacks());
    assertEquals(unpaired(1), same.notices());
  }

  @Test
  void trace_endThatNothingMatches_closesNothing() throws Exception {
    Profile trace = pairs("E x 0", "B a 0", "E b 4", "E - 10", "E - 11");
    assertEquals(Map.of("thread 1;a", "10"), trace.stacks());
    assertEquals(unpaired(3), trace.notices());
  }

  @Test
  void trace_eventsOfOneMoment_matchInWhateverOrder() throws Exception {
    Profile early = pairs("B a 0", "E c 2", "B c 2", "E a 10");
    assertEquals(Map.of("thread 1;a", "10"), early.stacks());
    assertEquals(unpaired(0), early.notices());
    Profile outerFirst = pairs("B a 0", "B b 1", "E a 4", "E b 4");
    assertEquals(Map.of("thread 1;a", "1", "thread 1;a;b", "3"), outerFirst.stacks());
    assertEquals(unpaired(0), outerFirst.notices());
    Profile beginFirst = pairs("B a 0", "B b 4", "E a 4", "E b 9");
    assertEquals(Map.of("thread 1;a", "4", "thread 1;b", "5"), beginFirst.stacks());
    assertEquals(unpaired(0), beginFirst.notices());
    Profile nothing = pairs("B a 0", "B b 4", "B c 4", "E c 4", "E b 4", "E - 9");
    assertEquals(Map.of("thread 1;a", "9"), nothing.stacks());
    assertEquals(unpaired(0), nothing.notices());
    Profile again = pairs("B a 0", "E a 4", "B a 4", "B b 5", "E b 6", "E a 9", "E a 9");
    assertEquals(Map.of("thread 1;a", "8", "thread 1;a;b", "1"), again.stacks());
    assertEquals(unpaired(1), again.notices());
  }

  @Test
  void trace_completeEventAndPairOfOneMoment_theLongerIsTheOuter() throws Exception {
    for (boolean first : List.of(true, false)) {
      for (String end : List.of("b", "")) {
        for (int dur : List.of(4, 10, 7)) {
          String b = begin("b") + "," + end(end, 8);
          Map<String, String> expected =
              switch (dur) {
                case 4 -> Map.of("thread 1;b", "3", "thread 1;b;x", "4");
                case 10 -> Map.of("thread 1;x", "3", "thread 1;x;b", "7");
                default -> Map.of(first ? "thread 1;x;b" : "thread 1;b;x", "7");
              };
          String text = "[" + (first ? complete(dur) + "," + b : b + "," + complete(dur)) + "]";
          assertEquals(expected, trace(text, "").stacks(), text);
        }
      }
    }
    String both = String.join(",", begin("a"), begin("b"), complete(6), end("b", 3), end("a", 9));
    assertEquals(
        Map.of("thread 1;a", "2", "thread 1;a;x", "4", "thread 1;a;x;b", "2"),
        trace("[" + both + "]", "").stacks());
  }

  private static String complete(int dur) {
    return "{'ph':'X','name':'x','tid':1,'ts':1,'dur':" + dur + "}";
  }

  private static String begin(String name) {
    return "{'ph':'B','name':'" + name + "','tid':1,'ts':1}";
  }

  private static String end(String name, int at) {
    return "{'ph':'E','name':'" + name + "','tid':1,'ts':" + at + "}";
  }

  @Test
  void trace_manyEventsOfOneMoment_areReadInTheTimeOfAsManyElsewhere() throws Exception {
    int count = 50_000;
    List<String> events = new ArrayList<>();
    for (String of : List.of("B a 0", "B b 1", "E a 1", "E c 1", "E b 2")) {
      events.addAll(Collections.nCopies(count, of));
    }
    Profile trace = pairs(events.toArray(String[]::new));
    assertEquals(2, trace.stacks().size());
    assertEquals(unpaired(count), trace.notices().subList(0, 1));
  }

  @Test
  void hermes_framesThatCannotBe_areSaid() throws Exception {
    String samples =
        String.join(
            ",",
            sample("1", "10", "2"),
            sample("1", "15", "5"),
            sample("1", "16", "6"),
            sample("1", "17", "7"),
            sample("1", "18", "50"),
            sample("1", "19", "1"),
            sample("1", "9", "1"),
            sample("1", "11", "null"),
            "{'tid':'1','pid':7,'sf':1}",
            "8",
            "'x'");
    Profile trace = trace("{" + FRAMES + ",'samples':[" + samples + "]}", "");
    assertEquals(Map.of("thread 1;[root];run", "5", "thread 1;[root]", "2"), trace.stacks());
    assertEquals(
        List.of(
            "2 samples are of nodes that the file does not have, or has in a circle",
            "4 samples are of frames that the file does not have, or has in a circle",
            "1 samples go back in time, and count as no time",
            "1 events have no time, or a time that is negative or too large",
            "shown: time; --sample-type shows another: samples"),
        trace.notices());
  }
}

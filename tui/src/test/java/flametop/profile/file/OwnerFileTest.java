package flametop.profile.file;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.profile.answer.Capability;
import flametop.profile.answer.FoldedStack;
import flametop.profile.answer.GraphQuery;
import flametop.profile.answer.NodeKind;
import flametop.profile.answer.ProcessRow;
import flametop.profile.answer.RootOrder;
import flametop.profile.answer.Selection;
import flametop.profile.answer.Shape;
import flametop.profile.answer.StateSet;
import flametop.sampler.State;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import jdk.jfr.Recording;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Processes, threads, groups and states that profiles of other programs say. */
@Timeout(120)
class OwnerFileTest extends StackFileFixture {
  /** Two processes of one comm, one with two threads; the second thread has another name. */
  private static final String PERF =
      perf("web 10/10", "main")
          + perf("pool 10/11", "work")
          + perf("web 20/20", "main")
          + perf("web 20/20", "main");

  private static String perf(String owner, String frame) {
    return owner + " [000] 1.000001: 5 cycles: \n\t 401000 " + frame + "+0x1 (/bin/web)\n\n";
  }

  private static long total(StackFile file, StateSet states) throws Exception {
    return file.snapshot(
            new GraphQuery(states, GraphQuery.ROOT, GraphQuery.ROOT, 1_000_000, 100, null))
        .get()
        .total();
  }

  private static List<String> drawn(StackFile file, Shape.Step... steps) throws Exception {
    file.shape(Shape.of(steps));
    return drawn(read(file));
  }

  private static List<String> rows(StackFile file, ProcessRow.By by) throws Exception {
    List<String> rows = new ArrayList<>();
    for (ProcessRow row : file.rows(by, StateSet.ALL).get()) {
      rows.add(row.pid() + " " + row.comm() + " " + row.weight() + "/" + row.total());
    }
    return rows;
  }

  @Test
  void perfScript_ofProcessesAndThreads_isGroupedAndFilteredByThem() throws Exception {
    try (StackFile file = open(PERF)) {
      assertEquals(
          List.of("all 20", " pool 5", "  work 5", " web 15", "  main 15"), drawn(read(file)));
      assertEquals(
          EnumSet.of(Capability.PROCESSES, Capability.THREADS), read(file).reading().says());
      assertEquals(List.of("10 web 10/20", "20 web 10/20"), rows(file, ProcessRow.By.PROCESS));
      assertEquals(List.of("0 web 15/20", "0 pool 5/20"), rows(file, ProcessRow.By.COMM));
      assertEquals(
          List.of("all 20", " web-10 10", "  main 5", "  work 5", " web-20 10", "  main 10"),
          drawn(file, new Shape.Group(RootOrder.PROCESS)));
      assertEquals(
          List.of(
              "all 20",
              " pool-11 5",
              "  work 5",
              " web-10 5",
              "  main 5",
              " web-20 10",
              "  main 10"),
          drawn(file, new Shape.Group(RootOrder.THREAD)));
      assertEquals(
          List.of("all 10", " pool 5", "  work 5", " web 5", "  main 5"),
          drawn(file, new Shape.Processes(Set.of(10), false)));
      assertEquals(
          List.of("all 15", " web 15", "  main 15"),
          drawn(file, new Shape.Threads(Set.of(11), true)));
      assertEquals(
          List.of("all 20", " main 15", " work 5"), drawn(file, new Shape.Group(RootOrder.NONE)));
    }
  }

  @Test
  void selection_ofAnOwner_isTheFilterThatKeepsIt() throws Exception {
    try (StackFile file = open(PERF)) {
      assertEquals(new Shape.Comms(Set.of("pool"), false), first(file, RootOrder.SERVICE).filter());
      assertEquals(new Shape.Processes(Set.of(10), false), first(file, RootOrder.PROCESS).filter());
      Selection thread = first(file, RootOrder.THREAD);
      assertEquals(new Shape.Threads(Set.of(11), false), thread.filter());
      assertEquals(NodeKind.THREAD, thread.kind());
    }
  }

  private static Selection first(StackFile file, RootOrder by) throws Exception {
    file.shape(Shape.of(new Shape.Group(by)));
    long node = read(file).graph().node()[1];
    return file.snapshot(query(GraphQuery.ROOT, node)).get().selection();
  }

  @Test
  void held_ofAPlainGraph_hasTheShareOfEachThread() throws Exception {
    try (StackFile file = open(PERF)) {
      List<String> shares = new ArrayList<>();
      for (FoldedStack stack : file.held(GraphQuery.ROOT).get()) {
        for (FoldedStack.Share s : stack.shares()) {
          shares.add(
              String.join(";", stack.names()) + " " + s.pid() + "/" + s.tid() + " " + s.value());
        }
        assertEquals(
            stack.value(), stack.shares().stream().mapToLong(FoldedStack.Share::value).sum());
      }
      assertEquals(List.of("pool;work 10/11 5", "web;main 10/10 5", "web;main 20/20 10"), shares);
    }
  }

  @Test
  void trace_namesOfProcessesAndThreads_areOwners() throws Exception {
    String events =
        "[{'ph':'M','name':'process_name','pid':7,'tid':7,'args':{'name':'Browser'}},"
            + "{'ph':'M','name':'thread_name','pid':7,'tid':9,'args':{'name':'IO'}},"
            + "{'ph':'X','name':'a','pid':7,'tid':9,'ts':1,'dur':2},"
            + "{'ph':'X','name':'b','pid':7,'tid':7,'ts':1,'dur':3},"
            + "{'ph':'X','name':'c','pid':8,'tid':8,'ts':1,'dur':4}]";
    try (StackFile file = open(events.replace('\'', '"'))) {
      assertEquals(List.of("7 Browser 5/9", "8 thread 8 4/9"), rows(file, ProcessRow.By.PROCESS));
      List<String> threads = drawn(file, new Shape.Group(RootOrder.THREAD));
      assertTrue(threads.contains(" IO-9 2"), threads::toString);
    }
  }

  @Test
  void speedscope_ofAProfileForEachThread_readsItsNumbers() throws Exception {
    String profile =
        "{'type':'sampled','name':'Process 12 Thread %d \\\"%s\\\"','unit':'none',"
            + "'samples':[[0]],'weights':[3]}";
    String text =
        "{'shared':{'frames':[{'name':'f'}]},'profiles':["
            + String.format(profile, 12, "Main")
            + ","
            + String.format(profile, 34, "pool")
            + "]}";
    try (StackFile file = open(text.replace('\'', '"'))) {
      assertEquals(
          List.of("all 6", " Main-12 3", "  f 3", " pool-34 3", "  f 3"),
          drawn(file, new Shape.Group(RootOrder.THREAD)));
      assertEquals(1, rows(file, ProcessRow.By.PROCESS).size());
    }
  }

  @Test
  void jfr_statesOfEvents_areShownApart() throws Exception {
    try (Recording recording = new Recording()) {
      recording.enable("jdk.ThreadSleep").withStackTrace().withThreshold(Duration.ZERO);
      recording.start();
      Thread.sleep(2);
      recording.stop();
      recording.dump(folder.resolve("a.jfr"));
    }
    try (StackFile file = open(folder.resolve("a.jfr"))) {
      file.whole().get();
      List<ProcessRow> states = file.rows(ProcessRow.By.STATE, StateSet.ALL).get();
      assertEquals(List.of(State.SLEEP.ordinal()), states.stream().map(ProcessRow::pid).toList());
      long all = total(file, StateSet.ALL);
      assertTrue(all >= 2_000_000, "slept " + all);
      assertEquals(0, total(file, StateSet.ON_CPU));
      assertEquals(all, total(file, StateSet.OFF_CPU));
    }
  }

  @Test
  void owners_thatFoldedStacksOnlySeemToHave_areNames() throws Exception {
    try (StackFile file = open("a\0\0o1\0x;f 2\nb\0\0p;f 3\nc\0\0;f 1\n")) {
      assertEquals(6, total(file, StateSet.ALL));
      assertEquals(6, read(file).graph().size() - 1);
      for (long node : read(file).graph().node()) {
        file.snapshot(query(GraphQuery.ROOT, node)).get();
      }
      for (FoldedStack stack : file.held(GraphQuery.ROOT).get()) {
        assertEquals(List.of(), stack.shares());
      }
    }
  }
}

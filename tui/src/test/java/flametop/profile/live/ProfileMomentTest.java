package flametop.profile.live;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.profile.answer.CpuReport;
import flametop.profile.answer.Extract;
import flametop.profile.answer.FoldedStack;
import flametop.profile.answer.GraphQuery;
import flametop.profile.answer.ProcessRow;
import flametop.profile.answer.Selection;
import flametop.profile.answer.Shape;
import flametop.profile.answer.Snapshot;
import flametop.profile.answer.StateSet;
import flametop.profile.answer.TasksQuery;
import flametop.profile.answer.TasksReport;
import flametop.profile.answer.TimeRange;
import flametop.profile.answer.TopQuery;
import flametop.profile.answer.TopReport;
import flametop.profile.tree.Options;
import flametop.sampler.State;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The moment and the range that a profile shows: what is frozen, what is past, and what is compared
 * with it.
 */
class ProfileMomentTest extends ProfileFixture {
  @Test
  void folded_window_isTheLastSeconds() throws Exception {
    begin(101);
    assertEquals(Map.of("busy;main;work", 2500L), folded(StateSet.of(State.RUN)));
    assertEquals(Map.of("busy;main;work", 500L), folded(1000 * MS, StateSet.of(State.RUN)));
    assertEquals(
        Map.of("sleepy;main;poll", 5000L, "busy;[not sampled]", 2500L), folded(StateSet.OFF_CPU));
    assertEquals(
        Map.of("sleepy;main;poll", 2000L, "busy;[not sampled]", 1000L),
        folded(2000 * MS, StateSet.OFF_CPU));
    Snapshot snapshot = shown(2000 * MS, StateSet.ALL);
    assertEquals((double) (4000 * MS), (double) snapshot.total(), (double) MS);
    assertEquals(2000 * MS, snapshot.live().time().nanos());
    assertEquals(5000 * MS, snapshot.live().time().runNanos());
  }

  @Test
  void freeze_thenThaw_holdsEveryPanelAndCatchesUp() throws Exception {
    begin(21);
    show(moment.withFrozen(true));
    Snapshot before = shown(StateSet.ALL);
    run2();
    Snapshot held = shown(StateSet.ALL);
    assertTrue(held.live().time().frozen());
    assertEquals(before.total(), held.total());
    assertEquals(before.live().host().cpus(), held.live().host().cpus());
    assertEquals(1000 * MS, held.live().time().waitingNanos());
    show(moment.withFrozen(false));
    assertEquals(Map.of("busy;main;work", 1000L), folded(StateSet.of(State.RUN)));
    assertFalse(shown(StateSet.ALL).live().time().frozen());
  }

  @Test
  void freeze_cpusAndStrip_holdStillWhileLossesGoOn() throws Exception {
    run(0, 21);
    show(moment.withFrozen(true));
    Snapshot before = shown(StateSet.ALL);
    run2();
    send(batch(3060, true).counters(40, 3, 7));
    Snapshot held = shown(StateSet.ALL);
    assertEquals(before.live().host().cpus(), held.live().host().cpus());
    assertEquals(
        held.live().host().cpus(), ((CpuReport) get(profile.page(new CpuReport.Query()))).cpus());
    assertArrayEquals(before.live().host().busyCpus(), held.live().host().busyCpus());
    assertArrayEquals(before.live().host().waitingTasks(), held.live().host().waitingTasks());
    assertEquals(3, held.live().losses().latePasses());
    assertEquals(7, held.live().losses().lostSamples());
    show(moment.withFrozen(false));
    assertEquals(1, shown(StateSet.ALL).live().host().cpus().get(0).busy());
  }

  @ParameterizedTest
  @ValueSource(longs = {1 << 10, Options.DEFAULT_HISTORY_BYTES})
  void extract_windowsThatBeginWhereTheLastEnded_addUpToTheWhole(long history) throws Exception {
    Map<String, Long> parts = new TreeMap<>();
    long covered = 0;
    long to = 0;
    try (Profile windows = open(new Options(Shape.PLAIN, history, false))) {
      for (int pass = 0; pass < 1_200; pass += 37) {
        int first = sequence;
        run(pass, pass + 37);
        if (pass == 0) {
          names();
        }
        assertTrue(sequence > first);
        for (ByteBuffer batch : sent) {
          windows.accept(batch, released::add);
        }
        sent.clear();
        Extract extract = get(windows.extract(StateSet.ALL, GraphQuery.ROOT, false));
        addShares(extract, parts);
        covered += extract.scope().time().nanos();
        to = extract.scope().time().to();
        windows.beginAt(to);
      }
    }
    Extract whole = extract();
    assertEquals(whole.scope().time().nanos(), covered);
    assertEquals(whole.scope().time().to(), to);
    Map<String, Long> all = new TreeMap<>();
    addShares(whole, all);
    assertEquals(all.keySet(), parts.keySet());
    for (String stack : all.keySet()) {
      assertEquals((double) all.get(stack), (double) parts.get(stack), (double) MS, stack);
    }
  }

  /** Time that is taken back is of the name that the task had, though that is of no entry. */
  @Test
  void beginAt_renamedTaskRanWhatWasTakenForSleep_nameOfThenIsKept() throws Exception {
    profile.close();
    profile = open(new Options(Shape.PLAIN, 1 << 10, false));
    begin(1);
    send(batch(1050, true).program(2, 7, "before").changed(1050, 2, 1, 0, State.RUN, 1));
    send(batch(1100, true).program(2, 7, "after").changed(1100, 2, 1, 0, State.RUN, 2));
    run(3, 200);
    profile.beginAt(1000 * MS + 199 * 50 * MS);
    run(200, 202);
    send(batch(11_100, true).sample(11_100, 2, 1, 20_000, 2));
    run(203, 204);
    Map<String, Long> shares = new TreeMap<>();
    addShares(extract(), shares);
    assertEquals(20_000 * MS, shares.get("after;main;work run"), shares::toString);
    assertEquals(Optional.empty(), profile.failure());
  }

  private static void addShares(Extract extract, Map<String, Long> to) {
    for (FoldedStack stack : extract.stacks()) {
      String names = String.join(";", stack.names());
      stack.shares().forEach(s -> to.merge(names + " " + s.state(), s.value(), Long::sum));
    }
  }

  @Test
  void extract_samplesBeforeTheFirstPass_areInItsWindow() throws Exception {
    Batch first = batch(1000, true).program(0, 10, "busy").app("main").stack(0, 0);
    send(first.sample(900, 0, 0, 0, 0).changed(1000, 0, -1, 100, State.RUN, 0));
    send(batch(2000, true).sample(2000, 0, 0, 1100, 0));
    Extract extract = extract();
    assertEquals(1100 * MS, list(extract).stream().mapToLong(FoldedStack::value).sum());
    assertEquals(1100 * MS, extract.scope().time().nanos());
    assertEquals(1100 * MS, shown(StateSet.ALL).live().time().runNanos());
  }

  @Test
  void processes_ofAFrozenMoment_areAsTheyWereThen() throws Exception {
    run(0, 21);
    show(moment.withFrozen(true));
    List<ProcessRow> before = processes(StateSet.ALL);
    double time = 2050;
    send(
        batch(time, true)
            .changed(time, 0, 0, 0, State.QUEUED, 2)
            .program(2, 30, "late")
            .changed(time, 2, 0, 0, State.SLEEP, 1));
    List<ProcessRow> held = processes(StateSet.ALL);
    assertEquals(List.of("busy", "sleepy"), held.stream().map(ProcessRow::comm).toList());
    for (int i = 0; i < 2; i++) {
      assertArrayEquals(before.get(i).tasksByState(), held.get(i).tasksByState());
    }
    show(moment.withFrozen(false));
    List<ProcessRow> now = processes(StateSet.ALL);
    assertEquals(List.of("sleepy", "busy", "late"), now.stream().map(ProcessRow::comm).toList());
    assertEquals(1, now.get(0).tasksByState()[State.QUEUED.ordinal()]);
  }

  @Test
  void filter_whileFrozen_keepsTheMoment() throws Exception {
    begin(21);
    show(moment.withFrozen(true));
    run2();
    profile.shape(Shape.of(new Shape.Comms(Set.of("busy"), false)));
    assertEquals(Map.of("busy;main;work", 500L), folded(StateSet.of(State.RUN)));
    show(moment.withFrozen(false));
    assertEquals(Map.of("busy;main;work", 1000L), folded(StateSet.of(State.RUN)));
  }

  @Test
  void baseline_held_isInLaterSlicesOfAnyShape() throws Exception {
    begin(21);
    assertEquals(null, shown(1000 * MS, StateSet.ALL).graph().baseline());
    show(moment.compared());
    // From here on nobody runs.
    idle(21, 41);
    Snapshot later = shown(500 * MS, StateSet.of(State.RUN));
    assertEquals(0, later.total());
    // What vanished is listed, scaled to half a second.
    assertEquals("all;busy;main;work", String.join(";", later.graph().name()));
    assertArrayEquals(new long[] {0, 0, 0, 0}, later.graph().weight());
    assertEquals(250 * MS, later.graph().baseline()[3]);
    profile.shape(Shape.of(new Shape.Reverse()));
    folded(StateSet.ALL);
    later = shown(500 * MS, StateSet.of(State.RUN));
    assertEquals("all;busy;work;main", String.join(";", later.graph().name()));
    assertEquals(250 * MS, later.graph().baseline()[2]);
    show(moment.comparedNoMore());
    assertEquals(null, shown(500 * MS, StateSet.ALL).graph().baseline());
  }

  @Test
  void baseline_held_isBesideEachFunction() throws Exception {
    begin(21);
    TopQuery query =
        new TopQuery(StateSet.of(State.RUN), TopQuery.Order.TOTAL_CHANGE, 9, null, null);
    TopReport alone = top(at(500 * MS, query));
    assertEquals("work", alone.rows().get(0).function().name(), "by self, as nothing is compared");
    assertNull(alone.rows().get(0).before());
    shown(1000 * MS, StateSet.ALL);
    show(moment.compared());
    // From here on nobody runs.
    idle(21, 41);
    TopReport report = top(at(500 * MS, query));
    assertEquals(250 * MS, report.total(), "of the larger of the two");
    assertEquals(2, report.functions());
    for (TopReport.Row row : report.rows()) {
      boolean work = row.function().name().equals("work");
      assertTrue(row.isGone());
      assertEquals(0, row.self());
      assertEquals(
          new TopReport.Before(work ? 250 * MS : 0, 250 * MS, work ? -1 : 0, -1), row.before());
    }
    show(moment.comparedNoMore());
    assertEquals(0, top(query).functions());
  }

  @Test
  void baseline_held_isBesideEachTask() throws Exception {
    begin(21);
    shown(1000 * MS, StateSet.ALL);
    show(moment.compared());
    for (int pass = 21; pass < 61; pass++) {
      Batch batch = batch(1000 + 50 * pass, true);
      send(pass == 21 ? batch.gone(1, 1000 + 50 * pass, 500) : batch);
    }
    TasksQuery query = at(500 * MS, new TasksQuery(false, true, TasksQuery.Order.CHANGE, 9, null));
    TasksReport report;
    do {
      report = tasks(query, 500 * MS);
    } while (report.rows().stream().allMatch(row -> row.before() == null));
    TasksReport.Row gone = report.rows().get(0);
    assertEquals(20, gone.pid());
    assertTrue(gone.isGone());
    assertEquals(new TasksReport.Before(250 * MS, -1), gone.before());
    assertEquals(new TasksReport.Before(0, 0), row(report, 10).before());
    assertFalse(row(report, 10).isGone());
    show(moment.comparedNoMore());
    report = tasks(query, 500 * MS);
    assertEquals(1, report.tasks());
    assertNull(row(report, 10).before());
  }

  @Test
  void selection_window_hasTheOneBefore() throws Exception {
    begin(41);
    GraphQuery all = query(500 * MS, StateSet.of(State.RUN));
    GraphQuery query = all.at(GraphQuery.ROOT, node(picture(all).graph(), "work"));
    Selection.Before before;
    do {
      before = picture(query).selection().before();
    } while (before == null);
    assertEquals(new Selection.Before(500 * MS, 250 * MS, 250 * MS), before);
  }

  @Test
  void selection_ofTheRoot_hasNoTrend() throws Exception {
    run(0, 41);
    Snapshot snapshot = shown(500 * MS, StateSet.of(State.RUN));
    assertEquals(Selection.Before.NONE, snapshot.selection().before());
  }

  @Test
  void range_ofThePast_showsWhatWasThen() throws Exception {
    begin(41);
    show(moment.withRange(new TimeRange(1500 * MS, 2000 * MS)));
    assertEquals(Map.of("busy;main;work", 250L), folded(StateSet.of(State.RUN)));
    Snapshot snapshot = shown(StateSet.ALL);
    assertEquals(2000 * MS, snapshot.live().time().graph().to());
    assertEquals(500 * MS, snapshot.live().time().nanos());
    assertEquals(1000 * MS, snapshot.total());
    TasksQuery query = at(0, new TasksQuery(false, true, TasksQuery.Order.CPU, 1, null));
    assertEquals(250 * MS, ((TasksReport) get(profile.page(query))).rows().get(0).run());
    // Another shape, then another range; it stays while time goes on.
    profile.shape(Shape.of(new Shape.Comms(Set.of("sleepy"), true)));
    assertEquals(Map.of("busy;main;work", 250L), folded(StateSet.of(State.RUN)));
    show(moment.withRange(new TimeRange(1000 * MS, 1100 * MS)));
    run(41, 61);
    assertEquals(Map.of("busy;main;work", 50L), folded(StateSet.of(State.RUN)));
    show(moment.withoutRange());
    assertEquals(Map.of("busy;main;work", 1500L), folded(StateSet.of(State.RUN)));
  }

  @Test
  void range_whileFrozen_goesBackToTheHeldMoment() throws Exception {
    begin(41);
    show(moment.withFrozen(true));
    show(moment.withRange(new TimeRange(1500 * MS, 2000 * MS)));
    run(41, 61);
    Snapshot ranged = settled(StateSet.ALL);
    assertTrue(ranged.live().time().ranged());
    assertTrue(ranged.live().time().frozen());
    assertEquals(2000 * MS, ranged.live().time().graph().to());
    assertEquals(3000 * MS, ranged.live().host().time(), "the other panels are of the held moment");
    assertEquals(2000 * MS, ranged.live().time().runNanos());
    assertEquals(1000 * MS, ranged.live().time().waitingNanos());
    show(moment.withoutRange());
    assertEquals(Map.of("busy;main;work", 1000L), folded(StateSet.of(State.RUN)));
    Snapshot held = settled(StateSet.ALL);
    assertFalse(held.live().time().ranged());
    assertEquals(3000 * MS, held.live().time().graph().to());
    show(moment.withFrozen(false));
    assertEquals(Map.of("busy;main;work", 1500L), folded(StateSet.of(State.RUN)));
  }

  @Test
  void freeze_withinARange_holdsThePresent() throws Exception {
    begin(41);
    show(moment.withRange(new TimeRange(1500 * MS, 2000 * MS)));
    show(moment.withFrozen(true));
    run(41, 61);
    assertEquals(2000 * MS, settled(StateSet.ALL).live().time().graph().to());
    show(moment.withFrozen(false));
    Snapshot live = settled(StateSet.ALL);
    assertEquals(2000 * MS, live.live().time().graph().to(), "the range stays");
    assertEquals(4000 * MS, live.live().host().time());
    assertEquals(
        3000 * MS, live.live().time().runNanos(), "the run goes on whatever the graph is of");
  }

  @Test
  void range_ofATimeThatIsStillToCome_growsUntilItIsOver() throws Exception {
    begin(21);
    show(moment.withRange(new TimeRange(1500 * MS, 2500 * MS)));
    assertEquals(500 * MS, settled(StateSet.ALL).live().time().nanos());
    run(21, 61);
    Snapshot over = settled(StateSet.ALL);
    assertEquals(2500 * MS, over.live().time().graph().to());
    assertEquals(1000 * MS, over.live().time().nanos());
  }

  @Test
  void scope_ofARangeThatIsCompared_saysBoth() throws Exception {
    begin(41);
    show(moment.compared());
    run(41, 61);
    Extract.Scope live = get(profile.scope(at(500 * MS, GraphQuery.ROOT)));
    assertEquals(0, live.agoNanos());
    assertEquals(Optional.of(TimeRange.before(3000 * MS, 2000 * MS)), live.baseline());
    show(moment.withRange(new TimeRange(1500 * MS, 2000 * MS)));
    Extract.Scope ranged = get(profile.scope(at(500 * MS, GraphQuery.ROOT)));
    assertEquals(TimeRange.before(2000 * MS, 500 * MS), ranged.time());
    assertEquals(2000 * MS, ranged.agoNanos());
    Extract stacks = get(profile.extract(at(500 * MS, StateSet.ALL), GraphQuery.ROOT, false));
    assertEquals(2000 * MS, stacks.scope().agoNanos());
    assertTrue(stacks.scope().baseline().isEmpty(), "stacks have one number only");
  }

  @Test
  void baseline_ofARange_isWhatTheRangeWas() throws Exception {
    begin(41);
    show(moment.withRange(new TimeRange(1500 * MS, 2000 * MS)));
    show(moment.compared());
    show(moment.withoutRange());
    // From here on nobody runs.
    idle(41, 61);
    Snapshot later = settled(500 * MS, StateSet.of(State.RUN));
    assertEquals(
        Optional.of(TimeRange.before(2000 * MS, 500 * MS)), later.live().time().baseline());
    assertEquals(250 * MS, later.graph().baseline()[0]);
    assertEquals(0, later.graph().weight()[0]);
    // It is folded anew for another shape, and goes on while frozen.
    show(moment.withFrozen(true));
    profile.shape(Shape.of(new Shape.Reverse()));
    folded(StateSet.ALL);
    Snapshot reversed = settled(500 * MS, StateSet.of(State.RUN));
    assertEquals(
        Optional.of(TimeRange.before(2000 * MS, 500 * MS)), reversed.live().time().baseline());
    assertEquals("all;busy;work;main", String.join(";", reversed.graph().name()));
    assertEquals(250 * MS, reversed.graph().baseline()[2]);
    show(moment.withFrozen(false).comparedNoMore());
    assertTrue(settled(500 * MS, StateSet.ALL).live().time().baseline().isEmpty());
  }

  @Test
  void tasks_whileFrozen_areInTheStateThatTheyWereIn() throws Exception {
    begin(21);
    TasksReport before = tasks(1000 * MS);
    show(moment.withFrozen(true));
    for (int pass = 21; pass < 41; pass++) {
      double time = 1000 + 50 * pass;
      Batch batch = batch(time, true);
      if (pass == 21) {
        batch.program(2, 30, "late").changed(time, 2, 0, 0, State.SLEEP, 1);
        batch.changed(time, 0, 0, 0, State.DISK, 2);
        batch.gone(1, time, 500);
      }
      send(batch);
    }
    assertEquals(before, tasks(1000 * MS));
    show(moment.withFrozen(false));
    TasksReport after = tasks(2000 * MS);
    assertEquals(3, after.tasks());
    assertNull(row(after, 20).state(), "it is gone");
    assertEquals(State.DISK, row(after, 10).state());
    assertTrue(row(after, 10).ageNanos() > 0);
  }

  private static TasksReport.Row row(TasksReport report, int pid) {
    return report.rows().stream().filter(row -> row.pid() == pid).findFirst().orElseThrow();
  }

  @Test
  void beginningAt_afterAWhile_countsFromThereUntilTheWindowIsBack() throws Exception {
    begin(21);
    Map<String, Long> before = folded(StateSet.ALL);
    show(moment.beginningAt(2000 * MS));
    run2();
    Map<String, Long> running = held(StateSet.of(State.RUN));
    assertEquals(Map.of("busy;main;work", 500L), running);
    assertEquals(1000L, held(StateSet.of(State.SLEEP)).get("sleepy;main;poll"));
    Snapshot snapshot = picture(graph(StateSet.ALL));
    assertEquals(new TimeRange(2000 * MS, 3000 * MS), snapshot.live().time().graph());
    assertEquals(
        2, tasks(new TasksQuery(false, true, TasksQuery.Order.PID, 9, null), 1000 * MS).tasks());
    show(moment.withoutSince());
    Map<String, Long> all = held(StateSet.ALL);
    before.forEach((stack, nanos) -> assertTrue(all.get(stack) >= nanos, stack));
  }
}

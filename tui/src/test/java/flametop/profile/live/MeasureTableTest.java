package flametop.profile.live;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.profile.answer.Function;
import flametop.profile.answer.GraphQuery;
import flametop.profile.answer.GraphSlice;
import flametop.profile.answer.Moment;
import flametop.profile.answer.NodeKind;
import flametop.profile.answer.RootOrder;
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
import java.util.Arrays;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each operation of a graph, for the measures of two sources in one stream. */
class MeasureTableTest extends ProfileFixture {
  private static final int BYTES = 0;
  private static final int CALLS = 1;
  private static final Function FILL = new Function(NodeKind.USER, "app", "fill");

  MeasureTableTest() {
    super("0", Options.DEFAULT);
  }

  /**
   * Two processes: in the first second app weighs 3 units in fill and 1 in poll, in the second
   * second web weighs 4 in poll.
   */
  @BeforeEach
  void stream() {
    send(
        new Batch(sequence++, 1_000, true)
            .program(0, 10, "app")
            .program(1, 20, "web")
            .app("main", "poll", "fill")
            .stack(0, 0, 1)
            .stack(1, 0, 2)
            .source(BYTES, 1, "fault,weight=bytes")
            .source(CALLS, 0, "switch")
            .changed(1_000, 0, 0, 0, State.SLEEP, 1)
            .changed(1_000, 1, 0, 0, State.SLEEP, 1));
    Batch first = new Batch(sequence++, 2_000, true);
    Batch second = new Batch(sequence++, 3_000, true);
    for (int source : new int[] {BYTES, CALLS}) {
      long unit = unit(source);
      first
          .totals(source, 4, 4 * unit, 4, 0)
          .event(1_100, 0, 1, source, 3 * unit, 0)
          .event(1_200, 0, 0, source, unit, 0);
      second.totals(source, 8, 8 * unit, 8, 0).event(2_500, 1, 0, source, 4 * unit, 0);
    }
    send(first);
    send(second);
  }

  private static long unit(int source) {
    return source == BYTES ? 4_096 : 1;
  }

  private Snapshot searched(Pattern search) throws Exception {
    Snapshot s;
    do {
      s = picture(new GraphQuery(StateSet.ALL, 0, 0, 80, 9, search));
    } while (s.refolding() || s.search() != null && s.search().more());
    return s;
  }

  /** What stands below the root, in units. */
  private String graph(int source) throws Exception {
    GraphSlice slice = searched(null).graph();
    TreeMap<String, Long> below = new TreeMap<>();
    for (int i = 0; i < slice.size(); i++) {
      if (slice.parent()[i] == 0 && i != 0) {
        below.merge(slice.name()[i], slice.weight()[i] / unit(source), Long::sum);
      }
    }
    return below.toString();
  }

  @ParameterizedTest
  @CsvSource({"0", "1"})
  void operations_ofEachMeasure_countItsWeights(int source) throws Exception {
    long unit = unit(source);
    profile.measure(source);
    assertEquals("{app=4, web=4}", graph(source));

    profile.shape(Shape.of(new Shape.Group(RootOrder.NONE)));
    assertEquals("{main=8}", graph(source));
    profile.shape(Shape.of(new Shape.Group(RootOrder.PROCESS)));
    assertEquals(8 * unit, searched(null).total());
    profile.shape(Shape.of(new Shape.Group(RootOrder.THREAD)));
    assertEquals(8 * unit, searched(null).total());

    profile.shape(Shape.of(new Shape.Comms(Set.of("app"), false)));
    assertEquals("{app=4}", graph(source));
    profile.shape(Shape.of(new Shape.Processes(Set.of(10), true)));
    assertEquals("{web=4}", graph(source));
    profile.shape(Shape.of(new Shape.Through(FILL, false)));
    assertEquals("{app=3}", graph(source));
    profile.shape(Shape.of(new Shape.Group(RootOrder.NONE), new Shape.Reverse()));
    assertEquals("{fill=3, poll=5}", graph(source));
    profile.shape(Shape.PLAIN);

    assertEquals(3 * unit, searched(Pattern.compile("fill")).search().weight());
    assertEquals(4 * unit, processes(StateSet.ALL).get(0).weight());

    TopReport top = top(new TopQuery(StateSet.ALL, TopQuery.Order.SELF, 9, null, null));
    assertEquals("poll", top.rows().get(0).function().name());
    assertEquals(5 * unit, top.rows().get(0).self());
    assertEquals(8 * unit, top.total());

    TasksQuery byCpu = new TasksQuery(false, true, TasksQuery.Order.CPU, 9, null);
    TasksReport tasks;
    do {
      // On a busy machine the first answers are of the past that is summed so far.
      tasks = (TasksReport) get(profile.page(byCpu));
    } while (tasks.rows().stream().mapToLong(TasksReport.Row::run).sum() < 8 * unit);
    assertEquals(
        8 * unit, tasks.rows().stream().mapToLong(TasksReport.Row::run).sum(), "rows of tasks");

    assertEquals(3 * unit, sandwich("fill", 0).total());
  }

  @ParameterizedTest
  @CsvSource({"0", "1"})
  void moments_ofEachMeasure_areThoseOfItsWeights(int source) throws Exception {
    long unit = unit(source);
    profile.measure(source);
    profile.show(Moment.last(1_000_000_000));
    assertEquals("{web=4}", graph(source));
    profile.show(Moment.ALL.withRange(new TimeRange(1_000_000_000L, 2_000_000_000L)));
    assertEquals("{app=4}", graph(source));

    profile.show(Moment.ALL.withFrozen(true));
    send(
        new Batch(sequence++, 4_000, true)
            .totals(source, 9, 10 * unit, 9, 0)
            .event(3_500, 1, 0, source, 2 * unit, 0));
    assertEquals(8 * unit, searched(null).total());
    profile.show(Moment.ALL);
    assertEquals(10 * unit, searched(null).total());

    profile.show(Moment.last(1_000_000_000).compared());
    send(new Batch(sequence++, 4_500, true));
    send(
        new Batch(sequence++, 5_000, true)
            .totals(source, 10, 16 * unit, 10, 0)
            .event(4_900, 0, 1, source, 6 * unit, 0));
    GraphSlice slice = searched(null).graph();
    int web = Arrays.asList(slice.name()).indexOf("web");
    assertTrue(slice.baseline() != null && slice.before(web) == 2 * unit, "web was 2 units");
    assertEquals(6 * unit, searched(null).total());
  }
}

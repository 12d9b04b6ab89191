package flametop.view.screen;

import flametop.profile.answer.CpuRow;
import flametop.profile.answer.EventsReport;
import flametop.profile.answer.GraphQuery;
import flametop.profile.answer.Measure;
import flametop.profile.answer.Selection;
import flametop.profile.answer.Shape;
import flametop.profile.answer.Snapshot;
import flametop.profile.answer.StateSet;
import flametop.profile.answer.TimeRange;
import flametop.sampler.State;
import flametop.view.base.CellGrid;
import flametop.view.base.Origin;
import flametop.view.base.View;
import flametop.view.layout.Scene;
import flametop.view.state.Keymap;
import flametop.view.state.PaintOptions;
import flametop.view.state.Questions;
import flametop.view.state.ViewState;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Machines made by hand for tests of the screen: invented, but such as there are. */
public final class Pictures {
  static final long SECOND = 1_000_000_000L;

  /** The pictures show this moment. */
  static final long NOW = 4_000 * SECOND;

  private Pictures() {}

  public static PaintOptions options() {
    return options(/* ascii= */ false, /* plain= */ false);
  }

  public static PaintOptions options(boolean ascii, boolean plain) {
    return new PaintOptions(
        "web-1", "all tasks", Origin.LIVE, ascii, plain, Pictures::user, Keymap.DEFAULT, List.of());
  }

  private static String user(int uid) {
    return switch (uid) {
      case 0 -> "root";
      case 106 -> "redis";
      case 108 -> "postgres";
      default -> Integer.toString(uid);
    };
  }

  public static ViewState state() {
    return ViewState.initial(StateSet.BUSY, Shape.PLAIN, 19, 99, SECOND / 4);
  }

  /** The same held. */
  static ViewState frozen(ViewState state) {
    return state.withMoment(state.moment().withFrozen(true));
  }

  /** The picture of a state. */
  public static Scene scene(Tree tree, ViewState state, int columns, int rows) {
    return Scene.of(snapshot(tree, state, columns), state, columns, rows, options());
  }

  /** What the profile would answer to the state's question. */
  public static Snapshot snapshot(Tree tree, ViewState state, int columns) {
    return snapshot(tree, state, columns, Reports.cpus(2), List.of());
  }

  public static Snapshot snapshot(
      Tree tree, ViewState state, int columns, List<CpuRow> cpus, List<String> notices) {
    GraphQuery query = Questions.picture(state, columns);
    boolean frozen = state.moment().frozen();
    long weight = tree.nodes.get((int) query.selected()).weight;
    long[] byState = byState(weight);
    if (tree.root.queued > 0) {
      long queued = tree.nodes.get((int) query.selected()).queued;
      byState[State.RUN.ordinal()] = weight - queued;
      byState[State.QUEUED.ordinal()] = queued;
    }
    Selection selection =
        query.selected() == GraphQuery.ROOT
            ? tree.selection(query, "", 38, 0, "", byState)
            : tree.selection(
                query, "redis-server", 1, 812, "/usr/bin/redis-server 127.0.0.1:6379", byState);
    int[] tasks = new int[State.values().length];
    boolean idle = tree.root.weight == 0;
    tasks[State.RUN.ordinal()] = idle ? 0 : 3;
    tasks[State.QUEUED.ordinal()] = idle ? 0 : 1;
    tasks[State.SLEEP.ordinal()] = 408;
    Snapshot.Covered time =
        new Snapshot.Covered(
            TimeRange.before(NOW, Math.min(state.moment().windowNanos(), 30 * SECOND)),
            false,
            frozen,
            frozen ? 12 * SECOND : 0,
            Optional.empty(),
            42 * SECOND,
            Snapshot.Past.FULL);
    Snapshot.Host host =
        new Snapshot.Host(
            NOW,
            tasks,
            cpus,
            busy(idle),
            waiting(idle),
            new double[] {1.42, 0.97, 0.66},
            state.pace().passHz(),
            state.pace().cpuHz());
    return new Snapshot(
        tree.slice(query),
        tree.root.weight,
        selection,
        tree.search(query),
        state.shape().reversed(),
        false,
        new Snapshot.Live(
            Measure.TIME,
            time,
            host,
            new Snapshot.Losses(0, 0, 0.012, tree.hasGuesses() ? 0.031 : 0, 0, 0.014),
            new Snapshot.Cost(NOW, SECOND),
            state.view() == View.EVENTS ? EventPictures.report() : EventsReport.NONE,
            false),
        notices);
  }

  static long[] byState(long weight) {
    long[] byState = new long[State.values().length];
    byState[State.RUN.ordinal()] = weight * 71 / 100;
    byState[State.QUEUED.ordinal()] = weight * 3 / 100;
    byState[State.SLEEP.ordinal()] = weight * 26 / 100;
    return byState;
  }

  private static float[] busy(boolean idle) {
    float[] busy = new float[300];
    for (int i = 0; i < busy.length; i++) {
      double wave =
          0.35
              + 0.45 * Math.sin(i / 23.0)
              + 0.25 * Math.sin(i / 7.0)
              + 0.6 * Math.exp(-Math.pow((i - 230) / 30.0, 2));
      busy[i] = idle ? 0.02f : (float) Math.max(0.05, Math.min(1.9, wave + 0.3));
    }
    busy[299] = idle ? 0.02f : 1.4f;
    return busy;
  }

  private static float[] waiting(boolean idle) {
    float[] waiting = new float[300];
    for (int i = 0; i < waiting.length && !idle; i++) {
      waiting[i] = (float) Math.max(0, 2.5 * Math.exp(-Math.pow((i - 230) / 20.0, 2)) - 0.1);
    }
    return waiting;
  }

  static Shape only(int pid) {
    return Shape.of(new Shape.Processes(Set.of(pid), false));
  }

  /** The state with the node at this path selected. */
  public static ViewState selecting(ViewState state, Tree tree, String... path) {
    Tree.Node node = tree.find(path);
    List<Long> trail = new ArrayList<>();
    for (Tree.Node n = node; n != null; n = n.parent) {
      trail.add(0, n.id);
    }
    return state.withSelected(node.id, trail);
  }

  /** One frame of the golden set. */
  public record Frame(String name, CellGrid grid) {
    Frame(String name, Scene scene) {
      this(name, Painter.paint(scene));
    }
  }

  /** Names from the process down to the function that reads a query. */
  public static String[] readQuery() {
    return READ_QUERY.clone();
  }

  static final String[] READ_QUERY = {
    "redis-server",
    "main",
    "aeMain",
    "aeProcessEvents",
    "connSocketEventHandler",
    "readQueryFromClient"
  };

  /** A frame of the size that its name ends in: {@code flame-80x24}. */
  static Frame frame(String name, Tree tree, ViewState state) {
    return frame(name, snapshot(tree, state, size(name)[0]), state);
  }

  static Frame frame(String name, Snapshot snapshot, ViewState state) {
    return frame(name, snapshot, state, options());
  }

  static Frame frame(String name, Snapshot snapshot, ViewState state, PaintOptions options) {
    int[] size = size(name);
    return new Frame(name, Scene.of(snapshot, state, size[0], size[1], options));
  }

  /** Columns and rows that the name of a frame ends in: {@code 80x24}. */
  static int[] size(String name) {
    String[] size = name.substring(name.lastIndexOf('-') + 1).split("x");
    return new int[] {Integer.parseInt(size[0]), Integer.parseInt(size[1])};
  }

  /** The picture of the server. */
  public static CellGrid wide(int columns, int rows) {
    Tree tree = Trees.server();
    ViewState state = selecting(state(), tree, READ_QUERY);
    return frame("wide-" + columns + "x" + rows, tree, state).grid();
  }
}

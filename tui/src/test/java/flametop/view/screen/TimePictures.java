package flametop.view.screen;

import flametop.profile.answer.Selection;
import flametop.profile.answer.Snapshot;
import flametop.profile.answer.TimeRange;
import flametop.view.layout.Scene;
import flametop.view.state.PaintOptions;
import flametop.view.state.ViewState;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Frames of other times than the present, and of what changed since. */
public final class TimePictures {
  private static final long SECOND = 1_000_000_000L;
  private static final int[][] SIZES = {{40, 10}, {80, 24}, {120, 34}, {200, 60}};

  /** The pictures show this moment. */
  private static final long NOW = 4_000 * SECOND;

  private TimePictures() {}

  static List<Pictures.Frame> golden() {
    List<Pictures.Frame> frames = new ArrayList<>();
    Tree server = Trees.server();
    Tree release = release();
    String[] write = {"api", "main", "serve", "render"};
    ViewState selected = Pictures.selecting(Pictures.state(), server, "redis-server", "main");
    ViewState comparing = Pictures.selecting(Pictures.state(), release, write);
    for (int[] size : SIZES) {
      ViewState chosen = choosing(selected, range(120, 70));
      frames.add(frame("range", ranged(server, chosen, size[0], 120, 70), chosen, size));
      frames.add(frame("compared", compared(release, comparing, size[0]), comparing, size));
      frames.add(frame("trend-up", trend(server, selected, size[0], 3_000), selected, size));
    }
    int[] small = {80, 24};
    frames.add(frame("trend-down", trend(server, selected, 80, 9_000), selected, small));
    ViewState both = choosing(comparing, range(120, 70));
    Snapshot old = ranged(server, both, 80, 131, 64);
    frames.add(frame("range-of-sums", old, both, small));
    ViewState frozen = Pictures.frozen(choosing(selected, range(60, 40)));
    frames.add(frame("range-frozen", ranged(server, frozen, 80, 60, 40), frozen, small));
    ViewState idle = choosing(selected, range(60, 40));
    frames.add(
        frame(
            "range-empty",
            ranged(Trees.idle(), idle.withSelected(0, List.of(0L)), 80, 60, 40),
            idle.withSelected(0, List.of(0L)),
            small));
    ViewState gone =
        Pictures.selecting(Pictures.state(), release, "api", "main", "serve", "escape");
    frames.add(frame("compared-gone", compared(release, gone, 80), gone, small));
    PaintOptions plain = Pictures.options(true, true);
    frames.add(
        new Pictures.Frame(
            "compared-plain-80x24",
            Painter.paint(Scene.of(compared(release, comparing, 80), comparing, 80, 24, plain))));
    return frames;
  }

  private static Pictures.Frame frame(String name, Snapshot snapshot, ViewState state, int[] size) {
    return new Pictures.Frame(
        name + "-" + size[0] + "x" + size[1],
        Painter.paint(Scene.of(snapshot, state, size[0], size[1], Pictures.options())));
  }

  /** From and to so many seconds ago. */
  public static TimeRange range(long from, long to) {
    return new TimeRange(NOW - from * SECOND, NOW - to * SECOND);
  }

  /** The same where a range of the past is chosen. */
  public static ViewState choosing(ViewState state, TimeRange range) {
    return state.withMoment(state.moment().withRange(range));
  }

  /** A service before and after a release. */
  public static Tree release() {
    Tree t = new Tree();
    t.stack(2_100, 2_050, "api", "main", "serve", "parse");
    t.stack(3_900, 1_200, "api", "main", "serve", "render", "layout");
    t.stack(1_400, 0, "api", "main", "serve", "render", "hyphenate");
    t.stack(300, 1_100, "api", "main", "serve", "escape_twice");
    t.stack(0, 2_600, "api", "main", "serve", "escape", "replace");
    t.stack(900, 880, "postgres", "main", "ServerLoop", "exec_simple_query");
    t.stack(0, 400, "api-old", "main", "drain");
    t.stack(250, 0, "gc", "main", "sweep_[j]");
    t.stack(120, 130, "kworker/u8:2", "worker_thread_[k]");
    return t;
  }

  /** The snapshot of a range from and to so many seconds ago. */
  public static Snapshot ranged(Tree tree, ViewState state, int columns, long from, long to) {
    return graphOf(tree, state, columns, range(from, to));
  }

  /** The snapshot of a range. */
  static Snapshot graphOf(Tree tree, ViewState state, int columns, TimeRange range) {
    Snapshot s = Pictures.snapshot(tree, state, columns);
    return with(s, range, true, Optional.empty(), s.selection());
  }

  /** A snapshot with nothing but sums of what is older than so many seconds. */
  public static Snapshot old(Tree tree, ViewState state, int columns, int seconds) {
    Snapshot s = Pictures.snapshot(tree, state, columns);
    Snapshot.Past past = new Snapshot.Past(seconds * SECOND, Long.MAX_VALUE, 0, 4 << 20, 0);
    return with(s, range(30, 0), false, Optional.empty(), s.selection(), past);
  }

  /** The snapshot compared with that of 90 s before. */
  public static Snapshot compared(Tree tree, ViewState state, int columns) {
    Snapshot s = Pictures.snapshot(tree, state, columns);
    return with(s, range(30, 0), false, Optional.of(range(120, 90)), s.selection());
  }

  /** The snapshot with a selection that had so many ms before. */
  public static Snapshot trend(Tree tree, ViewState state, int columns, long before) {
    Snapshot s = Pictures.snapshot(tree, state, columns);
    Selection is = s.selection();
    Selection had =
        new Selection(
            is.node(),
            is.path(),
            is.kind(),
            is.module(),
            is.guessed(),
            is.processes(),
            is.ended(),
            is.pid(),
            is.commandLine(),
            is.filter(),
            is.weight(),
            is.self(),
            is.weightByState(),
            new Selection.Certainty(840, s.total() * 7 / 1_000),
            new Selection.Before(30 * SECOND, before * 1_000_000L, s.total() * 9 / 10));
    return with(s, range(30, 0), false, Optional.empty(), had);
  }

  /** One that covers so many seconds. */
  public static Snapshot covering(Snapshot s, int seconds) {
    return with(s, range(seconds, 0), false, Optional.empty(), s.selection());
  }

  private static Snapshot with(
      Snapshot s,
      TimeRange graph,
      boolean ranged,
      Optional<TimeRange> baseline,
      Selection selection) {
    return with(s, graph, ranged, baseline, selection, s.live().time().past());
  }

  private static Snapshot with(
      Snapshot s,
      TimeRange graph,
      boolean ranged,
      Optional<TimeRange> baseline,
      Selection selection,
      Snapshot.Past past) {
    Snapshot.Live live = s.live();
    Snapshot.Covered time =
        new Snapshot.Covered(
            graph,
            ranged,
            live.time().frozen(),
            live.time().waitingNanos(),
            baseline,
            live.time().runNanos(),
            past);
    return new Snapshot(
        s.graph(),
        s.total(),
        selection,
        s.search(),
        s.reversed(),
        s.refolding(),
        new Snapshot.Live(
            live.measure(),
            time,
            live.host(),
            live.losses(),
            live.cost(),
            live.events(),
            live.ended()),
        s.notices());
  }
}

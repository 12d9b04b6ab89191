package flametop.view.screen;

import static flametop.view.screen.Pictures.NOW;
import static flametop.view.screen.Pictures.SECOND;
import static flametop.view.screen.Pictures.frame;
import static flametop.view.screen.Pictures.selecting;

import flametop.Copy;
import flametop.profile.answer.Selection;
import flametop.profile.answer.Snapshot;
import flametop.profile.answer.TimeRange;
import flametop.view.state.ViewState;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Frames of other times than the present, and of what changed since. */
public final class TimePictures {
  private TimePictures() {}

  static List<Pictures.Frame> golden() {
    List<Pictures.Frame> frames = new ArrayList<>();
    Tree server = Trees.server();
    Tree release = release();
    String[] write = {"api", "main", "serve", "render"};
    ViewState selected = selecting(Pictures.state(), server, "redis-server", "main");
    ViewState comparing = selecting(Pictures.state(), release, write);
    for (String size : List.of("40x10", "80x24", "120x34", "200x60")) {
      int columns = Pictures.size(size)[0];
      ViewState chosen = choosing(selected, range(120, 70));
      frames.add(frame("range-" + size, ranged(server, chosen, columns, 120, 70), chosen));
      frames.add(frame("compared-" + size, compared(release, comparing, columns), comparing));
      frames.add(frame("trend-up-" + size, trend(server, selected, columns, 3_000), selected));
    }
    frames.add(frame("trend-down-80x24", trend(server, selected, 80, 9_000), selected));
    ViewState both = choosing(comparing, range(120, 70));
    Snapshot old = ranged(server, both, 80, 131, 64);
    frames.add(frame("range-of-sums-80x24", old, both));
    ViewState frozen = Pictures.frozen(choosing(selected, range(60, 40)));
    frames.add(frame("range-frozen-80x24", ranged(server, frozen, 80, 60, 40), frozen));
    ViewState idle = choosing(selected, range(60, 40)).withSelected(0, List.of(0L));
    frames.add(frame("range-empty-80x24", ranged(Trees.idle(), idle, 80, 60, 40), idle));
    ViewState gone = selecting(Pictures.state(), release, "api", "main", "serve", "escape");
    frames.add(frame("compared-gone-80x24", compared(release, gone, 80), gone));
    Snapshot plain = compared(release, comparing, 80);
    frames.add(frame("compared-plain-80x24", plain, comparing, Pictures.options(true, true)));
    return frames;
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
    return with(s, "graph", range, "ranged", true);
  }

  /** A snapshot with nothing but sums of what is older than so many seconds. */
  public static Snapshot old(Tree tree, ViewState state, int columns, int seconds) {
    Snapshot s = Pictures.snapshot(tree, state, columns);
    Snapshot.Past past = new Snapshot.Past(seconds * SECOND, 0, 4 << 20, 0);
    return with(s, "graph", range(30, 0), "past", past);
  }

  /** The snapshot compared with that of 90 s before. */
  public static Snapshot compared(Tree tree, ViewState state, int columns) {
    Snapshot s = Pictures.snapshot(tree, state, columns);
    return with(s, "graph", range(30, 0), "baseline", Optional.of(range(120, 90)));
  }

  /** The snapshot with a selection that had so many ms before. */
  public static Snapshot trend(Tree tree, ViewState state, int columns, long before) {
    Snapshot s = Pictures.snapshot(tree, state, columns);
    Selection selection =
        Copy.of(
            s.selection(),
            "certainty",
            new Selection.Certainty(840, s.total() * 7 / 1_000),
            "before",
            new Selection.Before(30 * SECOND, before * 1_000_000L, s.total() * 9 / 10));
    return Copy.of(with(s, "graph", range(30, 0)), "selection", selection);
  }

  /** One that covers so many seconds. */
  public static Snapshot covering(Snapshot s, int seconds) {
    return with(s, "graph", range(seconds, 0));
  }

  /** The snapshot of another time, see {@link Copy#of}. */
  private static Snapshot with(Snapshot s, Object... time) {
    Snapshot.Live live = s.live();
    return Copy.of(s, "context", Copy.of(live, "time", Copy.of(live.time(), time)));
  }
}

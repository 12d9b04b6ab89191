package flametop.view.screen;

import flametop.profile.answer.HeatMap;
import flametop.profile.answer.Snapshot;
import flametop.profile.answer.TimeRange;
import flametop.view.layout.Scene;
import flametop.view.screen.Pictures.Frame;
import flametop.view.state.PaintOptions;
import flametop.view.state.ViewState;
import java.util.ArrayList;
import java.util.List;

/** Frames of the strip of time as a heat map. */
public final class HeatPictures {
  private static final long SECOND = 1_000_000_000L;
  private static final long MS = 1_000_000L;

  /** The pictures show this moment. */
  public static final long NOW = 4_000 * SECOND;

  /** A burst is 40 ms long, from here on, and comes again after each of these periods. */
  public static final long BURST = NOW - 3_560 * MS;

  private static final long PERIOD = 1_370 * MS;

  private HeatPictures() {}

  /** Five minutes with a burst in each period on one CPU, and some seconds of which passes told. */
  public static HeatMap map() {
    HeatMap.Column[] columns = new HeatMap.Column[301];
    for (int i = 0; i < columns.length; i++) {
      float[] busy = new float[HeatMap.CELLS];
      float[] loose = new float[HeatMap.CELLS];
      long second = NOW / SECOND - 300 + i;
      for (int cell = 0; cell < HeatMap.CELLS; cell++) {
        long time = second * SECOND + cell * HeatMap.CELL_NANOS;
        boolean burst = Math.floorMod(time - BURST, PERIOD) < 40 * MS;
        boolean full = second % 60 == 10;
        boolean passes = second % 60 == 20;
        busy[cell] = full ? 38 * MS : burst ? 20 * MS : passes ? 8 * MS : i % 3 * MS / 10;
        loose[cell] = passes && !burst ? busy[cell] : -busy[cell];
      }
      columns[i] = new HeatMap.Column(busy, loose);
    }
    return new HeatMap(NOW / SECOND, columns);
  }

  /** The same state with a heat map and the cursor at a time. */
  public static ViewState mapped(ViewState state, long cursor) {
    return state.withTime(state.time().withHeat(true).withCursor(cursor));
  }

  /** The scene of a state with its heat map. */
  public static Scene scene(Snapshot snapshot, ViewState state, int[] size, PaintOptions options) {
    return Scene.of(snapshot, map(), state, size[0], size[1], options);
  }

  static List<Frame> golden() {
    List<Frame> frames = new ArrayList<>();
    Tree server = Trees.server();
    ViewState selected = Pictures.selecting(Pictures.state(), server, "redis-server", "main");
    ViewState bursts = mapped(selected, BURST);
    TimeRange burst = new TimeRange(BURST, BURST + 40 * MS);
    ViewState chosen = TimePictures.choosing(bursts, burst);
    for (String size : List.of("40x16", "80x24", "120x40", "200x60")) {
      int columns = Pictures.size(size)[0];
      frames.add(frame("bursts-" + size, Pictures.snapshot(server, bursts, columns), bursts));
      Snapshot ranged = TimePictures.graphOf(server, chosen, columns, burst);
      frames.add(frame("bursts-range-" + size, ranged, chosen));
    }
    frames.add(frame("bursts-old-80x24", TimePictures.old(server, bursts, 80, 30), bursts));
    Snapshot snapshot = Pictures.snapshot(server, bursts, 80);
    for (boolean plain : new boolean[] {false, true}) {
      String name = plain ? "bursts-plain-80x24" : "bursts-ascii-80x24";
      frames.add(frame(name, snapshot, bursts, Pictures.options(/* ascii= */ !plain, plain)));
    }
    return frames;
  }

  private static Frame frame(String name, Snapshot snapshot, ViewState state) {
    return frame(name, snapshot, state, Pictures.options());
  }

  private static Frame frame(
      String name, Snapshot snapshot, ViewState state, PaintOptions options) {
    return new Frame(name, scene(snapshot, state, Pictures.size(name), options));
  }
}

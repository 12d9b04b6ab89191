package flametop.view.keys;

import flametop.profile.answer.TimeRange;
import flametop.view.base.Action;
import flametop.view.layout.HeatCells;
import flametop.view.layout.Scene;
import flametop.view.layout.TimeStrip;
import flametop.view.state.Step;
import flametop.view.state.TimeChoice;
import flametop.view.state.ViewState;
import org.jspecify.annotations.Nullable;

/** The keys of the strip of time while the strip is a heat map. */
final class HeatKeys {
  private static final long SECOND = 1_000_000_000L;

  private HeatKeys() {}

  /** Makes the strip a heat map with a cursor, or a strip again. The range stays in both. */
  static Step turned(Scene scene, ViewState s) {
    TimeChoice time = s.time();
    if (time.heat()) {
      return Step.answer(s.withTime(time.withOn(false).withHeat(false)), "the strip of time again");
    }
    if (scene.snapshot.isOpening()) {
      return Step.answer(s, "no time has passed yet");
    }
    ViewState next = s.withTime(time.withHeat(true));
    HeatCells map = HeatCells.of(scene.with(next));
    if (map == null) {
      return Step.answer(s, "no room for a heat map");
    }
    long cursor = time.on() ? time.cursor() : first(scene, s);
    return Step.answer(
        next.withTime(next.time().withCursor(map.cell(cursor).from())),
        "a row is "
            + map.nanos() / 1_000_000
            + " ms, from the bottom up; enter shows the graph of a cell");
  }

  /** The time that the cursor begins at: the end of the range, else a second that is complete. */
  private static long first(Scene scene, ViewState s) {
    long present = scene.snapshot.live().host().time();
    return s.moment().range().map(of -> of.to() - 1).orElse(present - SECOND);
  }

  /**
   * Does an action of the graph, if the action is about time now.
   *
   * @return null if the action is not about time
   */
  static @Nullable Step act(Scene scene, HeatCells map, ViewState s, Action action) {
    TimeChoice time = s.time();
    boolean ends = action == Action.RANGE_START || action == Action.RANGE_END;
    if (!time.on()) {
      if (!ends && action != Action.TIME) {
        return null;
      }
      ViewState on = s.withTime(time.withCursor(map.cell(first(scene, s)).from()));
      return ends ? TimeKeys.end(map.cell(on.time().cursor()), on, action) : Step.to(on);
    }
    return switch (action) {
      case DOWN -> move(scene, map, s, -map.nanos());
      case UP -> move(scene, map, s, map.nanos());
      case RANGE_START, RANGE_END -> TimeKeys.end(map.cell(time.cursor()), s, action);
      case ZOOM -> choose(map, s);
      case TIME, BACK -> TimeKeys.drop(scene, s);
      default -> {
        long columns = TimeKeys.columns(action);
        yield columns == 0 ? null : move(scene, map, s, columns * SECOND);
      }
    };
  }

  /** Chooses the cell with the cursor; within the range, the range is kept without a cursor. */
  private static Step choose(HeatCells map, ViewState s) {
    TimeRange cell = map.cell(s.time().cursor());
    boolean within = s.moment().range().map(cell::overlaps).orElse(false);
    return within ? Step.to(s.withTime(s.time().withOn(false))) : TimeKeys.choose(s, cell);
  }

  /** Moves the cursor by a time, also to times before those on the heat map. */
  private static Step move(Scene scene, HeatCells map, ViewState s, long by) {
    TimeStrip strip = map.strip();
    int past = scene.snapshot.live().host().busyCpus().length;
    long oldest = strip.time(strip.present() - past).from();
    long newest = map.cell(scene.snapshot.live().host().time()).from();
    long at = map.cell(s.time().cursor()).from();
    long to = Math.max(oldest, Math.min(newest, at + by));
    return to == at
        ? TimeKeys.atTheEnd(s, by)
        : Step.to(s.withTime(s.time().withCursor(map.cell(to).from())));
  }
}

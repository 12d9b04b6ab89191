package flametop.view.keys;

import flametop.profile.answer.TimeRange;
import flametop.view.base.Action;
import flametop.view.base.Mouse;
import flametop.view.layout.HeatCells;
import flametop.view.layout.Scene;
import flametop.view.layout.TimeStrip;
import flametop.view.state.Step;
import flametop.view.state.TimeChoice;
import flametop.view.state.ViewState;
import org.jspecify.annotations.Nullable;

/** The keys of the strip of time. */
final class TimeKeys {
  private static final int PAGE = 10;

  private TimeKeys() {}

  /**
   * Does an action of the graph, if the action is about time now.
   *
   * @return null if the action is not about time
   */
  static @Nullable Step act(Scene scene, ViewState s, Action action) {
    boolean ends = action == Action.RANGE_START || action == Action.RANGE_END;
    TimeChoice time = s.time();
    if (action == Action.GO_TO) {
      return TypedTimeKeys.begun(scene, s);
    }
    if (action == Action.HEAT_MAP) {
      return HeatKeys.turned(scene, s);
    }
    HeatCells map = HeatCells.of(scene);
    if (map != null) {
      return HeatKeys.act(scene, map, s, action);
    }
    long columns = columns(action);
    boolean moves = columns != 0 || action == Action.ZOOM || action == Action.BACK;
    if (!ends && action != Action.TIME && !(time.on() && moves)) {
      return null;
    }
    TimeStrip strip = TimeStrip.of(scene);
    if (strip == null) {
      String text =
          scene.snapshot.isOpening() ? "no time has passed yet" : "no room for a strip of time";
      return Step.answer(s.withTime(time.withOn(false)), text);
    }
    if (!time.on()) {
      TimeRange now = strip.at(scene.columns);
      long cursor = s.moment().range().map(of -> of.to() - 1).orElse(now.from());
      ViewState on = s.withTime(time.withCursor(cursor));
      return ends ? end(strip, on, action) : Step.to(on);
    }
    return switch (action) {
      case RANGE_START, RANGE_END -> end(strip, s, action);
      case ZOOM ->
          Step.answer(
              s.withTime(time.withOn(false)),
              s.moment().range().isEmpty() ? "no range chosen" : "");
      case TIME, BACK -> drop(scene, s);
      default -> move(scene, strip, s, columns);
    };
  }

  /** Columns by which an action moves the cursor; 0 for an action that does not. */
  static long columns(Action action) {
    return switch (action) {
      case LEFT -> -1;
      case RIGHT -> 1;
      case PAGE_UP -> -PAGE;
      case PAGE_DOWN -> PAGE;
      case FIRST -> -Integer.MAX_VALUE;
      case LAST -> Integer.MAX_VALUE;
      default -> 0;
    };
  }

  /** Removes cursor and range. */
  static Step drop(Scene scene, ViewState s) {
    ViewState without = withoutRange(s);
    return s.moment().range().isEmpty()
        ? Step.to(without)
        : Step.answer(without, "no range any more: " + CommonKeys.lately(scene, s));
  }

  /** The same of the window again, without a cursor. */
  static ViewState withoutRange(ViewState s) {
    return s.withTime(s.time().withoutCursor()).withMoment(s.moment().withoutRange());
  }

  /** Chooses a range: the graph shows this range from now on. */
  static Step choose(ViewState s, TimeRange range) {
    return Step.to(s.withMoment(s.moment().withRange(range)));
  }

  /** A press sets the cursor, a drag chooses a range. */
  static @Nullable Step mouse(Scene scene, ViewState s, Mouse mouse) {
    TimeStrip strip = TimeStrip.of(scene);
    if (strip == null) {
      return null;
    }
    TimeChoice time = s.time();
    HeatCells map = HeatCells.of(scene);
    TimeRange at = map == null ? strip.at(mouse.x()) : map.at(mouse.x(), mouse.y());
    if (mouse.isPress() && TimeStrip.zone(scene).has(mouse.x(), mouse.y())) {
      return Step.to(s.withTime(time.withCursor(at.from()).withDragged(at)));
    }
    TimeRange dragged = time.dragged();
    if (mouse.kind() == Mouse.Kind.DRAG && dragged != null) {
      TimeChoice to = time.withCursor(at.from()).withDragged(dragged);
      return choose(s.withTime(to), dragged.joined(at));
    }
    return mouse.kind() == Mouse.Kind.RELEASE && dragged != null
        ? Step.to(s.withTime(time.withDragged(null)))
        : null;
  }

  /** Moves the cursor by columns, also to times before those on the strip. */
  private static Step move(Scene scene, TimeStrip strip, ViewState s, long by) {
    int past = scene.snapshot.live().host().busyCpus().length;
    long oldest =
        Math.min(strip.newest() - strip.columns() + 1, strip.present() - past / strip.seconds());
    long at = strip.number(s.time().cursor());
    long to = Math.max(oldest, Math.min(strip.present(), at + by));
    return to == at
        ? atTheEnd(s, by)
        : Step.to(s.withTime(s.time().withCursor(strip.time(to).from())));
  }

  /** The answer to a move that goes no further. */
  static Step atTheEnd(ViewState s, long by) {
    return Step.answer(s, by < 0 ? "nothing further back" : "this is the present");
  }

  /**
   * Moves one end of the range to the cursor; the other end follows if it would be on the wrong
   * side.
   */
  private static Step end(TimeStrip strip, ViewState s, Action action) {
    return end(strip.at(strip.column(s.time().cursor())), s, action);
  }

  /** The same where the cursor is on some time. */
  static Step end(TimeRange at, ViewState s, Action action) {
    TimeRange range = s.moment().range().orElse(at);
    if (action == Action.RANGE_START) {
      return choose(s, range.to() > at.from() ? new TimeRange(at.from(), range.to()) : at);
    }
    return choose(s, range.from() < at.to() ? new TimeRange(range.from(), at.to()) : at);
  }
}

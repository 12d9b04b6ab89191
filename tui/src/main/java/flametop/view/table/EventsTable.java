package flametop.view.table;

import flametop.profile.answer.EventsReport;
import flametop.profile.answer.EventsReport.Row;
import flametop.profile.answer.LiveSource;
import flametop.profile.answer.Measure;
import flametop.sampler.SourceState;
import flametop.view.base.Action;
import flametop.view.base.CellGrid;
import flametop.view.base.Paint;
import flametop.view.base.Units;
import flametop.view.base.View;
import flametop.view.keys.MeasureKeys;
import flametop.view.keys.SourceListKeys;
import flametop.view.layout.MeasureWords;
import flametop.view.layout.Scene;
import flametop.view.state.Effect;
import flametop.view.state.Step;
import flametop.view.state.Typed;
import flametop.view.state.ViewState;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The measures that a graph can be of: the time of tasks, then each source of events. */
public final class EventsTable extends Table<Row, Integer, Comparator<Row>> {
  private static final int LEAST_NAME = 16;

  /** With less room for names, some figures are left out. */
  private static final int NAME = 40;

  private static final int LONGEST_NAME = 72;
  private static final int FIGURE = 10;
  private static final int SHARE = 7;

  private static final Row TIME =
      new Row(LiveSource.TIME, "time of tasks", false, SourceState.ON, "", Measure.TIME);

  private static final Comparator<Row> BY_NUMBER = Comparator.comparingInt(Row::number);
  private static final Comparator<Row> BY_HITS =
      Comparator.comparingLong(row -> -row.totals().hits());
  private static final Comparator<Row> BY_RATE =
      Comparator.comparingDouble(row -> -orZero(row.hitsPerSecond()));
  private static final Comparator<Row> BY_COST =
      Comparator.comparingDouble(row -> -orZero(row.cost()));

  /** The only table of its kind: the orders that a state holds are its own. */
  public static final EventsTable TABLE = new EventsTable();

  private EventsTable() {
    super(View.EVENTS, "measure", BY_NUMBER);
    add(
        left("measure", this::nameCells, EventsTable::name).by(BY_NUMBER, "number"),
        right("events/s", cells(FIGURE), EventsTable::perSecond).by(BY_RATE, "events a second"),
        right(
                "events",
                cells(FIGURE),
                (row, at) -> figure(row, Measure.grouped(row.totals().hits()), at))
            .by(BY_HITS, "events")
            .meaning("events", "all that were, exactly"),
        right(
                "weight",
                cells(FIGURE),
                (row, at) -> figure(row, row.measure().figure(row.totals().weight()), at))
            .meaning("weight", "of all events, exactly"),
        right("stacks", either(FIGURE, 0), (row, at) -> count(row, row.totals().taken(), at))
            .meaning("stacks", "copied; the weight is parted among them"),
        right("limited", either(FIGURE, 0), (row, at) -> count(row, limited(row), at))
            .meaning("limited", "events of which no stack was due"),
        right("lost", either(SHARE, 0), (row, at) -> count(row, row.totals().lost(), at))
            .meaning("lost", "stacks that found no room"),
        right("cost", cells(SHARE), (row, at) -> figure(row, Units.percent(row.cost()), at))
            .by(BY_COST, "cost")
            .meaning("cost", "of one CPU, of its programs"));
  }

  private static double orZero(double figure) {
    return Double.isNaN(figure) ? 0 : figure;
  }

  // Widths.

  @Override
  boolean isWide(Scene scene) {
    return scene.columns >= 3 + NAME + most();
  }

  private int nameCells(Column.Room room) {
    int others = isWide(room.scene()) ? most() : most() - FIGURE - SHARE - 2;
    return Math.max(LEAST_NAME, Math.min(LONGEST_NAME, room.columns() - 2 - others));
  }

  // Cells.

  /** What is shown has a mark before its name. */
  private static void name(Row row, Spot at) {
    boolean shown = report(at.scene).shown() == row.number();
    int paint = !row.why().isEmpty() && !row.attaching() && !at.marked ? Paint.WORSE : at.fg;
    String spec = MeasureWords.brief(row.spec(), at.width - 2);
    at.text((shown ? "› " : "  ") + spec, paint, shown ? CellGrid.BOLD : 0);
  }

  private static EventsReport report(Scene scene) {
    return scene.snapshot.isOpening() ? EventsReport.NONE : scene.snapshot.live().events();
  }

  private static void figure(Row row, String text, Spot at) {
    boolean never = row.attaching() && row.totals().hits() == 0;
    boolean counted = row.number() != LiveSource.TIME && !row.is(SourceState.MISSING) && !never;
    at.figure(counted ? text : "·", 0, "·", "n/a", "0", "0.0%");
  }

  private static void count(Row row, long count, Spot at) {
    figure(row, Measure.grouped(count), at);
  }

  private static long limited(Row row) {
    return Math.max(0, row.totals().hits() - row.totals().taken());
  }

  /** The events a second; of a source that is not on, what it is instead. */
  private static void perSecond(Row row, Spot at) {
    if (row.attaching()) {
      at.text("attaching", at.marked ? at.fg : Paint.ACCENT, 0);
    } else if (row.number() != LiveSource.TIME && !row.is(SourceState.ON)) {
      at.text(row.state().toString(), at.quiet, 0);
    } else {
      figure(row, perSecond(row.hitsPerSecond()), at);
    }
  }

  // Rows.

  @Override
  @Nullable List<Row> rows(Scene scene) {
    if (scene.snapshot.isOpening()) {
      return null;
    }
    List<Row> rows = new ArrayList<>(report(scene).rows());
    rows.sort(order(scene, scene.state).thenComparing(BY_NUMBER));
    rows.add(0, TIME);
    return rows;
  }

  @Override
  Integer key(Row row) {
    return row.number();
  }

  // What stands above the rows.

  @Override
  int rowsBelow(Scene scene) {
    return SourcePanel.rows(scene);
  }

  @Override
  void around(Scene scene, CellGrid grid, TableLayout<Row, Comparator<Row>> layout) {
    if (!layout.rows().isEmpty()) {
      SourcePanel.paint(scene, grid, layout.rows().get(layout.marked()));
    }
  }

  @Override
  String title(Scene scene) {
    return "events";
  }

  @Override
  String subtitle(Scene scene) {
    return "enter shows the graph of one; " + super.subtitle(scene);
  }

  // Verbs.

  @Override
  @Nullable Step acted(Scene scene, ViewState s, Action action) {
    return switch (action) {
      case ADD -> SourceListKeys.opened(scene, s);
      case SWITCH, REMOVE -> {
        Row row = row(scene, s);
        yield row == null
            ? none(s)
            : row.number() == LiveSource.TIME
                ? Step.answer(s, "time is always counted; mark a source, or a adds one")
                : scene.snapshot.live().ended()
                    ? Step.answer(s, "sampling has ended")
                    : action == Action.SWITCH ? switched(s, row) : removed(scene, s, row);
      }
      case FREEZE -> Step.answer(s, "this table is always of the present; freeze in the graph");
      default -> null;
    };
  }

  private static Step switched(ViewState s, Row row) {
    if (row.attaching()) {
      return Step.answer(s, "it is still being attached");
    }
    return row.is(SourceState.ON)
        ? Step.to(
            s.withMessage("off: " + row.spec() + "; what it counted stays"),
            new Effect.SwitchOff(row.number()))
        : Step.to(
            s.withMessage("attaching " + row.spec() + "…"),
            new Effect.SwitchOn(row.number(), row.spec()));
  }

  private static Step removed(Scene scene, ViewState s, Row row) {
    ViewState kept = s.withUsed(Typed.SPEC, row.spec());
    // A source that is shown gives way to time.
    ViewState next = report(scene).shown() == row.number() ? kept.atRoot().ofEvents(false) : kept;
    return Step.to(
        next.withMessage("removed: " + row.spec()), new Effect.RemoveSource(row.number()));
  }

  /** Shows the graph of the measure, of the same window. */
  @Override
  Step enter(Scene scene, ViewState s) {
    Row row = row(scene, s);
    if (row == null) {
      return none(s);
    }
    if (row.is(SourceState.MISSING)) {
      return Step.answer(s, row.why());
    }
    return row.attaching()
        ? Step.answer(s, "it is still being attached")
        : MeasureKeys.shown(s.withView(View.GRAPH), row);
  }

  @Override
  String copied(Row row) {
    return row.spec();
  }
}

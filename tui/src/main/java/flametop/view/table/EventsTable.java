package flametop.view.table;

import flametop.profile.answer.EventsReport;
import flametop.profile.answer.EventsReport.Row;
import flametop.profile.answer.LiveSource;
import flametop.profile.answer.Measure;
import flametop.profile.answer.Moment;
import flametop.profile.answer.StateSet;
import flametop.sampler.SourceState;
import flametop.sampler.SourceTotals;
import flametop.view.base.Action;
import flametop.view.base.CellGrid;
import flametop.view.base.Paint;
import flametop.view.base.Units;
import flametop.view.base.View;
import flametop.view.layout.Heading;
import flametop.view.layout.Scene;
import flametop.view.state.Effect;
import flametop.view.state.Step;
import flametop.view.state.TimeChoice;
import flametop.view.state.ViewState;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
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
      new Row(
          LiveSource.TIME,
          "time of tasks",
          SourceState.ON,
          "",
          Measure.TIME,
          SourceTotals.NONE,
          Double.NaN,
          Double.NaN,
          Double.NaN);

  private static final Comparator<Row> BY_NUMBER = Comparator.comparingInt(Row::number);
  private static final Comparator<Row> BY_HITS =
      Comparator.comparingLong(row -> -row.totals().hits());
  private static final Comparator<Row> BY_RATE =
      Comparator.comparingDouble(row -> -orZero(row.hitsPerSecond()));
  private static final Comparator<Row> BY_COST =
      Comparator.comparingDouble(row -> -orZero(row.cost()));

  /** The only table of its kind: the orders that a state holds are its own. */
  public static final EventsTable TABLE = new EventsTable();

  private final List<Column<Row, Comparator<Row>>> columns =
      List.of(
          left("measure", this::nameCells, EventsTable::name).by(BY_NUMBER, "number"),
          right("events/s", cells(FIGURE), (row, at) -> figure(row, perSecond(row), at))
              .by(BY_RATE, "events a second"),
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
          right("stacks", either(FIGURE, 0), EventsTable::stacks)
              .meaning("stacks", "copied; the weight is parted among them"),
          right("lost", either(SHARE, 0), EventsTable::lost)
              .meaning("lost", "stacks that found no room"),
          right("cost", cells(SHARE), (row, at) -> figure(row, Units.percent(row.cost()), at))
              .by(BY_COST, "cost")
              .meaning("cost", "of one CPU, of its programs"));

  private EventsTable() {
    super(View.EVENTS);
  }

  private static double orZero(double figure) {
    return Double.isNaN(figure) ? 0 : figure;
  }

  @Override
  List<Column<Row, Comparator<Row>>> columns() {
    return columns;
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

  /** What is shown has a mark before its name; what is missing says why where figures would be. */
  private static void name(Row row, Spot at) {
    boolean shown = shown(at.scene) == row.number();
    int paint = row.state().equals(SourceState.MISSING) ? Paint.WORSE : at.fg;
    at.text((shown ? "▸ " : "  ") + row.spec(), paint, shown ? CellGrid.BOLD : 0);
  }

  private static int shown(Scene scene) {
    return scene.page instanceof EventsReport report ? report.shown() : LiveSource.TIME;
  }

  private static void figure(Row row, String text, Spot at) {
    boolean counted = row.number() != LiveSource.TIME && !row.state().equals(SourceState.MISSING);
    at.figure(counted ? text : "·", 0, "·", "n/a", "0", "0.0%");
  }

  private static String perSecond(Row row) {
    double hits = row.hitsPerSecond();
    if (row.state().equals(SourceState.OFF)) {
      return "off";
    }
    return Double.isNaN(hits)
        ? "n/a"
        : hits > 0 && hits < 10
            ? String.format(Locale.ROOT, "%.1f", hits)
            : Measure.grouped(Math.round(hits));
  }

  private static void stacks(Row row, Spot at) {
    figure(row, Measure.grouped(row.totals().taken()), at);
  }

  private static void lost(Row row, Spot at) {
    long lost = row.totals().lost();
    figure(row, lost == 0 ? "·" : Measure.grouped(lost), at);
  }

  // Rows.

  @Override
  @Nullable List<Row> rows(Scene scene) {
    if (!(scene.page instanceof EventsReport report)) {
      return null;
    }
    List<Row> rows = new ArrayList<>(report.rows());
    rows.sort(order(scene, scene.state).thenComparing(BY_NUMBER));
    rows.add(0, TIME);
    return rows;
  }

  @Override
  Integer key(Row row) {
    return row.number();
  }

  @Override
  Comparator<Row> order(Scene scene, ViewState s) {
    return place(s).orderOr(BY_NUMBER);
  }

  @Override
  String thing(ViewState s) {
    return "measure";
  }

  // What stands above the rows.

  /** Beside the rows: why the marked source is missing. */
  @Override
  Heading heading(Scene scene) {
    Row row = row(scene, scene.state);
    return Heading.of(scene, row == null || row.why().isEmpty() ? List.of() : List.of(row.why()));
  }

  @Override
  String title(Scene scene) {
    return "events";
  }

  @Override
  String subtitle(Scene scene) {
    return "enter shows the graph of one; first by " + label(order(scene, scene.state));
  }

  @Override
  String waiting() {
    return "counting…";
  }

  // Verbs.

  @Override
  @Nullable Step acted(Scene scene, ViewState s, Action action) {
    return action == Action.PICK ? enter(scene, s) : null;
  }

  /** Shows the graph of the measure, of the same window. */
  @Override
  Step enter(Scene scene, ViewState s) {
    Row row = row(scene, s);
    if (row == null) {
      return none(s);
    }
    if (row.state().equals(SourceState.MISSING)) {
      return Step.answer(s, row.why());
    }
    Moment moment = s.moment().comparedNoMore();
    ViewState shown = s.atRoot().withTime(TimeChoice.NONE).withMoment(moment).withView(View.GRAPH);
    // Events have no states: none of them may be left out.
    ViewState whole = row.number() == LiveSource.TIME ? shown : shown.withStates(StateSet.ALL);
    return Step.to(whole.withMessage("shows " + row.spec()), new Effect.ShowMeasure(row.number()));
  }

  @Override
  String copied(Row row) {
    return row.spec();
  }
}

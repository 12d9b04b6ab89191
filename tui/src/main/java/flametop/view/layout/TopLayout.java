package flametop.view.layout;

import flametop.profile.answer.Capability;
import flametop.profile.answer.Snapshot;
import flametop.profile.answer.TopQuery;
import flametop.profile.answer.TopReport;
import java.util.List;

/** Where the table of functions stands. */
public final class TopLayout {
  private static final int PERCENT = 6;
  private static final int AMOUNT = 12;
  private static final int MOST_NAME = 100;

  private TopLayout() {}

  public enum Column {
    SELF_BEFORE(null),
    SELF(TopQuery.Order.SELF),
    SELF_CHANGE(TopQuery.Order.SELF_CHANGE),
    TOTAL_BEFORE(null),
    TOTAL(TopQuery.Order.TOTAL),
    TOTAL_CHANGE(TopQuery.Order.TOTAL_CHANGE),
    BAR(TopQuery.Order.TOTAL),
    AMOUNT(TopQuery.Order.TOTAL),
    CPUS(TopQuery.Order.RUN),
    RUN(TopQuery.Order.RUN),
    QUEUED(TopQuery.Order.QUEUED),
    DISK(TopQuery.Order.DISK),
    SLEEP(TopQuery.Order.SLEEP),
    NAME(TopQuery.Order.NAME),
    MODULE(null);

    public final TopQuery.Order order;

    Column(TopQuery.Order order) {
      this.order = order;
    }

    public static Column of(TopQuery.Order order) {
      return switch (order) {
        case SELF -> SELF;
        case TOTAL -> TOTAL;
        case RUN -> RUN;
        case QUEUED -> QUEUED;
        case DISK -> DISK;
        case SLEEP -> SLEEP;
        case SELF_CHANGE -> SELF_CHANGE;
        case TOTAL_CHANGE -> TOTAL_CHANGE;
        case NAME -> NAME;
      };
    }
  }

  public static TableLayout<Column> of(Scene scene) {
    List<TopReport.Row> rows = scene.page instanceof TopReport report ? report.rows() : List.of();
    int marked = scene.state.top().index(rows);
    return TableArea.of(scene).table(columns(scene), marked, rows.size());
  }

  private static Columns<Column> columns(Scene scene) {
    int width = scene.columns;
    boolean file = !scene.options.origin().has(Capability.STATES);
    boolean compared = scene.compares();
    Columns<Column> columns = new Columns<>();
    if (compared) {
      int before = width < 60 ? -1 : PERCENT;
      columns.right(Column.SELF_BEFORE, "was", before);
      columns.right(Column.SELF, "self", before);
      columns.right(Column.SELF_CHANGE, width < 60 ? "self" : "change", Columns.CHANGE);
      columns.right(Column.TOTAL_BEFORE, "was", before);
      columns.right(Column.TOTAL, "total", before);
      columns.right(Column.TOTAL_CHANGE, width < 60 ? "total" : "change", Columns.CHANGE);
    } else {
      columns.right(Column.SELF, "self", PERCENT).right(Column.TOTAL, "total", PERCENT);
    }
    // What a comparison takes it has from the figures that say least of it.
    int rest = compared ? width - 36 : width;
    columns.left(Column.BAR, "", rest < 60 ? -1 : rest < 100 ? 10 : rest < 160 ? 16 : 30);
    columns.right(Column.AMOUNT, unit(scene), !file || rest < 70 ? -1 : AMOUNT);
    columns.right(Column.CPUS, "cpus", file || rest < 70 ? -1 : 6);
    int states = file || rest < 110 ? -1 : PERCENT;
    columns.right(Column.RUN, "run", states).right(Column.QUEUED, "queued", states);
    columns.right(Column.DISK, "disk", states).right(Column.SLEEP, "asleep", states);
    int module = rest < 70 ? -1 : rest < 110 ? 14 : rest < 160 ? 18 : 26;
    int room = width - 1 - columns.end() - (module < 0 ? 0 : module + 1);
    // A wide name is not far from its module.
    columns.left(Column.NAME, "  function", Math.min(MOST_NAME, room));
    return columns.left(Column.MODULE, "module", module);
  }

  /** What a file counts; empty live. */
  private static String unit(Scene scene) {
    Snapshot.Reading reading = scene.snapshot == null ? null : scene.snapshot.reading();
    return reading == null ? "" : reading.unit().equals("us") ? "time" : reading.unit();
  }
}

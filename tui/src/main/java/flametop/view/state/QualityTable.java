package flametop.view.state;

import flametop.profile.answer.QualityReport;
import flametop.sampler.WalkEnd;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * The table of the quality view. Immutable.
 *
 * @param modules its rows are modules, not processes
 * @param order what comes first
 * @param marked the row that is marked, by {@link #key}; empty: the first
 */
public record QualityTable(boolean modules, Order order, String marked) {
  public static final QualityTable FIRST = new QualityTable(false, new Order(Sort.SAMPLES), "");

  /** What rows are ordered by; all but pids and names begin with the most. */
  public enum Sort {
    SAMPLES("samples"),
    SHORT("short ones"),
    SHARE("share of short ones"),
    GUESSED("guessed"),
    NAME("name"),
    PID("pid"),
    /** By those that ended for one reason. */
    REASON("short ones");

    private final String label;

    Sort(String label) {
      this.label = label;
    }
  }

  /**
   * An order of the rows.
   *
   * @param reason of {@link Sort#REASON}, else null
   */
  public record Order(Sort sort, WalkEnd reason) {
    public Order(Sort sort) {
      this(sort, null);
    }

    public String label() {
      return reason == null ? sort.label : sort.label + ": " + reason.reason();
    }

    /** The next of those that are not of a column alone. */
    public Order next() {
      return new Order(
          switch (sort) {
            case SAMPLES -> Sort.SHORT;
            case SHORT, REASON -> Sort.SHARE;
            case SHARE -> Sort.GUESSED;
            case GUESSED -> Sort.NAME;
            case NAME, PID -> Sort.SAMPLES;
          });
    }
  }

  public QualityTable turned() {
    return new QualityTable(!modules, order, "");
  }

  public QualityTable by(Order value) {
    return new QualityTable(modules, value, marked);
  }

  public QualityTable withMarked(QualityReport.Row row) {
    return new QualityTable(modules, order, key(row));
  }

  /** Who a row is, from one report to the next. */
  static String key(QualityReport.Row row) {
    return row.pid() + "/" + row.name();
  }

  public List<QualityReport.Row> rows(QualityReport report) {
    List<QualityReport.Row> rows = new ArrayList<>(modules ? report.modules() : report.processes());
    Comparator<QualityReport.Row> most =
        switch (order.sort()) {
          case SAMPLES -> Comparator.comparingLong(row -> -row.counts().samples());
          case SHORT -> Comparator.comparingLong(row -> -shortOnes(row));
          case SHARE ->
              Comparator.comparingDouble(row -> -(double) shortOnes(row) / row.counts().samples());
          case GUESSED -> Comparator.comparingLong(row -> -row.counts().guessed());
          case NAME -> Comparator.comparing(QualityReport.Row::name);
          case PID -> Comparator.comparingInt(QualityReport.Row::pid);
          case REASON -> Comparator.comparingLong(row -> -row.counts().of(order.reason()));
        };
    rows.sort(most.thenComparing(QualityReport.Row::name).thenComparingInt(QualityReport.Row::pid));
    return rows;
  }

  private static long shortOnes(QualityReport.Row row) {
    return row.counts().samples() - row.counts().whole();
  }

  /** Index of the marked row; the first if it is gone. */
  public int index(List<QualityReport.Row> rows) {
    for (int i = 0; i < rows.size(); i++) {
      if (key(rows.get(i)).equals(marked)) {
        return i;
      }
    }
    return 0;
  }
}

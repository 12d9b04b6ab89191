package flametop.view;

import flametop.profile.QualityReport;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * The table of the quality view. Immutable.
 *
 * @param modules its rows are modules, not processes
 * @param sort what comes first
 * @param marked the row that is marked, by {@link #key}; empty: the first
 */
record QualityTable(boolean modules, Sort sort, String marked) {
  static final QualityTable FIRST = new QualityTable(false, Sort.SAMPLES, "");

  /** Orders of the rows; all but names begin with the most. */
  enum Sort {
    SAMPLES("samples"),
    SHORT("short ones"),
    SHARE("share of short ones"),
    GUESSED("guessed"),
    NAME("name");

    private final String label;

    Sort(String label) {
      this.label = label;
    }

    String label() {
      return label;
    }

    Sort next() {
      return values()[(ordinal() + 1) % values().length];
    }
  }

  QualityTable turned() {
    return new QualityTable(!modules, sort, "");
  }

  QualityTable resorted() {
    return new QualityTable(modules, sort.next(), marked);
  }

  QualityTable withMarked(QualityReport.Row row) {
    return new QualityTable(modules, sort, key(row));
  }

  /** Who a row is, from one report to the next. */
  static String key(QualityReport.Row row) {
    return row.pid() + "/" + row.name();
  }

  List<QualityReport.Row> rows(QualityReport report) {
    List<QualityReport.Row> rows = new ArrayList<>(modules ? report.modules() : report.processes());
    Comparator<QualityReport.Row> most =
        switch (sort) {
          case SAMPLES -> Comparator.comparingLong(row -> -row.counts().samples());
          case SHORT -> Comparator.comparingLong(row -> -shortOnes(row));
          case SHARE ->
              Comparator.comparingDouble(row -> -(double) shortOnes(row) / row.counts().samples());
          case GUESSED -> Comparator.comparingLong(row -> -row.counts().guessed());
          case NAME -> Comparator.comparing(QualityReport.Row::name);
        };
    rows.sort(most.thenComparing(QualityReport.Row::name).thenComparingInt(QualityReport.Row::pid));
    return rows;
  }

  private static long shortOnes(QualityReport.Row row) {
    return row.counts().samples() - row.counts().whole();
  }

  /** Index of the marked row; the first if it is gone. */
  int index(List<QualityReport.Row> rows) {
    for (int i = 0; i < rows.size(); i++) {
      if (key(rows.get(i)).equals(marked)) {
        return i;
      }
    }
    return 0;
  }
}

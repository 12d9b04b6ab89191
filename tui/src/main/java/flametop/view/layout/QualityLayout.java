package flametop.view.layout;

import flametop.profile.answer.QualityReport;
import flametop.sampler.WalkEnd;
import flametop.view.state.QualityTable;
import java.util.List;
import java.util.Map;

/** Where the table of the quality stands, below the sums. */
public final class QualityLayout {
  private static final int PID = 7;
  private static final int REASON = 9;
  private static final int NAME = 23;
  private static final int LONGEST_NAME = 36;
  private static final int LONGEST_MODULE = 64;

  /** All but names and reasons. */
  private static final int FIXED = 1 + 1 + 9 + 8 + 9;

  private static final WalkEnd[] ENDS = WalkEnd.values();

  /** Reasons that are longer than a column. */
  private static final Map<WalkEnd, String> SHORT =
      Map.of(
          WalkEnd.OTHER_STACK, "other stk",
          WalkEnd.UNREADABLE, "no file",
          WalkEnd.NARROW, "32-bit",
          WalkEnd.ABSENT, "absent",
          WalkEnd.NO_UNWIND_INFO, "no unwind",
          WalkEnd.JIT, "jit no fp");

  private QualityLayout() {}

  /** What the columns are; reasons have their own. */
  public enum Column {
    PID(QualityTable.Sort.PID),
    NAME(QualityTable.Sort.NAME),
    SAMPLES(QualityTable.Sort.SAMPLES),
    WHOLE(QualityTable.Sort.SHARE),
    GUESSED(QualityTable.Sort.GUESSED),
    REST(QualityTable.Sort.SHORT);

    final QualityTable.Sort sort;

    Column(QualityTable.Sort sort) {
      this.sort = sort;
    }

    public static Object of(QualityTable.Order order) {
      return switch (order.sort()) {
        case PID -> PID;
        case NAME -> NAME;
        case SAMPLES -> SAMPLES;
        case SHARE, SHORT -> WHOLE;
        case GUESSED -> GUESSED;
        case REASON -> order.reason();
      };
    }
  }

  public static TableLayout<Object> of(Scene scene) {
    QualityTable table = scene.state.quality();
    List<QualityReport.Row> rows =
        scene.page instanceof QualityReport report ? table.rows(report) : List.of();
    Heading heading = Heading.of(scene, 1 + sumRows(scene));
    return TableLayout.around(
        heading,
        columns(scene, table.modules()),
        heading.end + 1,
        scene.rows - 1,
        table.index(rows),
        rows.size());
  }

  /** The order that the head of a column stands for. */
  public static QualityTable.Order order(Object column) {
    return column instanceof Column own
        ? new QualityTable.Order(own.sort)
        : new QualityTable.Order(QualityTable.Sort.REASON, (WalkEnd) column);
  }

  /** In a low window the table goes before the sums: of four lines, and the cost in two rows. */
  public static int sumRows(Scene scene) {
    int names = debugFiles(scene).isEmpty() ? 0 : 1;
    return scene.rows >= 16 ? 4 * rowsPerLine(scene) + 2 + names : 0;
  }

  /** How far the names are that debug files have; empty if none are looked for. */
  public static String debugFiles(Scene scene) {
    return scene.page instanceof QualityReport report ? report.debugFiles().toString() : "";
  }

  /** Rows of two figures that belong together. */
  public static int rowsPerLine(Scene scene) {
    return scene.columns < 120 && scene.rows >= 24 ? 2 : 1;
  }

  private static Columns<Object> columns(Scene scene, boolean modules) {
    int reasons = (REASON + 1) * (ENDS.length - 1);
    boolean wide = scene.columns >= NAME + FIXED + reasons;
    // Figures that are far from their name are read in the wrong row.
    int most = modules ? LONGEST_MODULE : LONGEST_NAME;
    int room = Math.min(scene.columns - FIXED - reasons, most);
    int name = wide ? room : scene.columns < 60 ? NAME - 2 : NAME;
    Columns<Object> columns = new Columns<>(scene.columns);
    columns.right(Column.PID, "pid", modules ? -1 : PID);
    columns.left(Column.NAME, modules ? "module" : "process", modules ? name : name - PID - 1);
    columns.right(Column.SAMPLES, "samples", 8);
    columns.right(Column.WHOLE, modules ? "beyond" : "whole", 7);
    columns.right(Column.GUESSED, "guessed", 8);
    for (int i = 1; wide && i < ENDS.length; i++) {
      columns.right(ENDS[i], label(ENDS[i]), REASON);
    }
    String rest = modules ? " walks that ended in it" : " the rest";
    return columns.left(Column.REST, rest, wide ? -1 : scene.columns - 1 - columns.end());
  }

  /** A reason in the width of a column. */
  public static String label(WalkEnd end) {
    return SHORT.getOrDefault(end, end.reason());
  }
}

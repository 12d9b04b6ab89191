package flametop.view.paint;

import flametop.profile.answer.QualityReport;
import flametop.sampler.OwnPart;
import flametop.sampler.WalkEnd;
import flametop.view.base.CellGrid;
import flametop.view.base.Paint;
import flametop.view.base.Role;
import flametop.view.base.TextWidth;
import flametop.view.base.Units;
import flametop.view.base.Zone;
import flametop.view.layout.Columns;
import flametop.view.layout.Heading;
import flametop.view.layout.QualityLayout;
import flametop.view.layout.QualityLayout.Column;
import flametop.view.layout.Scene;
import flametop.view.layout.TableLayout;
import flametop.view.state.QualityTable;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/** How good the samples are and what they cost: sums, then a table by process or by module. */
public final class QualityPainter implements ViewPainter {
  private static final int GROUND = Paint.of(Role.GROUND);
  private static final int TEXT = Paint.of(Role.TEXT);
  private static final int DIM = Paint.of(Role.DIM);
  private static final int ACCENT = Paint.of(Role.ACCENT);

  private static final int LABEL = 9;

  /** Share of short walks from which on their reasons stand out. */
  private static final double MANY = 0.1;

  private static final WalkEnd[] ENDS = WalkEnd.values();

  @Override
  public void paint(Scene scene, CellGrid grid) {
    for (int y = 1; y < scene.rows; y++) {
      grid.fill(0, y, scene.columns, GROUND);
    }
    TableLayout<Object> layout = QualityLayout.of(scene);
    Heading heading = layout.heading();
    String what = scene.state.quality().modules() ? "modules" : "processes";
    String how = "first by " + scene.state.quality().order().label();
    HeadingPainter.paint(heading, scene, grid, what, how);
    if (scene.page instanceof QualityReport report) {
      if (QualityLayout.sumRows(scene) > 0) {
        sums(scene, grid, report);
      }
      table(scene, grid, report, layout);
    } else {
      grid.text(1, heading.end, scene.columns - 2, "counting…", DIM, GROUND, 0);
    }
    KeyLinePainter.paint(scene, grid);
  }

  private static void sums(Scene scene, CellGrid grid, QualityReport report) {
    QualityReport.Sum window = report.window();
    QualityReport.Sum all = report.all();
    String span = " in " + Units.span(report.windowNanos());
    int y = 1;
    y += line(scene, grid, y, "samples", samples(window) + span, samples(all) + " in all");
    y += line(scene, grid, y, "passes", passes(window) + span, passes(all) + " in all");
    int lost = Paint.of(all.lostSamples() + all.lostEnds() > 0 ? Role.WORSE : Role.ACCENT);
    grid.text(1, y, LABEL, "lost", lost, GROUND, 0);
    y += line(scene, grid, y, "", losses(window) + span, losses(all) + " in all");
    cost(scene, grid, y, report.parts());
    List<String> memory = new ArrayList<>();
    for (OwnPart part : report.resident()) {
      memory.add(part.name() + " " + (part.value() >> 20) + " MiB");
    }
    y += 2;
    y +=
        line(
            scene,
            grid,
            y,
            "bytes",
            "stacks "
                + perSecond(report.copiedPerSecond())
                + ", stream "
                + perSecond(report.streamPerSecond()),
            "memory " + (memory.isEmpty() ? "n/a" : String.join(", ", memory)));
    String files = QualityLayout.debugFiles(scene);
    if (!files.isEmpty()) {
      grid.text(1, y, LABEL, "names", ACCENT, GROUND, 0);
      grid.text(1 + LABEL, y, scene.columns - LABEL - 2, files, TEXT, GROUND, 0);
    }
  }

  /** Two figures, side by side or one below the other; returns the rows that it takes. */
  private static int line(
      Scene scene, CellGrid grid, int y, String label, String first, String second) {
    grid.text(1, y, LABEL, label, ACCENT, GROUND, 0);
    int x = 1 + LABEL;
    int end = x + grid.text(x, y, scene.columns - x - 1, first, TEXT, GROUND, 0);
    if (QualityLayout.rowsPerLine(scene) == 2) {
      grid.text(x, y + 1, scene.columns - x - 1, second, DIM, GROUND, 0);
    } else if (end + 2 + TextWidth.of(second) < scene.columns) {
      grid.text(end + 2, y, scene.columns - end - 3, second, DIM, GROUND, 0);
    }
    return QualityLayout.rowsPerLine(scene);
  }

  private static String samples(QualityReport.Sum sum) {
    long samples = sum.counts().samples();
    return count(samples)
        + ", whole "
        + Units.share(sum.counts().whole(), samples)
        + ", guessed "
        + Units.share(sum.counts().guessed(), samples);
  }

  private static String passes(QualityReport.Sum sum) {
    return String.format(
        Locale.ROOT,
        "%s of %s due, late %s, gap %d ms",
        count(sum.made()),
        count(sum.due()),
        count(sum.late()),
        Math.round(sum.worstGapNanos() / 1e6));
  }

  private static String losses(QualityReport.Sum sum) {
    String ticks = sum.missedTicks() == 0 ? "" : ", " + count(sum.missedTicks()) + " ticks";
    return count(sum.lostSamples())
        + " samples, "
        + count(sum.lostEnds())
        + " ends of tasks"
        + ticks;
  }

  private static String perSecond(double bytes) {
    return Double.isNaN(bytes)
        ? "n/a"
        : bytes < 1e6
            ? String.format(Locale.ROOT, "%.0f kB/s", bytes / 1e3)
            : String.format(Locale.ROOT, "%.1f MB/s", bytes / 1e6);
  }

  /** The cost by part, in two rows: those that cost most, at places of their own. */
  private static void cost(Scene scene, CellGrid grid, int top, List<QualityReport.Part> parts) {
    grid.text(1, top, LABEL, "cost", ACCENT, GROUND, 0);
    int x = 1 + LABEL;
    if (parts.isEmpty()) {
      grid.text(x, top, scene.columns - x, "n/a", DIM, GROUND, 0);
      return;
    }
    double sum = parts.stream().mapToDouble(QualityReport.Part::share).sum();
    x += grid.text(x, top, scene.columns - x, cpu(sum) + " of a CPU", TEXT, GROUND, 0) + 2;
    List<QualityReport.Part> shown = new ArrayList<>(parts);
    while (costRows(scene, grid, top, x, shown, false) > 2) {
      shown.remove(Collections.min(shown, Comparator.comparingDouble(QualityReport.Part::share)));
    }
    costRows(scene, grid, top, x, shown, true);
  }

  /** How many rows the parts need, the first of them from {@code x} on. */
  private static int costRows(
      Scene scene, CellGrid grid, int top, int x, List<QualityReport.Part> parts, boolean paint) {
    int at = x;
    int y = top;
    for (QualityReport.Part part : parts) {
      String text = part.name() + " " + cpu(part.share());
      if (at + TextWidth.of(text) >= scene.columns && at > 1 + LABEL) {
        y++;
        at = 1 + LABEL;
      }
      if (paint) {
        grid.text(at, y, scene.columns - at - 1, text, DIM, GROUND, 0);
      }
      at += TextWidth.of(text) + 2;
    }
    return y - top + 1;
  }

  private static String cpu(double share) {
    return String.format(Locale.ROOT, "%5.2f%%", share * 100);
  }

  private static void table(
      Scene scene, CellGrid grid, QualityReport report, TableLayout<Object> layout) {
    QualityTable table = scene.state.quality();
    List<QualityReport.Row> rows = table.rows(report);
    layout.columns().head(grid, layout.head(), Column.of(table.order()));
    for (Zone<Integer> zone : layout.rows(scene.columns)) {
      boolean marked = zone.what() == layout.marked();
      row(grid, scene, layout.columns(), zone.y(), rows.get(zone.what()), marked);
    }
    if (rows.isEmpty()) {
      String none = "no samples in this window; m";
      grid.text(1, layout.top(), scene.columns - 2, none, DIM, GROUND, 0);
    }
  }

  private static void row(
      CellGrid grid,
      Scene scene,
      Columns<Object> columns,
      int y,
      QualityReport.Row row,
      boolean marked) {
    int bg = marked ? Paint.SELECTED_ROW : GROUND;
    int fg = marked ? Paint.of(Role.INK) : TEXT;
    int quiet = marked ? Paint.of(Role.INK) : DIM;
    grid.fill(0, y, scene.columns, bg);
    QualityReport.Counts counts = row.counts();
    String pid = row.pid() == 0 ? "" : Integer.toString(row.pid());
    columns.put(grid, Column.PID, y, pid, quiet, bg, 0);
    columns.put(grid, Column.NAME, y, row.name(), fg, bg, CellGrid.BOLD);
    columns.put(grid, Column.SAMPLES, y, count(counts.samples()), fg, bg, 0);
    String whole = Units.share(counts.whole(), counts.samples());
    columns.put(grid, Column.WHOLE, y, whole, fg, bg, 0);
    boolean none = counts.guessed() == 0;
    String guessed = none ? "·" : Units.share(counts.guessed(), counts.samples());
    columns.put(grid, Column.GUESSED, y, guessed, none ? quiet : fg, bg, 0);
    boolean many = counts.samples() - counts.whole() >= MANY * counts.samples();
    int reason = many && !marked ? Paint.of(Role.WORSE) : fg;
    for (int i = 1; i < ENDS.length; i++) {
      long n = counts.of(ENDS[i]);
      columns.put(grid, ENDS[i], y, n == 0 ? "·" : count(n), n == 0 ? quiet : reason, bg, 0);
    }
    columns.put(grid, Column.REST, y, " " + reasons(counts), reason, bg, 0);
  }

  /** Reasons and their counts, the most frequent first. */
  private static String reasons(QualityReport.Counts counts) {
    List<WalkEnd> found = new ArrayList<>();
    for (int i = 1; i < ENDS.length; i++) {
      if (counts.of(ENDS[i]) > 0) {
        found.add(ENDS[i]);
      }
    }
    found.sort(Comparator.comparingLong(end -> -counts.of(end)));
    StringBuilder text = new StringBuilder();
    for (WalkEnd end : found) {
      text.append(text.length() == 0 ? "" : ", ");
      text.append(QualityLayout.label(end)).append(' ').append(count(counts.of(end)));
    }
    return text.toString();
  }

  /** A count in at most eight columns. */
  private static String count(long n) {
    return n < 1_000_000
        ? String.format(Locale.ROOT, "%,d", n)
        : String.format(Locale.ROOT, "%,.1fM", n / 1e6);
  }
}

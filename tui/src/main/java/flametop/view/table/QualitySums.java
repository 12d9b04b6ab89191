package flametop.view.table;

import flametop.profile.answer.QualityReport;
import flametop.sampler.OwnPart;
import flametop.view.base.CellGrid;
import flametop.view.base.Paint;
import flametop.view.base.TextWidth;
import flametop.view.base.Units;
import flametop.view.layout.Scene;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/** The lines above the table of the quality: sums over all samples, and what flametop costs. */
final class QualitySums {
  private static final int LABEL = 9;

  private QualitySums() {}

  /**
   * Rows of the screen for the lines: four figures, the cost in two rows. A low window has none.
   */
  static int rows(Scene scene) {
    int names = debugFiles(scene).isEmpty() ? 0 : 1;
    return scene.rows >= 16 ? 4 * rowsPerLine(scene) + 2 + names : 0;
  }

  /** How far the names are that debug files have; empty if none are looked for. */
  private static String debugFiles(Scene scene) {
    return scene.page instanceof QualityReport report ? report.debugFiles().toString() : "";
  }

  /** Rows of two figures that belong together. */
  private static int rowsPerLine(Scene scene) {
    return scene.columns < 120 && scene.rows >= 24 ? 2 : 1;
  }

  static void paint(Scene scene, CellGrid grid, QualityReport report) {
    QualityReport.Sum window = report.window();
    QualityReport.Sum all = report.all();
    String span = " in " + Units.span(report.windowNanos());
    int y = 1;
    y += line(scene, grid, y, "samples", samples(window) + span, samples(all) + " in all");
    y += line(scene, grid, y, "passes", passes(window) + span, passes(all) + " in all");
    int lost = all.lostSamples() + all.lostEnds() > 0 ? Paint.WORSE : Paint.ACCENT;
    grid.text(1, y, LABEL, "lost", lost, Paint.GROUND, 0);
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
    String files = debugFiles(scene);
    if (!files.isEmpty()) {
      grid.text(1, y, LABEL, "names", Paint.ACCENT, Paint.GROUND, 0);
      grid.text(1 + LABEL, y, scene.columns - LABEL - 2, files, Paint.TEXT, Paint.GROUND, 0);
    }
  }

  /** Two figures, side by side or one below the other; returns the rows that it takes. */
  private static int line(
      Scene scene, CellGrid grid, int y, String label, String first, String second) {
    grid.text(1, y, LABEL, label, Paint.ACCENT, Paint.GROUND, 0);
    int x = 1 + LABEL;
    int end = x + grid.text(x, y, scene.columns - x - 1, first, Paint.TEXT, Paint.GROUND, 0);
    if (rowsPerLine(scene) == 2) {
      grid.text(x, y + 1, scene.columns - x - 1, second, Paint.DIM, Paint.GROUND, 0);
    } else if (end + 2 + TextWidth.of(second) < scene.columns) {
      grid.text(end + 2, y, scene.columns - end - 3, second, Paint.DIM, Paint.GROUND, 0);
    }
    return rowsPerLine(scene);
  }

  private static String samples(QualityReport.Sum sum) {
    long samples = sum.counts().samples();
    long limited = sum.counts().nameLimited();
    return count(samples)
        + ", whole "
        + Units.share(sum.counts().whole(), samples)
        + ", guessed "
        + Units.share(sum.counts().guessed(), samples)
        + (limited == 0 ? "" : ", name limit " + Units.share(limited, samples));
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
    grid.text(1, top, LABEL, "cost", Paint.ACCENT, Paint.GROUND, 0);
    int x = 1 + LABEL;
    if (parts.isEmpty()) {
      grid.text(x, top, scene.columns - x, "n/a", Paint.DIM, Paint.GROUND, 0);
      return;
    }
    double sum = parts.stream().mapToDouble(QualityReport.Part::share).sum();
    x +=
        grid.text(x, top, scene.columns - x, cpu(sum) + " of a CPU", Paint.TEXT, Paint.GROUND, 0)
            + 2;
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
        grid.text(at, y, scene.columns - at - 1, text, Paint.DIM, Paint.GROUND, 0);
      }
      at += TextWidth.of(text) + 2;
    }
    return y - top + 1;
  }

  private static String cpu(double share) {
    return String.format(Locale.ROOT, "%5.2f%%", share * 100);
  }

  /** A count in at most eight columns. */
  static String count(long n) {
    return n < 1_000_000
        ? String.format(Locale.ROOT, "%,d", n)
        : String.format(Locale.ROOT, "%,.1fM", n / 1e6);
  }
}

package flametop.view.table;

import flametop.profile.answer.Measure;
import flametop.profile.answer.QualityReport;
import flametop.view.base.CellGrid;
import flametop.view.base.Paint;
import flametop.view.base.TextWidth;
import flametop.view.base.Units;
import flametop.view.layout.Scene;
import flametop.view.paint.Words;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** The lines above the table of the quality: sums over all samples, and what flametop costs. */
final class QualitySums {
  private static final int LABEL = 9;

  private final Scene scene;
  private final CellGrid grid;
  private int y = 1;

  private QualitySums(Scene scene, CellGrid grid) {
    this.scene = scene;
    this.grid = grid;
  }

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
    new QualitySums(scene, grid).paint(report);
  }

  private void paint(QualityReport report) {
    QualityReport.Sum window = report.window();
    QualityReport.Sum all = report.all();
    String span = " in " + Units.span(report.windowNanos());
    line("samples", Paint.ACCENT, samples(window) + span, samples(all) + " in all");
    line("passes", Paint.ACCENT, passes(window) + span, passes(all) + " in all");
    int lost = all.lostSamples() + all.lostEnds() > 0 ? Paint.WORSE : Paint.ACCENT;
    line("lost", lost, losses(window) + span, losses(all) + " in all");
    cost(report.parts());
    String memory =
        report.resident().stream()
            .map(part -> part.name() + " " + (part.value() >> 20) + " MiB")
            .collect(Collectors.joining(", "));
    String stacks = "stacks " + perSecond(report.copiedPerSecond());
    String stream = ", stream " + perSecond(report.streamPerSecond());
    line("bytes", Paint.ACCENT, stacks + stream, "memory " + (memory.isEmpty() ? "n/a" : memory));
    String files = debugFiles(scene);
    if (!files.isEmpty()) {
      label("names", Paint.ACCENT).write(files, Paint.TEXT);
    }
  }

  /** Writes a label; returns the rest of its row. */
  private Words label(String label, int paint) {
    return new Words(grid, 1, y, scene.columns - 1, Paint.GROUND).field(LABEL, label, paint, 0);
  }

  /** Writes two figures, side by side or one below the other. */
  private void line(String label, int paint, String first, String second) {
    Words words = label(label, paint).write(first, Paint.TEXT);
    y++;
    if (rowsPerLine(scene) == 2) {
      label("", paint).write(second, Paint.DIM);
      y++;
    } else if (words.x() + 2 + TextWidth.of(second) < scene.columns) {
      words.skip(2).write(second, Paint.DIM);
    }
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

  /** Writes the cost by part into two rows: those that cost most, at places of their own. */
  private void cost(List<QualityReport.Part> parts) {
    Words words = label("cost", Paint.ACCENT);
    if (parts.isEmpty()) {
      words.write("n/a", Paint.DIM);
    } else {
      double sum = parts.stream().mapToDouble(QualityReport.Part::share).sum();
      words.write(cpu(sum) + " of a CPU", Paint.TEXT).skip(2);
      List<QualityReport.Part> shown = new ArrayList<>(parts);
      while (costRows(words.x(), shown, false) > 2) {
        shown.remove(Collections.min(shown, Comparator.comparingDouble(QualityReport.Part::share)));
      }
      costRows(words.x(), shown, true);
    }
    y += 2;
  }

  /** How many rows the parts need, the first of them from {@code x} on. */
  private int costRows(int x, List<QualityReport.Part> parts, boolean paint) {
    int at = x;
    int row = y;
    for (QualityReport.Part part : parts) {
      String text = part.name() + " " + cpu(part.share());
      if (at + TextWidth.of(text) >= scene.columns && at > 1 + LABEL) {
        row++;
        at = 1 + LABEL;
      }
      if (paint) {
        grid.text(at, row, scene.columns - at - 1, text, Paint.DIM, Paint.GROUND, 0);
      }
      at += TextWidth.of(text) + 2;
    }
    return row - y + 1;
  }

  private static String cpu(double share) {
    return String.format(Locale.ROOT, "%5.2f%%", share * 100);
  }

  /** A count in at most eight columns. */
  static String count(long n) {
    return n < 1_000_000 ? Measure.grouped(n) : String.format(Locale.ROOT, "%,.1fM", n / 1e6);
  }
}

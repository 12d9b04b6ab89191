package flametop.view;

import flametop.profile.QualityReport;
import flametop.sampler.OwnPart;
import flametop.sampler.WalkEnd;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/** How good the samples are and what they cost: sums, then a table by process or by module. */
final class QualityPainter implements ViewPainter {
  private static final int GROUND = Paint.of(Role.GROUND);
  private static final int TEXT = Paint.of(Role.TEXT);
  private static final int DIM = Paint.of(Role.DIM);
  private static final int ACCENT = Paint.of(Role.ACCENT);

  private static final int LABEL = 9;
  private static final int REASON = 10;
  private static final int FIXED = 9 + 8 + 9;
  private static final int NAME = 24;
  private static final int LONGEST_NAME = 36;
  private static final int LONGEST_MODULE = 64;

  /** Share of short walks from which on their reasons stand out. */
  private static final double MANY = 0.1;

  private static final WalkEnd[] ENDS = WalkEnd.values();

  /** Rows of the table in sight. */
  static int room(Scene scene) {
    return Math.max(1, scene.rows - 2 - tableTop(scene));
  }

  /** Whether a row of the screen has the heads of the columns. */
  static boolean isHead(Scene scene, int y) {
    return y == tableTop(scene);
  }

  /** Index of the row of the table at a row of the screen; -1 if there is none. */
  static int rowAt(Scene scene, List<QualityReport.Row> rows, int y) {
    int marked = scene.state.quality().index(rows);
    return Rows.at(y - tableTop(scene) - 1, marked, rows.size(), room(scene));
  }

  private static int tableTop(Scene scene) {
    // In a low window the table goes before the sums: of four lines, and the cost in two rows.
    return scene.rows >= 16 ? 2 + 4 * rowsPerLine(scene) + 2 : 2;
  }

  @Override
  public String[][] legend(Scene scene) {
    return new String[][] {
      {"columns"},
      {"samples", "stacks taken, unchanged not"},
      {"whole", "walked to a root"},
      {"beyond", "walked beyond the module"},
      {"guessed", "have a frame not unwound"},
      {"the rest", "why a walk ended"},
    };
  }

  @Override
  public void paint(Scene scene, CellGrid grid) {
    for (int y = 1; y < scene.rows; y++) {
      grid.fill(0, y, scene.columns, GROUND);
    }
    int top = tableTop(scene);
    if (scene.page instanceof QualityReport report) {
      if (top > 2) {
        sums(scene, grid, report);
      }
      table(scene, grid, report, top);
    } else {
      grid.text(1, 2, scene.columns - 2, "counting…", DIM, GROUND, 0);
    }
    String what = scene.state.quality().modules() ? "modules" : "processes";
    String how = "first by " + scene.state.quality().sort().label();
    TableArea.titleOrSteps(scene, grid, top - 1, what, how);
    KeyLine.paint(scene, grid);
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
    line(
        scene,
        grid,
        y + 2,
        "bytes",
        "stacks "
            + perSecond(report.copiedPerSecond())
            + ", stream "
            + perSecond(report.streamPerSecond()),
        "memory " + (memory.isEmpty() ? "n/a" : String.join(", ", memory)));
  }

  /** Two figures, side by side or one below the other; returns the rows that it takes. */
  private static int line(
      Scene scene, CellGrid grid, int y, String label, String first, String second) {
    grid.text(1, y, LABEL, label, ACCENT, GROUND, 0);
    int x = 1 + LABEL;
    int end = x + grid.text(x, y, scene.columns - x - 1, first, TEXT, GROUND, 0);
    if (rowsPerLine(scene) == 2) {
      grid.text(x, y + 1, scene.columns - x - 1, second, DIM, GROUND, 0);
    } else if (end + 2 + TextWidth.of(second) < scene.columns) {
      grid.text(end + 2, y, scene.columns - end - 3, second, DIM, GROUND, 0);
    }
    return rowsPerLine(scene);
  }

  private static int rowsPerLine(Scene scene) {
    return scene.columns < 120 && scene.rows >= 24 ? 2 : 1;
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
    return count(sum.lostSamples()) + " samples, " + count(sum.lostEnds()) + " ends of tasks";
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

  private static void table(Scene scene, CellGrid grid, QualityReport report, int top) {
    QualityTable table = scene.state.quality();
    List<QualityReport.Row> rows = table.rows(report);
    int rest = scene.columns - 2 - FIXED - REASON * (ENDS.length - 1);
    boolean wide = rest >= NAME;
    // Figures that are far from their name are read in the wrong row.
    int name = wide ? Math.min(rest, table.modules() ? LONGEST_MODULE : LONGEST_NAME) : NAME;
    head(grid, scene, top, table, name, wide);
    int room = room(scene);
    int marked = table.index(rows);
    int first = Rows.first(marked, rows.size(), room);
    for (int i = first; i < Math.min(rows.size(), first + room); i++) {
      row(grid, scene, top + 1 + i - first, table, rows.get(i), i == marked, name, wide);
    }
    if (rows.isEmpty()) {
      grid.text(1, top + 1, scene.columns - 2, "no samples in this window; m", DIM, GROUND, 0);
    }
  }

  private static void head(
      CellGrid grid, Scene scene, int y, QualityTable table, int name, boolean wide) {
    QualityTable.Sort sort = table.sort();
    int x = 1;
    cell(
        grid,
        x,
        y,
        name,
        table.modules() ? "module" : "    pid process",
        false,
        sort == QualityTable.Sort.NAME);
    x += name;
    cell(grid, x, y, 9, "samples", true, sort == QualityTable.Sort.SAMPLES);
    x += 9;
    boolean byShort = sort == QualityTable.Sort.SHARE || sort == QualityTable.Sort.SHORT;
    cell(grid, x, y, 8, table.modules() ? "beyond" : "whole", true, byShort);
    x += 8;
    cell(grid, x, y, 9, "guessed", true, sort == QualityTable.Sort.GUESSED);
    x += 9;
    if (wide) {
      for (int i = 1; i < ENDS.length; i++) {
        cell(grid, x, y, REASON, label(ENDS[i]), true, false);
        x += REASON;
      }
    } else {
      String rest = table.modules() ? "walks that ended in it" : "the rest";
      cell(grid, x + 2, y, scene.columns - x - 2, rest, false, false);
    }
  }

  private static void cell(
      CellGrid grid, int x, int y, int width, String text, boolean right, boolean sorted) {
    int at = right ? x + width - text.length() : x;
    int fg = sorted ? ACCENT : DIM;
    grid.text(at, y, Math.max(0, x + width - at), text, fg, GROUND, sorted ? CellGrid.BOLD : 0);
  }

  /** A reason in the width of a column. */
  private static String label(WalkEnd end) {
    return switch (end) {
      case OTHER_STACK -> "other stk";
      case UNREADABLE -> "no file";
      case NARROW -> "32-bit";
      case NO_UNWIND_INFO -> "no unwind";
      case JIT -> "jit no fp";
      default -> end.reason();
    };
  }

  private static void row(
      CellGrid grid,
      Scene scene,
      int y,
      QualityTable table,
      QualityReport.Row row,
      boolean marked,
      int name,
      boolean wide) {
    int bg = marked ? Paint.SELECTED_ROW : GROUND;
    int fg = marked ? Paint.of(Role.INK) : TEXT;
    int quiet = marked ? Paint.of(Role.INK) : DIM;
    grid.fill(0, y, scene.columns, bg);
    QualityReport.Counts counts = row.counts();
    int x = 1;
    if (!table.modules()) {
      String pid = row.pid() == 0 ? "" : Integer.toString(row.pid());
      grid.text(x + 7 - pid.length(), y, pid.length(), pid, quiet, bg, 0);
      x += 8;
    }
    grid.text(x, y, name - x, row.name(), fg, bg, CellGrid.BOLD);
    x = 1 + name;
    x = right(grid, x, y, 9, count(counts.samples()), fg, bg);
    x = right(grid, x, y, 8, Units.share(counts.whole(), counts.samples()), fg, bg);
    x =
        right(
            grid,
            x,
            y,
            9,
            counts.guessed() == 0 ? "·" : Units.share(counts.guessed(), counts.samples()),
            counts.guessed() == 0 ? quiet : fg,
            bg);
    boolean many = counts.samples() - counts.whole() >= MANY * counts.samples();
    int reason = many && !marked ? Paint.of(Role.WORSE) : fg;
    if (wide) {
      for (int i = 1; i < ENDS.length; i++) {
        long n = counts.of(ENDS[i]);
        x = right(grid, x, y, REASON, n == 0 ? "·" : count(n), n == 0 ? quiet : reason, bg);
      }
    } else {
      grid.text(x + 2, y, scene.columns - x - 3, reasons(counts), reason, bg, 0);
    }
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
      text.append(label(end)).append(' ').append(count(counts.of(end)));
    }
    return text.toString();
  }

  private static int right(CellGrid grid, int x, int y, int width, String text, int fg, int bg) {
    grid.text(x + width - text.length(), y, text.length(), text, fg, bg, 0);
    return x + width;
  }

  /** A count in at most eight columns. */
  private static String count(long n) {
    return n < 1_000_000
        ? String.format(Locale.ROOT, "%,d", n)
        : String.format(Locale.ROOT, "%,.1fM", n / 1e6);
  }
}

package flametop.view.table;

import flametop.profile.answer.Measure;
import flametop.view.base.CellGrid;
import flametop.view.base.Paint;
import flametop.view.base.Role;
import flametop.view.base.TextWidth;
import java.util.List;

/**
 * The weights of the events of a source by power of two, as upright bars: the bar of a weight
 * stands above that weight, and is as high as there are events that weigh as much, up to twice as
 * much.
 */
final class WeightHistogram {
  private static final char[] HEIGHTS = {' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'};

  /** Cells for the number of events at the left of the bars. */
  private static final int AXIS = 13;

  private static final int WIDEST = 10;

  /** The largest power of two that a long holds. */
  private static final int LAST = 62;

  private final Measure measure;
  private final List<Long> hits;
  private final long all;
  private final int first;
  private final int end;

  /**
   * @param hits below 2, below 4, below 8 …
   */
  WeightHistogram(Measure measure, List<Long> hits) {
    this.measure = measure;
    this.hits = hits;
    all = hits.stream().mapToLong(Long::longValue).sum();
    int from = 0;
    int to = Math.min(hits.size(), LAST);
    while (from < to && hits.get(from) == 0) {
      from++;
    }
    while (to > from && hits.get(to - 1) == 0) {
      to--;
    }
    first = from;
    end = to;
  }

  boolean isEmpty() {
    return all == 0;
  }

  /** Half of the events and nearly all, in words. */
  String summary() {
    if (all == 0) {
      return "no event yet";
    }
    if (end == 1) {
      return "each event weighs " + measure.text(1) + " or less";
    }
    return "of its events, half weigh less than "
        + below(0.5)
        + ", 99 of 100 less than "
        + below(0.99)
        + ", all less than "
        + weight(end);
  }

  /** The power of two below which this share of the events is, or more. */
  private String below(double share) {
    long sum = 0;
    for (int i = first; i < end; i++) {
      sum += hits.get(i);
      if (sum >= share * all) {
        return weight(i + 1);
      }
    }
    return weight(end);
  }

  private String weight(int power) {
    return measure.text(1L << power).replace(".0 ", " ");
  }

  private String label(int i) {
    return i == 0 ? "<2" : measure.figure(1L << i).replace(".0 ", " ");
  }

  /** Paints bars and labels into so many rows; nothing where all events weigh the same. */
  void paint(CellGrid grid, int top, int rows, int columns) {
    if (end <= first || end == 1 || rows < 3) {
      return;
    }
    long most = 1;
    for (int i = first; i < end; i++) {
      most = Math.max(most, hits.get(i));
    }
    int bars = rows - 1;
    int left = 1 + AXIS + 1;
    int width = Math.max(1, Math.min(WIDEST, (columns - 1 - left) / (end - first)));
    int gap = width > 2 ? 1 : 0;
    axis(grid, top, Measure.grouped(most));
    axis(grid, top + bars - 1, "0 events");
    int labelled = 0;
    for (int i = first; i < end; i++) {
      int x = left + (i - first) * width;
      int eighths = (int) Math.round((double) hits.get(i) / most * bars * 8);
      eighths = hits.get(i) > 0 ? Math.max(1, eighths) : 0;
      for (int r = 0; r < bars; r++) {
        char block = HEIGHTS[Math.max(0, Math.min(8, eighths - r * 8))];
        for (int c = x; c < Math.min(columns - 1, x + width - gap); c++) {
          grid.put(c, top + bars - 1 - r, block, Paint.of(Role.PROCESS, 8), Paint.CHROME, 0);
        }
      }
      String label = label(i);
      if (x >= labelled && x + TextWidth.of(label) < columns) {
        grid.text(x, top + bars, columns - x, label, Paint.DIM, Paint.CHROME, 0);
        labelled = x + TextWidth.of(label) + 1;
      }
    }
  }

  private static void axis(CellGrid grid, int y, String text) {
    int x = 1 + Math.max(0, AXIS - TextWidth.of(text));
    grid.text(x, y, AXIS, text, Paint.DIM, Paint.CHROME, 0);
  }
}

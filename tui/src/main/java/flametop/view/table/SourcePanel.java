package flametop.view.table;

import flametop.profile.answer.EventsReport.Row;
import flametop.profile.answer.LiveSource;
import flametop.sampler.SourceState;
import flametop.view.base.CellGrid;
import flametop.view.base.Paint;
import flametop.view.base.Role;
import flametop.view.base.TextWidth;
import flametop.view.base.Units;
import flametop.view.layout.MeasureWords;
import flametop.view.layout.Scene;
import java.util.ArrayList;
import java.util.List;

/** The lines below the table of sources: the marked one in full, and its weights. */
final class SourcePanel {
  private static final int LOW = 14;
  private static final int MOST = 20;

  private final Scene scene;
  private final CellGrid grid;
  private final int rows;
  private final int top;
  private int line;

  private SourcePanel(Scene scene, CellGrid grid) {
    this.scene = scene;
    this.grid = grid;
    rows = rows(scene);
    top = scene.rows - 1 - rows;
  }

  /** Rows that the panel has. */
  static int rows(Scene scene) {
    return scene.rows < LOW ? 2 : Math.min(MOST, scene.rows < 24 ? 5 : 4 + scene.rows / 4);
  }

  static void paint(Scene scene, CellGrid grid, Row row) {
    new SourcePanel(scene, grid).paint(row);
  }

  private void paint(Row row) {
    grid.fill(0, top, scene.columns, rows, Paint.CHROME);
    say(row.spec(), Paint.ACCENT, CellGrid.BOLD);
    if (row.number() == LiveSource.TIME) {
      say("what tasks do: on a CPU, waiting for one, off the CPUs; exact by task", Paint.TEXT, 0);
      if (scene.snapshot.live().events().rows().isEmpty()) {
        String none = "no source of events is on; a lists those of this machine, and adds one";
        say(none, Paint.TEXT, 0);
      }
    } else if (row.attaching()) {
      say("being attached: the kernel has not answered yet", Paint.TEXT, 0);
    } else if (row.state().equals(SourceState.MISSING)) {
      say("missing: " + row.why(), Paint.of(Role.WORSE), 0);
      say("space tries it again, x removes it", Paint.DIM, 0);
    } else {
      counted(row);
    }
  }

  private void counted(Row row) {
    List<String> words = new ArrayList<>();
    boolean on = row.state().equals(SourceState.ON);
    words.add(on ? "on" : "off; space switches it on");
    if (on) {
      words.add(MeasureWords.rate(row));
    }
    words.add(Units.percent(row.notSampledShare()) + " of its weight [not sampled]");
    if (row.totals().missed() > 0) {
      words.add(
          Units.count(row.totals().missed())
              + " more were not counted: their CPU was in another event");
    }
    say(String.join(" · ", words), Paint.TEXT, 0);
    if (on && !row.why().isEmpty()) {
      say(row.why(), Paint.of(Role.WORSE), 0);
    }
    WeightHistogram histogram = new WeightHistogram(row.measure(), row.totals().histogram());
    say(summary(row, histogram), Paint.TEXT, 0);
    histogram.paint(grid, top + line, rows - line, scene.columns);
  }

  /** The kernel has no histogram where each event weighs the same. */
  private static String summary(Row row, WeightHistogram histogram) {
    long hits = row.totals().hits();
    return hits > 0 && histogram.isEmpty()
        ? "each event weighs " + row.measure().text(row.totals().weight() / hits)
        : histogram.summary();
  }

  /** Writes a text, in as many lines as it needs and the panel has. */
  private void say(String text, int paint, int style) {
    for (String part : TextWidth.lines(text, scene.columns - 2, rows - line)) {
      grid.text(1, top + line, scene.columns - 2, part, paint, Paint.CHROME, style);
      line++;
    }
  }
}

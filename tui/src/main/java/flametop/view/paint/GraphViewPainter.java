package flametop.view.paint;

import flametop.profile.answer.Capability;
import flametop.profile.answer.Source;
import flametop.view.base.CellGrid;
import flametop.view.layout.Scene;
import java.util.ArrayList;
import java.util.List;

/** The view of the graph: CPUs above it, the strip of time and the selection below. */
public final class GraphViewPainter implements ViewPainter {
  private static final List<String[]> LEGEND =
      List.of(
          new String[] {"compared"},
          new String[] {"width", "the larger of the two"},
          new String[] {"more, less", "share of all, then and now"},
          new String[] {"underlined", "gone"});

  /** Without a comparison there is none to explain. */
  @Override
  public List<String[]> legend(Scene scene) {
    boolean none = !scene.options.origin().has(Capability.BASELINE) && !scene.compares();
    List<String[]> lines = new ArrayList<>(none ? List.of() : LEGEND);
    lines.addAll(Legend.help(scene));
    return lines;
  }

  @Override
  public void paint(Scene scene, CellGrid grid) {
    around(scene, grid);
    GraphPainter.paint(scene, scene.window(grid));
    Scene other = scene.other;
    if (other != null) {
      GraphPainter.paint(other, other.window(grid));
      SplitPainter.paint(scene, other, grid);
    }
    Source source = scene.state.source();
    if (source != null && scene.sourceRows > 0) {
      SourcePainter.paint(scene, source, grid);
    }
  }

  /** Paints the panels above and below the graph. */
  static void around(Scene scene, CellGrid grid) {
    if (scene.cpuRows > 0) {
      CpuPanelPainter.paint(scene, grid);
    }
    if (scene.upperRule >= 0) {
      LinePainter.paint(scene, grid, scene.upperRule);
    }
    if (scene.crumbRow > scene.upperRule) {
      LinePainter.crumbs(scene, grid, scene.crumbRow);
    }
    if (scene.stripTop - 1 >= scene.graphTop + scene.graphRows + scene.sourceRows) {
      LinePainter.paint(grid, scene.stripTop - 1);
      if (!TimePainter.choice(scene, grid, scene.stripTop - 1)) {
        Legend.paint(scene, grid, scene.stripTop - 1);
      }
    }
    TimePainter.paint(scene, grid);
    SelectionPainter.paint(scene, grid);
    KeyLinePainter.paint(scene, grid);
  }
}

package flametop.view.paint;

import flametop.view.base.CellGrid;
import flametop.view.layout.Scene;

/** The view of the graph: CPUs above it, the strip of time and the selection below. */
public final class GraphViewPainter implements ViewPainter {
  @Override
  public void paint(Scene scene, CellGrid grid) {
    around(scene, grid);
    GraphPainter.paint(scene, scene.window(grid));
    if (scene.other != null) {
      GraphPainter.paint(scene.other, scene.other.window(grid));
      SplitPainter.paint(scene, grid);
    }
    if (scene.sourceRows > 0) {
      SourcePainter.paint(scene, grid);
    }
  }

  /** What is above and below the graph. */
  static void around(Scene scene, CellGrid grid) {
    if (scene.cpuRows > 0) {
      CpuPanelPainter.paint(scene, grid);
    }
    if (scene.upperRule >= 0) {
      RulePainter.paint(scene, grid, scene.upperRule);
    }
    if (scene.crumbRow > scene.upperRule) {
      RulePainter.crumbs(scene, grid, scene.crumbRow);
    }
    if (scene.stripTop - 1 >= scene.graphTop + scene.graphRows + scene.sourceRows) {
      RulePainter.paint(grid, scene.stripTop - 1);
      if (!TimePainter.choice(scene, grid, scene.stripTop - 1)) {
        Legend.paint(scene, grid, scene.stripTop - 1);
      }
    }
    TimePainter.paint(scene, grid);
    SelectionPainter.paint(scene, grid);
    KeyLinePainter.paint(scene, grid);
  }
}

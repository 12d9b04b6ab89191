package flametop.view;

/** The view of a file of stacks: the graph has all the room. */
final class FilePainter implements ViewPainter {
  @Override
  public String[][] legend() {
    return Comparison.LEGEND;
  }

  @Override
  public void paint(Scene scene, CellGrid grid) {
    if (scene.upperRule >= 0) {
      Painter.rule(scene, grid, scene.upperRule);
    }
    if (scene.crumbRow > scene.upperRule) {
      Breadcrumb.paint(scene, grid, scene.crumbRow);
    }
    GraphPainter.paint(scene, grid);
    SelectionPainter.paint(scene, grid);
    KeyLine.paint(scene, grid);
  }
}

package flametop.view.layout;

import flametop.profile.answer.Capability;

/**
 * Where a table of many rows is, among what it has around it: the CPUs above it, a line with its
 * title, its heads, and the marked row in full below it.
 */
public final class TableArea {
  /** From so many rows on the CPUs are above it. */
  private static final int CPU_ROWS = 20;

  public final Heading heading;

  /** First row of the marked row in full. */
  public final int detail;

  public final int detailRows;

  /** Whether the CPUs are above it. */
  public final boolean cpus;

  private TableArea(Scene scene) {
    int y = scene.cpuTop;
    cpus = scene.rows >= CPU_ROWS && scene.options.origin().has(Capability.CPUS);
    y += cpus ? scene.cpuLayout.rows() : 0;
    heading = Heading.of(scene, y);
    detailRows = scene.rows < 24 ? 1 : 2;
    detail = scene.rows - 1 - detailRows;
  }

  public static TableArea of(Scene scene) {
    return new TableArea(scene);
  }

  /** The table in it. */
  <C> TableLayout<C> table(Columns<C> columns, int marked, int count) {
    return TableLayout.around(heading, columns, heading.end + 1, detail, marked, count);
  }
}

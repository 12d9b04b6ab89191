package flametop.view.layout;

/**
 * How the panel of CPUs shows so many of them in the room that there is.
 *
 * @param rows that it takes
 * @param across CPUs beside each other in a row of its columns, or cells of a row of its map
 * @param busiest with columns: so many CPUs of the most busy have a bar, one row is for the rest
 */
public record CpuPanel(Kind kind, int rows, int across, int busiest) {
  /** From much room for each CPU to hardly any. */
  public enum Kind {
    /** A row each. */
    ROWS,
    /** Columns of bars. */
    COLUMNS,
    /** Bars for the busiest, a strip with a cell each for the rest. */
    BUSIEST,
    /** A cell each. */
    MAP
  }

  /** Columns of a bar with name and percentage, and the least that it can do with. */
  static final int COLUMN = 40;

  static final int NARROW_COLUMN = 20;

  /** Columns of a row of the map beside its cells. */
  static final int MAP_LABELS = 15;

  /** Columns of the strip of the rest beside its cells. */
  static final int REST_LABELS = 18;

  static CpuPanel of(int cpus, int columns, int rows) {
    int most = rows < 14 ? 1 : rows < 24 ? 2 : rows / 6;
    if (cpus <= Math.min(most, Math.max(2, rows / 10))) {
      return new CpuPanel(Kind.ROWS, cpus, 1, cpus);
    }
    int widest = Math.max(1, columns / COLUMN);
    int narrowest = Math.max(1, columns / NARROW_COLUMN);
    for (int across = widest; across <= narrowest; across++) {
      int needed = (cpus + across - 1) / across;
      if (needed <= most) {
        return new CpuPanel(Kind.COLUMNS, needed, across, cpus);
      }
    }
    // A map where the rest is too many for one row, and where one row is all there is.
    int barRows = Math.min(most - 1, Math.max(1, rows / 12));
    int busiest = barRows * widest;
    if (most > 1 && cpus - busiest <= columns - REST_LABELS) {
      return new CpuPanel(Kind.BUSIEST, barRows + 1, widest, busiest);
    }
    int room = Math.max(8, columns - MAP_LABELS);
    int across = 8;
    while (across * 2 <= room) {
      across *= 2;
    }
    if (across + across / 2 <= room) {
      across += across / 2;
    }
    across = Math.min(across, cpus);
    return new CpuPanel(Kind.MAP, Math.min(most, (cpus + across - 1) / across), across, 0);
  }

  /** CPUs that share a cell of the map. */
  public int perCell(int cpus) {
    return Math.max(1, (cpus + rows * across - 1) / (rows * across));
  }
}

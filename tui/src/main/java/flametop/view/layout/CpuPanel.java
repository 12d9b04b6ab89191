package flametop.view.layout;

/**
 * How the panel shows so many CPUs in its room.
 *
 * @param rows that the panel takes
 * @param across CPUs beside each other in a row of columns, or cells in a row of the map
 * @param busiest how many of the busiest CPUs have a bar, if one row is for the rest
 */
public record CpuPanel(Kind kind, int rows, int across, int busiest) {
  /** The forms of the panel, from much room for each CPU to hardly any. */
  public enum Kind {
    /** A row for each CPU. */
    ROWS,
    /** Columns of bars. */
    COLUMNS,
    /** Bars for the busiest, a strip with a cell each for the rest. */
    BUSIEST,
    /** A cell for each CPU. */
    MAP
  }

  /** Columns of a bar with name and percentage, and their least number. */
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
    // A map is for more CPUs than one row holds, and for a panel of one row.
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

  /** How many CPUs share a cell of the map. */
  public int perCell(int cpus) {
    return Math.max(1, (cpus + rows * across - 1) / (rows * across));
  }
}

package flametop.view;

import flametop.profile.CpuRow;
import flametop.profile.CpuRow.IdleRow;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/**
 * The CPUs: a row each while they fit, then columns, then the busiest and one line for the rest.
 */
final class CpuPainter {
  private static final int COLUMN = 40;

  /** The driver of virtual machines calls its state {@code haltpoll idle}. */
  private static final int MAX_STATE_NAME = 8;

  private static final int GROUND = Paint.of(Role.GROUND);
  private static final int TROUGH = Paint.of(Role.CHROME);
  private static final int DIM = Paint.of(Role.DIM);
  private static final int TEXT = Paint.of(Role.TEXT);
  private static final char[] HEIGHTS = {'▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'};

  /** What a row says, from the wordiest form to the barest. */
  private enum Form {
    ALL,
    OWN_WAKEUPS,
    WAITING,
    SHORT_WAITING,
    NO_WRONG,
    NO_WAITING,
    BARE
  }

  private CpuPainter() {}

  static void paint(Scene scene, CellGrid grid) {
    if (scene.snapshot == null || scene.snapshot.cpus().isEmpty()) {
      grid.text(1, scene.cpuTop, scene.columns - 2, "CPUs: not measured yet", DIM, GROUND, 0);
      return;
    }
    List<CpuRow> cpus = scene.snapshot.cpus();
    int columns = Math.max(1, scene.columns / COLUMN);
    if (cpus.size() <= scene.cpuRows) {
      for (int i = 0; i < cpus.size(); i++) {
        wide(scene, grid, scene.cpuTop + i, cpus);
      }
    } else if (cpus.size() <= scene.cpuRows * columns) {
      inColumns(scene, grid, cpus, scene.cpuRows, columns);
    } else {
      List<CpuRow> byLoad = new ArrayList<>(cpus);
      byLoad.sort(
          Comparator.comparingDouble((CpuRow r) -> -r.busy()).thenComparingInt(CpuRow::cpu));
      int shown = Math.min(byLoad.size(), (scene.cpuRows - 1) * columns);
      List<CpuRow> busiest = new ArrayList<>(byLoad.subList(0, shown));
      busiest.sort(Comparator.comparingInt(CpuRow::cpu));
      inColumns(scene, grid, busiest, scene.cpuRows - 1, columns);
      List<CpuRow> rest = new ArrayList<>(byLoad.subList(shown, byLoad.size()));
      rest.sort(Comparator.comparingInt(CpuRow::cpu));
      rest(scene, grid, scene.cpuTop + scene.cpuRows - 1, rest, shown == 0);
    }
  }

  /**
   * One CPU over the whole width: use at the left, idle states at the right. Columns are the same
   * in every row.
   */
  private static void wide(Scene scene, CellGrid grid, int y, List<CpuRow> cpus) {
    CpuRow cpu = cpus.get(y - scene.cpuTop);
    int columns = scene.columns;
    int name = nameWidth(cpus);
    int bar = columns >= 140 ? 28 : columns >= 60 ? 18 : 12;
    int x = 1;
    grid.text(x, y, name, "CPU" + cpu.cpu(), DIM, GROUND, 0);
    x += name + 1;
    use(scene, grid, x, y, bar, cpu);
    x += bar + 1;
    grid.text(
        x,
        y,
        7,
        String.format(Locale.ROOT, "%7s", Units.percentField(cpu.busy())),
        TEXT,
        GROUND,
        CellGrid.BOLD);
    x += 8;

    int idleBar = columns >= 140 ? 12 : columns >= 60 ? 8 : 0;
    int room = columns - x - 2;
    String details = "";
    String idle = "";
    String wrong = "";
    for (Form form : Form.values()) {
      details = details(cpu, form);
      idle = idle(cpu, form.compareTo(Form.SHORT_WAITING) < 0);
      wrong = wrong(cpu, form);
      int gaps = wrong.isEmpty() ? 6 : 9;
      if (TextWidth.of(details) + 5 + idleBar + TextWidth.of(idle) + TextWidth.of(wrong) + gaps
          <= room + 2) {
        break;
      }
    }
    grid.text(x, y, room, details, DIM, GROUND, 0);
    int wrongX = columns - 1 - TextWidth.of(wrong);
    grid.text(wrongX, y, columns - wrongX, wrong, DIM, GROUND, 0);
    int idleX = wrongX - (wrong.isEmpty() ? 0 : 3) - TextWidth.of(idle);
    grid.text(idleX, y, columns - idleX, idle, cpu.idle().isEmpty() ? DIM : TEXT, GROUND, 0);
    if (idleBar > 0 && !cpu.idle().isEmpty() && idleX - idleBar - 6 > x + TextWidth.of(details)) {
      residency(scene, grid, idleX - idleBar - 1, y, idleBar, cpu);
      grid.text(idleX - idleBar - 6, y, 4, "idle", DIM, GROUND, 0);
    }
  }

  private static int nameWidth(List<CpuRow> cpus) {
    int widest = 0;
    for (CpuRow r : cpus) {
      widest = Math.max(widest, r.cpu());
    }
    return 3 + Integer.toString(widest).length();
  }

  private static void inColumns(
      Scene scene, CellGrid grid, List<CpuRow> cpus, int rows, int columns) {
    int name = nameWidth(scene.snapshot.cpus());
    int used = Math.min(columns, (cpus.size() + rows - 1) / Math.max(1, rows));
    int width = scene.columns / Math.max(1, used);
    int bar = Math.max(6, Math.min(40, width - name - 11));
    for (int i = 0; i < cpus.size(); i++) {
      CpuRow cpu = cpus.get(i);
      int x = i / rows * width + 1;
      int y = scene.cpuTop + i % rows;
      grid.text(x, y, name, "CPU" + cpu.cpu(), DIM, GROUND, 0);
      use(scene, grid, x + name + 1, y, bar, cpu);
      grid.text(
          x + name + 2 + bar, y, 6, Units.percentField(cpu.busy()), TEXT, GROUND, CellGrid.BOLD);
    }
  }

  /**
   * A heat strip: a cell for each CPU that has no row, averaged if there are more CPUs than cells.
   */
  private static void rest(Scene scene, CellGrid grid, int y, List<CpuRow> cpus, boolean all) {
    double busy = 0;
    for (CpuRow r : cpus) {
      busy += Double.isNaN(r.busy()) ? 0 : r.busy();
    }
    String label = cpus.size() + (all ? " CPUs " : " more ");
    String percent = Units.percentField(busy / cpus.size());
    int x = 1 + grid.text(1, y, scene.columns, label, DIM, GROUND, 0);
    int room = Math.max(1, scene.columns - x - percent.length() - 3);
    int cells = Math.min(room, cpus.size());
    for (int c = 0; c < cells; c++) {
      int from = (int) ((long) c * cpus.size() / cells);
      int to = Math.max(from + 1, (int) ((long) (c + 1) * cpus.size() / cells));
      double sum = 0;
      for (int i = from; i < to; i++) {
        sum += Double.isNaN(cpus.get(i).busy()) ? 0 : cpus.get(i).busy();
      }
      double mean = Math.min(1, sum / (to - from));
      grid.put(x + c, y, HEIGHTS[(int) Math.round(mean * 7)], Paint.heat(mean), TROUGH, 0);
    }
    grid.text(x + cells + 1, y, percent.length(), percent, TEXT, GROUND, CellGrid.BOLD);
  }

  private static void use(Scene scene, CellGrid grid, int x, int y, int width, CpuRow cpu) {
    boolean split = !Double.isNaN(cpu.user()) && !Double.isNaN(cpu.system());
    double[] parts =
        split
            ? new double[] {cpu.user(), cpu.system(), irq(cpu), cpu.steal()}
            : new double[] {cpu.busy(), 0, 0, 0};
    int[] paints = {
      Paint.of(Role.USER, 2),
      Paint.of(Role.KERNEL, 4),
      Paint.of(Role.PROCESS, 8),
      Paint.of(Role.WORSE)
    };
    Bar.paint(grid, x, y, width, parts, paints, TROUGH, scene.options);
  }

  private static double irq(CpuRow cpu) {
    return (Double.isNaN(cpu.softirq()) ? 0 : cpu.softirq())
        + (Double.isNaN(cpu.irq()) ? 0 : cpu.irq());
  }

  private static void residency(Scene scene, CellGrid grid, int x, int y, int width, CpuRow cpu) {
    int n = cpu.idle().size();
    double[] parts = new double[n];
    int[] paints = new int[n];
    for (int i = 0; i < n; i++) {
      parts[i] = cpu.idle().get(i).residency();
      paints[i] =
          Paint.of(Role.ASLEEP, n == 1 ? Paint.SHADES - 1 : i * (Paint.SHADES - 1) / (n - 1));
    }
    Bar.paint(grid, x, y, width, parts, paints, TROUGH, scene.options);
  }

  private static String details(CpuRow cpu, Form form) {
    if (form.compareTo(Form.NO_WAITING) > 0) {
      return "";
    }
    StringBuilder text = new StringBuilder();
    if (!Double.isNaN(cpu.user()) && !Double.isNaN(cpu.system())) {
      text.append(
          String.format(
              Locale.ROOT,
              "user %2d sys %2d irq %s",
              Math.round(cpu.user() * 100),
              Math.round(cpu.system() * 100),
              Double.isNaN(cpu.softirq()) && Double.isNaN(cpu.irq())
                  ? "n/a"
                  : String.format(Locale.ROOT, "%2d", Math.round(irq(cpu) * 100))));
    }
    if (form != Form.NO_WAITING && !Double.isNaN(cpu.waiting())) {
      boolean words = form.compareTo(Form.SHORT_WAITING) < 0;
      boolean seconds = cpu.waiting() >= 1e9;
      text.append(
          String.format(
              Locale.ROOT,
              words ? "  waiting %5.1f %2s/s" : " wait %5.1f %2s",
              cpu.waiting() / (seconds ? 1e9 : 1e6),
              seconds ? "s" : "ms"));
    }
    // Last, as it comes and goes.
    if (cpu.steal() >= 0.005) {
      text.append(" steal ").append(Math.round(cpu.steal() * 100));
    }
    return text.toString();
  }

  /**
   * Idle states in fixed columns, as many as have a place; POLL and the shallow ones give way
   * first.
   */
  private static String idle(CpuRow cpu, boolean tenths) {
    if (cpu.idle().isEmpty()) {
      return "no idle states here";
    }
    int most = tenths ? 4 : 2;
    List<IdleRow> shown = new ArrayList<>(cpu.idle());
    while (shown.size() > most) {
      shown.remove(shown.get(0).name().equals("POLL") ? 0 : 1);
    }
    StringBuilder text = new StringBuilder();
    for (IdleRow row : shown) {
      String name =
          row.name().length() > MAX_STATE_NAME
              ? row.name().substring(0, MAX_STATE_NAME)
              : row.name();
      text.append(text.isEmpty() ? "" : tenths ? "  " : " ").append(name);
      text.append(
          String.format(Locale.ROOT, tenths ? " %5.1f%%" : " %3.0f", row.residency() * 100));
    }
    return text.toString();
  }

  /**
   * Share of the stays in an idle state for which another would have been right, and the wake-ups
   * that flametop adds.
   */
  private static String wrong(CpuRow cpu, Form form) {
    if (form.compareTo(Form.SHORT_WAITING) > 0) {
      return "";
    }
    double entries = 0;
    double tooShort = 0;
    double tooLong = 0;
    for (IdleRow row : cpu.idle()) {
      if (!Double.isNaN(row.tooShort())) {
        entries += row.entries();
        tooShort += row.tooShort() * row.entries();
        tooLong += Double.isNaN(row.tooLong()) ? 0 : row.tooLong() * row.entries();
      }
    }
    StringBuilder text = new StringBuilder();
    if (!cpu.idle().isEmpty()) {
      text.append(
          String.format(
              Locale.ROOT,
              "too short %3s",
              entries > 0 ? Units.wholePercent(tooShort / entries) : "n/a"));
      if (form == Form.ALL) {
        text.append(
            String.format(
                Locale.ROOT,
                "  long %3s",
                entries > 0 ? Units.wholePercent(tooLong / entries) : "n/a"));
      }
    }
    if (form.compareTo(Form.OWN_WAKEUPS) <= 0 && !Double.isNaN(cpu.wakeups())) {
      long own = Double.isNaN(cpu.ownWakeups()) ? 0 : Math.round(cpu.ownWakeups());
      String gap = text.isEmpty() ? "" : "  ";
      text.append(
          form == Form.ALL
              ? String.format(
                  Locale.ROOT, "%swakes %4d/s own %3d", gap, Math.round(cpu.wakeups()), own)
              : String.format(Locale.ROOT, "%sown wakes %3d", gap, own));
    }
    return text.toString();
  }
}

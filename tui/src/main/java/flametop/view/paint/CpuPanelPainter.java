package flametop.view.paint;

import flametop.profile.answer.CpuRow;
import flametop.profile.answer.CpuRow.IdleRow;
import flametop.profile.answer.Shape;
import flametop.view.base.CellGrid;
import flametop.view.base.Paint;
import flametop.view.base.Role;
import flametop.view.base.TextWidth;
import flametop.view.base.Units;
import flametop.view.layout.CpuPanel;
import flametop.view.layout.Piece;
import flametop.view.layout.Scene;
import flametop.view.state.PaintOptions;
import flametop.view.state.ShownCpus;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/**
 * The panel of CPUs: a row for each CPU while rows fit, then columns, then the busiest CPUs and one
 * line for the rest, then a cell for each. See {@link CpuPanel}.
 */
public final class CpuPanelPainter {
  /** Longer names are cut: the driver of virtual machines has a state {@code haltpoll idle}. */
  private static final int MAX_STATE_NAME = 8;

  private static final int USER = Paint.of(Role.USER, 2);
  private static final int SYSTEM = Paint.of(Role.KERNEL, 4);
  private static final int IRQ = Paint.of(Role.PROCESS, 4);
  private static final int SOFTIRQ = Paint.of(Role.PROCESS, 12);
  private static final int WAITING = Paint.of(Role.QUEUED);
  private static final char[] HEIGHTS = {'▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'};

  /** The forms of a row, from the longest to the shortest. */
  private enum Form {
    ALL,
    OWN_WAKEUPS,
    WAITING,
    SHORT_WAITING,
    NO_WRONG,
    /** The use and the waiting stay, the idle states go. */
    NO_IDLE,
    BARE
  }

  private CpuPanelPainter() {}

  public static void paint(Scene scene, CellGrid grid) {
    if (scene.snapshot.isOpening() || scene.snapshot.live().host().cpus().isEmpty()) {
      grid.text(
          1, scene.cpuTop, scene.columns - 2, "CPUs: not measured yet", Paint.DIM, Paint.GROUND, 0);
      return;
    }
    List<CpuRow> cpus = scene.snapshot.live().host().cpus();
    CpuPanel layout = scene.cpuLayout;
    switch (layout.kind()) {
      case ROWS -> {
        for (int i = 0; i < cpus.size(); i++) {
          wide(scene, grid, scene.cpuTop + i, cpus);
        }
      }
      case COLUMNS -> inColumns(scene, grid, cpus, layout.rows());
      case BUSIEST -> {
        List<CpuRow> byLoad = new ArrayList<>(cpus);
        byLoad.sort(ShownCpus.most(CpuRow::busy));
        List<CpuRow> busiest = byNumber(byLoad.subList(0, layout.busiest()));
        inColumns(scene, grid, busiest, layout.rows() - 1);
        List<CpuRow> rest = byNumber(byLoad.subList(layout.busiest(), byLoad.size()));
        rest(scene, grid, scene.cpuTop + layout.rows() - 1, rest);
      }
      case MAP -> map(scene, grid, cpus, layout);
    }
  }

  private static List<CpuRow> byNumber(List<CpuRow> cpus) {
    return cpus.stream().sorted(Comparator.comparingInt(CpuRow::cpu)).toList();
  }

  /**
   * Paints one CPU over the whole width: use at the left, idle states at the right. All rows have
   * the same columns.
   */
  private static void wide(Scene scene, CellGrid grid, int y, List<CpuRow> cpus) {
    CpuRow cpu = cpus.get(y - scene.cpuTop);
    int columns = scene.columns;
    int name = nameWidth(cpus);
    int bar = columns >= 140 ? 28 : columns >= 60 ? 18 : 12;
    int x = 1;
    name(scene, grid, x, y, name, cpu.cpu());
    x += name + 1;
    use(scene.options, grid, x, y, bar, cpu, Paint.CHROME);
    queue(grid, x + bar, y, cpu, Paint.GROUND);
    x += bar + 1;
    String busy = Units.right(Units.percentField(cpu.busy()), 7);
    grid.text(x, y, 7, busy, Paint.TEXT, Paint.GROUND, CellGrid.BOLD);
    x += 8;

    int idleBar = columns >= 140 ? 12 : columns >= 60 ? 8 : 0;
    int room = columns - x - 2;
    Form form = form(cpus, room - 5 - idleBar, 5 + idleBar);
    String idle = idle(cpu, form);
    String wrong = wrong(cpu, form);
    Words words = new Words(grid, x, y, x + room, Paint.GROUND).write(details(cpu, form));
    int wrongX = columns - 1 - TextWidth.of(wrong);
    grid.text(wrongX, y, columns - wrongX, wrong, Paint.DIM, Paint.GROUND, 0);
    int idleX = wrongX - (wrong.isEmpty() ? 0 : 3) - TextWidth.of(idle);
    // These words come and go, and never move other words.
    String steal = " steal " + Math.round(cpu.steal() * 100);
    if (cpu.steal() >= 0.005 && words.x() + steal.length() + 2 <= idleX - idleBar - 6) {
      words.write(steal, Paint.WORSE);
    }
    int idlePaint = cpu.idle().isEmpty() ? Paint.DIM : Paint.TEXT;
    grid.text(idleX, y, columns - idleX, idle, idlePaint, Paint.GROUND, 0);
    if (idleBar > 0 && !cpu.idle().isEmpty() && idleX - idleBar - 6 > words.x()) {
      residency(scene, grid, idleX - idleBar - 1, y, idleBar, cpu);
      grid.text(idleX - idleBar - 6, y, 4, "idle", Paint.DIM, Paint.GROUND, 0);
    }
  }

  /**
   * The longest form that fits all CPUs, so that all rows have the same form.
   *
   * @param idleBar room of the bar of idle states, which is free without their words
   */
  private static Form form(List<CpuRow> cpus, int room, int idleBar) {
    for (Form form : Form.values()) {
      boolean fits = true;
      for (CpuRow cpu : cpus) {
        String wrong = wrong(cpu, form);
        String idle = idle(cpu, form);
        int gaps = wrong.isEmpty() ? 4 : 7;
        int texts = Piece.width(details(cpu, form)) + TextWidth.of(idle) + TextWidth.of(wrong);
        fits &= form == Form.NO_IDLE ? texts <= room + idleBar : texts + gaps <= room;
      }
      if (fits) {
        return form;
      }
    }
    return Form.BARE;
  }

  private static int nameWidth(List<CpuRow> cpus) {
    int widest = cpus.stream().mapToInt(CpuRow::cpu).max().orElse(0);
    return 3 + Integer.toString(widest).length();
  }

  private static void inColumns(Scene scene, CellGrid grid, List<CpuRow> cpus, int rows) {
    int name = nameWidth(scene.snapshot.live().host().cpus());
    int used = (cpus.size() + rows - 1) / rows;
    int width = (scene.columns - 1) / Math.max(1, used);
    int bar = Math.max(5, Math.min(40, width - name - 10));
    for (int i = 0; i < cpus.size(); i++) {
      CpuRow cpu = cpus.get(i);
      int x = i / rows * width + 1;
      int y = scene.cpuTop + i % rows;
      name(scene, grid, x, y, name, cpu.cpu());
      use(scene.options, grid, x + name + 1, y, bar, cpu, Paint.CHROME);
      queue(grid, x + name + 1 + bar, y, cpu, Paint.GROUND);
      String percent = Units.percentField(cpu.busy());
      grid.text(x + name + 2 + bar, y, 6, percent, Paint.TEXT, Paint.GROUND, CellGrid.BOLD);
    }
  }

  /** Paints a strip with a cell for each CPU without a bar. */
  private static void rest(Scene scene, CellGrid grid, int y, List<CpuRow> cpus) {
    String percent = Units.percentField(mean(cpus, 0, cpus.size()));
    int x = 1 + grid.text(1, y, scene.columns, cpus.size() + " more ", Paint.DIM, Paint.GROUND, 0);
    for (int i = 0; i < cpus.size(); i++) {
      heat(scene, grid, x + i, y, cpus, i, i + 1);
    }
    grid.text(x + cpus.size() + 1, y, 6, percent, Paint.TEXT, Paint.GROUND, CellGrid.BOLD);
  }

  /**
   * Paints a cell for each CPU, in rows that begin with the number of their first CPU. In less room
   * a cell holds two CPUs, one above the other, or the mean of several.
   */
  private static void map(Scene scene, CellGrid grid, List<CpuRow> cpus, CpuPanel layout) {
    int perCell = layout.perCell(cpus.size());
    boolean halves = perCell == 2 && !scene.options.plain() && !scene.options.ascii();
    int perRow = layout.across() * perCell;
    int name = nameWidth(cpus);
    for (int row = 0; row * perRow < cpus.size(); row++) {
      int y = scene.cpuTop + row;
      int first = row * perRow;
      int end = Math.min(cpus.size(), first + perRow);
      grid.text(1, y, name, "CPU" + cpus.get(first).cpu(), Paint.DIM, Paint.GROUND, 0);
      int x = name + 2;
      if (halves) {
        // Upper halves hold the first CPUs of the row, lower halves the next ones.
        int above = (end - first + 1) / 2;
        for (int i = 0; i < above; i++) {
          int below = first + above + i;
          int lower = below < end ? paint(scene, cpus, below, below + 1) : Paint.GROUND;
          grid.put(x + i, y, '▀', paint(scene, cpus, first + i, first + i + 1), lower, 0);
        }
        x += above;
      } else {
        for (int at = first; at < end; at += perCell) {
          heat(scene, grid, x++, y, cpus, at, Math.min(end, at + perCell));
        }
      }
      String percent = Units.percentField(mean(cpus, first, end));
      grid.text(x + 1, y, 6, percent, Paint.TEXT, Paint.GROUND, CellGrid.BOLD);
      summary(scene, grid, x + 10, y, row, cpus);
    }
  }

  /** Paints sums of all CPUs beside the map, if there is room. */
  private static void summary(
      Scene scene, CellGrid grid, int x, int y, int row, List<CpuRow> cpus) {
    int room = scene.columns - x - 1;
    if (room < 24) {
      return;
    }
    String text = "";
    if (row == 0) {
      text =
          String.format(
              Locale.ROOT,
              "%d CPUs, %.1f busy",
              cpus.size(),
              mean(cpus, 0, cpus.size()) * cpus.size());
    } else if (row == 1) {
      CpuRow most = cpus.get(0);
      for (CpuRow cpu : cpus) {
        most = busy(cpu) > busy(most) ? cpu : most;
      }
      text = "most CPU" + most.cpu() + " " + Units.percent(most.busy());
    } else if (row == 2) {
      double waiting = cpus.stream().mapToDouble(cpu -> orZero(cpu.waiting())).sum();
      text = "waiting " + waiting(waiting).trim();
    }
    grid.text(x, y, room, text, Paint.DIM, Paint.GROUND, 0);
  }

  /** Paints a cell for the CPUs between two indexes. */
  private static void heat(
      Scene scene, CellGrid grid, int x, int y, List<CpuRow> cpus, int from, int to) {
    char height = HEIGHTS[(int) Math.round(mean(cpus, from, to) * 7)];
    grid.put(x, y, height, paint(scene, cpus, from, to), Paint.CHROME, 0);
  }

  /** The colour of a cell: pale if the graph is of other CPUs. */
  private static int paint(Scene scene, List<CpuRow> cpus, int from, int to) {
    int paint = Paint.heat(mean(cpus, from, to));
    Shape shape = scene.state.chosenShape();
    boolean shown = !shape.narrowsCpus();
    for (int i = from; i < to; i++) {
      shown |= shape.admitsCpu(cpus.get(i).cpu());
    }
    return shown ? paint : Paint.faded(paint);
  }

  /** Paints the name of a CPU, and a mark if the graph is of that CPU. */
  private static void name(Scene scene, CellGrid grid, int x, int y, int width, int cpu) {
    boolean marked = ShownCpus.isMarked(scene.state.chosenShape(), cpu);
    if (marked) {
      grid.put(x - 1, y, '●', Paint.ACCENT, Paint.GROUND, CellGrid.BOLD);
    }
    int paint = marked ? Paint.ACCENT : Paint.DIM;
    grid.text(x, y, width, "CPU" + cpu, paint, Paint.GROUND, marked ? CellGrid.BOLD : 0);
  }

  private static double busy(CpuRow cpu) {
    return orZero(cpu.busy());
  }

  private static double orZero(double figure) {
    return Double.isNaN(figure) ? 0 : figure;
  }

  private static double mean(List<CpuRow> cpus, int from, int to) {
    double sum = 0;
    for (int i = from; i < to; i++) {
      sum += busy(cpus.get(i));
    }
    return to > from ? sum / (to - from) : 0;
  }

  /** Paints the bar of a CPU: user, system, hard and soft interrupts, stolen. */
  public static void use(
      PaintOptions options, CellGrid grid, int x, int y, int width, CpuRow cpu, int trough) {
    boolean split = !Double.isNaN(cpu.user()) && !Double.isNaN(cpu.system());
    double[] parts =
        split
            ? new double[] {cpu.user(), cpu.system(), cpu.irq(), cpu.softirq(), cpu.steal()}
            : new double[] {cpu.busy(), 0, 0, 0, 0};
    int[] paints = {USER, SYSTEM, IRQ, SOFTIRQ, Paint.WORSE};
    Bar.paint(grid, x, y, width, parts, paints, trough, options);
  }

  /** Paints the time that tasks waited for a CPU, as a height at the end of its bar. */
  public static void queue(CellGrid grid, int x, int y, CpuRow cpu, int bg) {
    double share = Math.min(1, cpu.waiting() / 1e9);
    if (share >= 0.01) {
      grid.put(x, y, HEIGHTS[(int) Math.round(share * 7)], WAITING, bg, 0);
    }
  }

  /** Paints the legend of the bars, if there is room at the right of {@code from}. */
  public static void legend(Scene scene, CellGrid grid, int row, int from) {
    if (scene.options.plain()) {
      return;
    }
    List<Legend.Entry> entries =
        List.of(
            new Legend.Entry(USER, "user"),
            new Legend.Entry(SYSTEM, "system"),
            new Legend.Entry(IRQ, "irq"),
            new Legend.Entry(SOFTIRQ, "softirq"),
            new Legend.Entry(Paint.WORSE, "steal"),
            new Legend.Entry(WAITING, "waiting"));
    Legend.paint(scene, grid, row, from, entries);
  }

  private static double irq(CpuRow cpu) {
    return orZero(cpu.softirq()) + orZero(cpu.irq());
  }

  private static void residency(Scene scene, CellGrid grid, int x, int y, int width, CpuRow cpu) {
    int n = cpu.idle().size();
    double[] parts = new double[n];
    int[] paints = new int[n];
    for (int i = 0; i < n; i++) {
      parts[i] = cpu.idle().get(i).residency();
      paints[i] = depth(i, n);
    }
    Bar.paint(grid, x, y, width, parts, paints, Paint.CHROME, scene.options);
  }

  /** The colour of an idle state: deeper states are further along the ramp. */
  public static int depth(int state, int states) {
    return Paint.of(
        Role.ASLEEP, states <= 1 ? Paint.SHADES - 1 : state * (Paint.SHADES - 1) / (states - 1));
  }

  private static List<Piece> details(CpuRow cpu, Form form) {
    List<Piece> pieces = new ArrayList<>();
    if (form == Form.BARE) {
      return pieces;
    }
    if (!Double.isNaN(cpu.user()) && !Double.isNaN(cpu.system())) {
      pieces.add(part("user", cpu.user()));
      pieces.add(part(" sys", cpu.system()));
      if (form.compareTo(Form.OWN_WAKEUPS) <= 0) {
        pieces.add(part(" irq", cpu.irq()));
        pieces.add(part(" soft", cpu.softirq()));
      } else {
        boolean none = Double.isNaN(cpu.softirq()) && Double.isNaN(cpu.irq());
        pieces.add(part(" irq", none ? Double.NaN : irq(cpu)));
      }
    }
    if (!Double.isNaN(cpu.waiting())) {
      String word = form.compareTo(Form.SHORT_WAITING) < 0 ? "  waiting " : " wait ";
      Role role = cpu.waiting() >= 1e7 ? Role.QUEUED : Role.DIM;
      pieces.add(Piece.of(word + waiting(cpu.waiting()), role));
    }
    if (form.compareTo(Form.OWN_WAKEUPS) <= 0 && !Double.isNaN(cpu.frequency())) {
      pieces.add(Piece.of("  " + frequency(cpu.frequency()), Role.DIM));
      if (!Double.isNaN(cpu.utilisation())) {
        String cycles = Units.percentField(cpu.utilisation()).trim();
        pieces.add(Piece.of(" cycles " + cycles, Role.DIM));
      }
    }
    return pieces;
  }

  /**
   * A share in the colours of text. Colours of bars are for areas, and too pale for words in some
   * themes.
   */
  private static Piece part(String name, double share) {
    long percent = Math.round(share * 100);
    String text = Double.isNaN(share) ? "n/a" : Units.right(Long.toString(percent), 2);
    return Piece.of(name + " " + text, percent > 0 ? Role.TEXT : Role.DIM);
  }

  /** Time that tasks waited, each second: {@code 12.3 ms/s}, {@code 4.56 s/s}. */
  public static String waiting(double nanosPerSecond) {
    return nanosPerSecond < 1e9
        ? Units.right(Units.oneDecimal(nanosPerSecond / 1e6), 5) + " ms/s"
        : Units.right(Units.hundredths(nanosPerSecond / 1e9), 6) + " s/s";
  }

  /** {@code 2.40 GHz}. */
  public static String frequency(double hertz) {
    return Double.isNaN(hertz) ? "n/a" : Units.hundredths(hertz / 1e9) + " GHz";
  }

  /** The idle states in fixed columns, as many as fit; POLL and shallow states give way first. */
  private static String idle(CpuRow cpu, Form form) {
    if (form.compareTo(Form.NO_IDLE) >= 0) {
      return "";
    }
    boolean tenths = form.compareTo(Form.SHORT_WAITING) < 0;
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
      String name = row.name().substring(0, Math.min(MAX_STATE_NAME, row.name().length()));
      long percent = Math.round(row.residency() * 100);
      text.append(text.isEmpty() ? "" : tenths ? "  " : " ").append(name).append(' ');
      text.append(
          tenths ? Units.percentField(row.residency()) : Units.right(Long.toString(percent), 3));
    }
    return text.toString();
  }

  /**
   * The share of stays for which another idle state would have been better, and the wake-ups that
   * flametop adds.
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
        tooLong += orZero(row.tooLong()) * row.entries();
      }
    }
    StringBuilder text = new StringBuilder();
    if (!cpu.idle().isEmpty()) {
      text.append("too short ").append(shareOf(tooShort, entries));
      if (form == Form.ALL) {
        text.append("  long ").append(shareOf(tooLong, entries));
      }
    }
    if (form.compareTo(Form.OWN_WAKEUPS) <= 0 && !Double.isNaN(cpu.wakeups())) {
      long own = Math.round(orZero(cpu.ownWakeups()));
      text.append(text.isEmpty() ? "" : "  ");
      if (form == Form.ALL) {
        String wakes = Long.toString(Math.round(cpu.wakeups()));
        text.append("wakes ").append(Units.right(wakes, 4)).append("/s own ");
      } else {
        text.append("own wakes ");
      }
      text.append(Units.right(Long.toString(own), 3));
    }
    return text.toString();
  }

  private static String shareOf(double stays, double all) {
    return Units.right(all > 0 ? Units.wholePercent(stays / all) : "n/a", 3);
  }
}

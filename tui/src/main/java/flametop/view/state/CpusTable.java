package flametop.view.state;

import flametop.profile.answer.CpuReport;
import flametop.profile.answer.CpuRow;
import flametop.profile.answer.Shape;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * The tables of the CPUs and of their idle states. Immutable.
 *
 * @param sort what comes first
 * @param selected number of the CPU whose row is selected; -1: the first row's
 * @param idleTop the first row in sight of the idle states
 */
public record CpusTable(Sort sort, int selected, int idleTop) {
  public static final CpusTable FIRST = new CpusTable(Sort.CPU, -1, 0);

  /** Orders of the rows; all but the number begin with the most. */
  public enum Sort {
    CPU("number"),
    BUSY("busy"),
    USER("user"),
    SYSTEM("system"),
    IRQ("interrupts"),
    SOFTIRQ("soft interrupts"),
    STEAL("stolen"),
    WAITING("waiting"),
    WAKEUPS("wake-ups"),
    OWN("wake-ups by flametop"),
    FREQUENCY("frequency"),
    CYCLES("cycles");

    private static final Sort[] ALL = values();

    private final String label;

    Sort(String label) {
      this.label = label;
    }

    public String label() {
      return label;
    }

    public Sort next() {
      return ALL[(ordinal() + 1) % ALL.length];
    }

    private double of(CpuRow row) {
      return switch (this) {
        case CPU -> -row.cpu();
        case BUSY -> row.busy();
        case USER -> row.user();
        case SYSTEM -> row.system();
        case IRQ -> row.irq();
        case SOFTIRQ -> row.softirq();
        case STEAL -> row.steal();
        case WAITING -> row.waiting();
        case WAKEUPS -> row.wakeups();
        case OWN -> row.ownWakeups();
        case FREQUENCY -> row.frequency();
        case CYCLES -> row.utilisation();
      };
    }
  }

  public CpusTable by(Sort value) {
    return new CpusTable(value, selected, idleTop);
  }

  public CpusTable withSelected(int cpu) {
    return new CpusTable(sort, cpu, idleTop);
  }

  public CpusTable withIdleTop(int row) {
    return new CpusTable(sort, selected, row);
  }

  public List<CpuRow> rows(CpuReport report) {
    return rows(report.cpus());
  }

  public List<CpuRow> rows(List<CpuRow> cpus) {
    List<CpuRow> rows = new ArrayList<>(cpus);
    rows.sort(
        Comparator.comparingDouble((CpuRow row) -> -known(sort.of(row)))
            .thenComparingInt(CpuRow::cpu));
    return rows;
  }

  /** Index of the selected row; the first if it is gone. */
  public int index(List<CpuRow> rows) {
    for (int i = 0; i < rows.size(); i++) {
      if (rows.get(i).cpu() == selected) {
        return i;
      }
    }
    return 0;
  }

  /** Whether the graph is of what ran on some CPUs, and this is one of them. */
  public static boolean isMarked(Shape shape, int cpu) {
    return shape.narrowsCpus() && shape.admitsCpu(cpu);
  }

  /** The CPUs that a shape admits as one: shares are means, the rest is summed up. */
  public static CpuRow sum(CpuReport report, Shape shape) {
    List<CpuRow> rows = new ArrayList<>();
    for (CpuRow row : report.cpus()) {
      if (shape.admitsCpu(row.cpu())) {
        rows.add(row);
      }
    }
    int n = Math.max(1, rows.size());
    double[] sums = new double[11];
    for (CpuRow row : rows) {
      double[] figures = {
        row.busy(),
        row.user(),
        row.system(),
        row.softirq(),
        row.irq(),
        row.steal(),
        row.waiting(),
        row.wakeups(),
        row.ownWakeups(),
        row.frequency(),
        row.utilisation()
      };
      for (int i = 0; i < sums.length; i++) {
        sums[i] += figures[i];
      }
    }
    return new CpuRow(
        -1,
        sums[0] / n,
        sums[1] / n,
        sums[2] / n,
        sums[3] / n,
        sums[4] / n,
        sums[5] / n,
        sums[6],
        sums[7],
        sums[8],
        sums[9] / n,
        sums[10] / n,
        List.of());
  }

  private static double known(double figure) {
    return Double.isNaN(figure) ? 0 : figure;
  }
}

package flametop.view.state;

import flametop.profile.answer.CpuReport;
import flametop.profile.answer.CpuRow;
import flametop.profile.answer.Shape;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.ToDoubleFunction;

/** The CPUs that the graph is of: all, or the marked ones. */
public final class ShownCpus {
  private ShownCpus() {}

  /** Whether the graph is of some CPUs only, and this is one of them. */
  public static boolean isMarked(Shape shape, int cpu) {
    return shape.narrowsCpus() && shape.admitsCpu(cpu);
  }

  /** The order with the largest figures first; a CPU without the figure comes last. */
  public static Comparator<CpuRow> most(ToDoubleFunction<CpuRow> figure) {
    Comparator<CpuRow> most =
        Comparator.comparingDouble(
            row -> {
              double value = figure.applyAsDouble(row);
              return -(Double.isNaN(value) ? 0 : value);
            });
    return most.thenComparingInt(CpuRow::cpu);
  }

  /** One row for all CPUs that a shape admits: means of shares and frequencies, sums of counts. */
  public static CpuRow sum(CpuReport report, Shape shape) {
    List<CpuRow> rows = new ArrayList<>(report.cpus());
    rows.removeIf(row -> !shape.admitsCpu(row.cpu()));
    return new CpuRow(
        -1,
        mean(rows, CpuRow::busy),
        mean(rows, CpuRow::user),
        mean(rows, CpuRow::system),
        mean(rows, CpuRow::softirq),
        mean(rows, CpuRow::irq),
        mean(rows, CpuRow::steal),
        sum(rows, CpuRow::waiting),
        sum(rows, CpuRow::wakeups),
        sum(rows, CpuRow::ownWakeups),
        mean(rows, CpuRow::frequency),
        mean(rows, CpuRow::utilisation),
        List.of());
  }

  private static double mean(List<CpuRow> rows, ToDoubleFunction<CpuRow> figure) {
    return sum(rows, figure) / Math.max(1, rows.size());
  }

  private static double sum(List<CpuRow> rows, ToDoubleFunction<CpuRow> figure) {
    double sum = 0;
    for (CpuRow row : rows) {
      sum += figure.applyAsDouble(row);
    }
    return sum;
  }
}

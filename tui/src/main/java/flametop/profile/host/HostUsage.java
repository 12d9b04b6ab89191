package flametop.profile.host;

import flametop.profile.answer.CpuReport;
import flametop.profile.answer.CpuRow;
import flametop.profile.answer.Snapshot;
import flametop.sampler.StreamFacts;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * The use of the CPUs: totals of the stream, and how much the totals grew over the last full
 * second. Figures change once a second: nobody can read figures that change more often. Busy time
 * is exact. The split of busy time into user, system and softirq is by the samples of the CPU clock
 * if the whole host is sampled, else by /proc/stat.
 */
public final class HostUsage {
  private static final long SECOND = 1_000_000_000L;

  /** In the first second rates are made anew after so long, of the time that has passed, ns. */
  private static final long STEP = SECOND / 4;

  /** Rates are means over so long, ns. */
  private static final long SPAN = SECOND;

  private static final int STRIP_SECONDS = 3_600;

  private static final int IDLE = 0;
  private static final int ELAPSED = 1;
  private static final int WAKEUPS = 2;
  private static final int OWN_WAKEUPS = 3;
  private static final int USER = 4;
  private static final int NICE = 5;
  private static final int SYSTEM = 6;
  private static final int IRQ = 7;
  private static final int SOFTIRQ = 8;
  private static final int STEAL = 9;
  private static final int WAITED = 10;
  private static final int USER_SAMPLES = 11;
  private static final int SYSTEM_SAMPLES = 12;
  private static final int SOFTIRQ_SAMPLES = 13;
  private static final int FREQUENCY = 14;
  private static final int OFFERED = 15;
  private static final int CYCLES = 16;
  private static final int IDLE_STATES = 17;

  private static final int RESIDENCY = 0;
  private static final int ENTRIES = 1;
  private static final int TOO_SHORT = 2;
  private static final int TOO_LONG = 3;
  private static final int PER_IDLE_STATE = 4;

  /** Totals of all online CPUs at one moment, by the number of the CPU. */
  private record Totals(long time, long ownCpu, Map<Integer, long[]> cpus) {}

  /** A CPU that is or was online. */
  private static final class Cpu {
    boolean online = true;
    List<StreamFacts.IdleState> states;
    long[] totals;

    Cpu(List<StreamFacts.IdleState> states) {
      this.states = states;
      totals = new long[IDLE_STATES + PER_IDLE_STATE * states.size()];
      Arrays.fill(totals, FREQUENCY, CYCLES + 1, -1);
    }

    /** Gives the CPU these idle states, of which nothing is known yet. */
    void have(List<StreamFacts.IdleState> some) {
      states = some;
      totals = Arrays.copyOf(totals, IDLE_STATES + PER_IDLE_STATE * some.size());
      Arrays.fill(totals, IDLE_STATES, totals.length, 0);
    }
  }

  /** The sums of one second, by its number. */
  private static final class Second {
    final long number;
    double busy;

    /** ns that the CPUs were told of, in the mean. */
    double wall;

    long queued;
    int passes;

    Second(long number) {
      this.number = number;
    }
  }

  /** Two moments. */
  private record Span(Totals from, Totals to) {
    long nanos() {
      return to.time - from.time;
    }
  }

  private final StreamFacts facts;
  private final Map<Integer, Cpu> cpus = new TreeMap<>();

  /** The last moment whose totals are kept; null before the first. */
  private @Nullable Totals last;

  /** The time that reports are about; null until the totals of two moments are kept. */
  private @Nullable Span span;

  /** By number modulo their count; null where nothing was told. */
  private final @Nullable Second[] strip = new Second[STRIP_SECONDS];

  private long lastBusy;
  private long lastElapsed;
  private long firstSecond = Long.MIN_VALUE;
  private boolean told;

  private double[] load = {Double.NaN, Double.NaN, Double.NaN};
  private int passHz;
  private int cpuHz;
  private long ownCpu;

  public HostUsage(StreamFacts facts) {
    this.facts = facts;
    for (int cpu : facts.cpus()) {
      cpus.put(cpu, new Cpu(facts.idleStates(cpu)));
    }
    passHz = facts.passHz();
    cpuHz = facts.cpuHz();
  }

  /** The totals of a CPU; null if the stream did not tell of the CPU. */
  private long @Nullable [] of(int cpu) {
    Cpu known = cpus.get(cpu);
    return known == null ? null : known.totals;
  }

  /** A CPU came online, with these idle states, or went offline. */
  public void cpuChanged(int cpu, boolean online, List<StreamFacts.IdleState> states) {
    Cpu changed = cpus.computeIfAbsent(cpu, c -> new Cpu(states));
    changed.online = online;
    if (online && !changed.states.equals(states)) {
      changed.have(states);
    }
  }

  public void usage(int cpu, long... figures) {
    long[] of = of(cpu);
    if (of != null) {
      System.arraycopy(figures, 0, of, 0, STEAL + 1);
      told = true;
    }
  }

  public void cycles(int cpu, long frequency, long offered, long cycles) {
    long[] of = of(cpu);
    if (of != null) {
      of[FREQUENCY] = frequency;
      of[OFFERED] = offered;
      of[CYCLES] = cycles;
    }
  }

  public void idleState(
      int cpu, int state, long residency, long entries, long tooShort, long tooLong) {
    Cpu known = cpus.get(cpu);
    for (int i = 0; known != null && i < known.states.size(); i++) {
      if (known.states.get(i).state() == state) {
        long[] of = known.totals;
        int at = IDLE_STATES + PER_IDLE_STATE * i;
        of[at + RESIDENCY] = residency;
        of[at + ENTRIES] = entries;
        of[at + TOO_SHORT] = tooShort;
        of[at + TOO_LONG] = tooLong;
      }
    }
  }

  public void sample(int cpu, boolean userMode, boolean softirq) {
    long[] of = of(cpu);
    if (of != null) {
      of[userMode ? USER_SAMPLES : softirq ? SOFTIRQ_SAMPLES : SYSTEM_SAMPLES]++;
    }
  }

  public void waited(int cpu, long nanos) {
    long[] of = of(cpu);
    if (of != null) {
      of[WAITED] += nanos;
    }
  }

  public void host(int load1, int load5, int load15, int passHz, int cpuHz, long ownCpu) {
    load = new double[] {load1 / 100.0, load5 / 100.0, load15 / 100.0};
    this.passHz = passHz;
    this.cpuHz = cpuHz;
    this.ownCpu = ownCpu;
  }

  /**
   * @param queued tasks that wait for a CPU
   */
  public void passEnds(long time, int queued) {
    Second second = second(time);
    second.queued += queued;
    second.passes++;
  }

  public void batchEnds(long time) {
    if (!told) {
      return;
    }
    told = false;
    long busy = 0;
    long elapsed = 0;
    int online = 0;
    for (Cpu cpu : cpus.values()) {
      busy += cpu.totals[ELAPSED] - cpu.totals[IDLE];
      elapsed += cpu.totals[ELAPSED];
      online += cpu.online ? 1 : 0;
    }
    if (lastElapsed > 0) {
      Second second = second(time);
      second.busy += Math.max(0, busy - lastBusy);
      second.wall += (double) Math.max(0, elapsed - lastElapsed) / Math.max(1, online);
    }
    lastBusy = busy;
    lastElapsed = elapsed;
    boolean full = span != null && span.nanos() >= SPAN;
    if (last == null || time - last.time >= (full ? SPAN : STEP)) {
      Map<Integer, long[]> copy = new HashMap<>();
      cpus.forEach((number, cpu) -> copy.put(number, cpu.totals.clone()));
      Totals now = new Totals(time, ownCpu, copy);
      if (last != null) {
        span = new Span(full || span == null ? last : span.from, now);
      }
      last = now;
    }
  }

  private Second second(long time) {
    long number = time / SECOND;
    if (firstSecond == Long.MIN_VALUE) {
      firstSecond = number;
    }
    int at = (int) (number % STRIP_SECONDS);
    Second known = strip[at];
    if (known == null || known.number != number) {
      known = new Second(number);
      strip[at] = known;
    }
    return known;
  }

  public double[] load() {
    return load;
  }

  public int passHz() {
    return passHz;
  }

  public int cpuHz() {
    return cpuHz;
  }

  /** The CPU time of flametop until the last batch that told of that time. */
  public Snapshot.Cost cost() {
    return last == null ? new Snapshot.Cost(0, 0) : new Snapshot.Cost(last.time, last.ownCpu);
  }

  /** CPU that flametop cost, of one CPU, over the last second; NaN if not known yet. */
  public double ownShare() {
    if (span == null) {
      return Double.NaN;
    }
    return (span.to.ownCpu - span.from.ownCpu) / (double) span.nanos();
  }

  /** Busy CPUs by second until {@code time}, oldest first; NaN where nothing was counted. */
  public float[] busyBySecond(long time) {
    return strip(time, s -> s.wall == 0 ? Double.NaN : s.busy / s.wall);
  }

  /** Tasks waiting for a CPU by second until {@code time}, like {@link #busyBySecond}. */
  public float[] queuedBySecond(long time) {
    return strip(time, s -> s.passes == 0 ? Double.NaN : (float) s.queued / s.passes);
  }

  private float[] strip(long time, ToDoubleFunction<Second> value) {
    long last = time / SECOND;
    if (firstSecond == Long.MIN_VALUE || last < firstSecond) {
      return new float[0];
    }
    int length = (int) Math.min(STRIP_SECONDS, last - firstSecond + 1);
    float[] values = new float[length];
    for (int i = 0; i < length; i++) {
      long number = last - length + 1 + i;
      Second known = strip[(int) (number % STRIP_SECONDS)];
      boolean isTold = known != null && known.number == number;
      values[i] = isTold ? (float) value.applyAsDouble(known) : Float.NaN;
    }
    return values;
  }

  /** These rows, and the reasons why figures are missing in all of them. */
  public CpuReport report(List<CpuRow> rows) {
    return new CpuReport(
        rows, facts.idleMissing(), facts.frequencyMissing(), facts.cyclesMissing());
  }

  /** A row for each CPU that is online, over about the last second. */
  public List<CpuRow> rows() {
    List<CpuRow> rows = new ArrayList<>(cpus.size());
    cpus.forEach(
        (number, cpu) -> {
          if (cpu.online) {
            rows.add(span == null ? unknown(number) : row(number, cpu.states, span));
          }
        });
    return rows;
  }

  private static CpuRow unknown(int cpu) {
    double nan = Double.NaN;
    return new CpuRow(cpu, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan, List.of());
  }

  private CpuRow row(int number, List<StreamFacts.IdleState> states, Span span) {
    long[] a = span.from.cpus.get(number);
    long[] b = span.to.cpus.get(number);
    int length = IDLE_STATES + PER_IDLE_STATE * states.size();
    if (a == null || b == null || a.length != length || b.length != length) {
      return unknown(number);
    }
    double seconds = span.nanos() / (double) SECOND;
    double elapsed = b[ELAPSED] - a[ELAPSED];
    if (!(elapsed > 0)) {
      return unknown(number);
    }
    double busy = clamp((elapsed - (b[IDLE] - a[IDLE])) / elapsed);
    double user = b[USER_SAMPLES] - a[USER_SAMPLES];
    double system = b[SYSTEM_SAMPLES] - a[SYSTEM_SAMPLES];
    double softirq = b[SOFTIRQ_SAMPLES] - a[SOFTIRQ_SAMPLES];
    if (!facts.wholeHost() || user + system + softirq == 0) {
      user = counted(a, b, USER) + counted(a, b, NICE);
      system = counted(a, b, SYSTEM);
      softirq = counted(a, b, SOFTIRQ);
    }
    double split = user + system + softirq;
    double share = split > 0 ? busy / split : busy > 0 ? Double.NaN : 0;
    List<CpuRow.IdleRow> idle = new ArrayList<>();
    for (int s = 0; s < states.size(); s++) {
      int at = IDLE_STATES + PER_IDLE_STATE * s;
      double entries = b[at + ENTRIES] - a[at + ENTRIES];
      idle.add(
          new CpuRow.IdleRow(
              states.get(s).name(),
              states.get(s).exitLatencyMicros(),
              states.get(s).targetResidencyMicros(),
              clamp((b[at + RESIDENCY] - a[at + RESIDENCY]) / elapsed),
              entries / seconds,
              entries > 0 ? clamp((b[at + TOO_SHORT] - a[at + TOO_SHORT]) / entries) : Double.NaN,
              entries > 0 ? clamp((b[at + TOO_LONG] - a[at + TOO_LONG]) / entries) : Double.NaN));
    }
    return new CpuRow(
        number,
        busy,
        user * share,
        system * share,
        softirq * share,
        share(a, b, IRQ, elapsed),
        share(a, b, STEAL, elapsed),
        (b[WAITED] - a[WAITED]) / seconds,
        (b[WAKEUPS] - a[WAKEUPS]) / seconds,
        (b[OWN_WAKEUPS] - a[OWN_WAKEUPS]) / seconds,
        frequency(a, b, elapsed),
        counted(a, b, OFFERED) > 0 && a[CYCLES] >= 0 && b[CYCLES] >= 0
            ? counted(a, b, CYCLES) / counted(a, b, OFFERED)
            : Double.NaN,
        List.copyOf(idle));
  }

  /** The mean over the time between, in Hz; the newest if nothing is known of the time. */
  private static double frequency(long[] a, long[] b, double elapsed) {
    if (b[FREQUENCY] < 0) {
      return Double.NaN;
    }
    double offered = counted(a, b, OFFERED);
    return offered > 0 ? offered * SECOND / elapsed : b[FREQUENCY];
  }

  private static double counted(long[] a, long[] b, int figure) {
    return a[figure] < 0 || b[figure] < 0 ? 0 : Math.max(0, b[figure] - a[figure]);
  }

  private static double share(long[] a, long[] b, int figure, double elapsed) {
    return a[figure] < 0 || b[figure] < 0 ? Double.NaN : clamp((b[figure] - a[figure]) / elapsed);
  }

  private static double clamp(double share) {
    return Math.max(0, Math.min(1, share));
  }
}

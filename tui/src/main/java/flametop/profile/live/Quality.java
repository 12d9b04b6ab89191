package flametop.profile.live;

import flametop.array.IntColumn;
import flametop.profile.answer.NodeKind;
import flametop.profile.answer.QualityReport;
import flametop.profile.log.Stacks;
import flametop.profile.tree.ManagedRuntime;
import flametop.sampler.Counter;
import flametop.sampler.DebugFiles;
import flametop.sampler.OwnPart;
import flametop.sampler.WalkEnd;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * How samples ended, by process, by module and by runtime, what was lost, and what flametop costs.
 */
final class Quality {
  private static final long STEP_NANOS = 5_000_000_000L;

  /** The cost of flametop is an average over about so long, ns. */
  private static final long COST_NANOS = 10_000_000_000L;

  /** The row of walks that met no user frame. */
  private static final String NO_FRAME = "(no user frame)";

  /** The row of samples with frames of the user, but of no runtime. */
  private static final String NATIVE = "native";

  private static final int NO_ROW = -1;

  private static final int MOST_UNNAMED = 1 << 16;

  private static final ManagedRuntime[] RUNTIMES = ManagedRuntime.values();

  /** Rows of the table of runtimes behind those of the runtimes, which begin at 1. */
  private static final int NATIVE_ROW = 1 + RUNTIMES.length;

  private static final int NO_FRAME_ROW = NATIVE_ROW + 1;

  /** Totals at the beginning of a step, and the longest time between two passes within it. */
  private record Step(long number, long[] counters, long worstGap) {}

  /** The cost of flametop until a moment. */
  private record Cost(long time, List<OwnPart> parts, long copied, long streamed) {}

  private final Stacks stacks;
  private Tally processes = new Tally("(others)");
  private Tally modules = new Tally("(others)");
  private Tally runtimes = new Tally("(others)");
  private Map<String, Integer> moduleRow = new HashMap<>();

  /** Whose samples a row counts; another process, or the same after exec, begins a new row. */
  private record Seen(int tgid, long start, String comm) {}

  /** By process; null where none was seen. */
  private final List<@Nullable Seen> seen = new ArrayList<>();

  private final IntColumn processRow = new IntColumn(NO_ROW);

  /** By process: the row of the runtime that its stacks were of last. */
  private final IntColumn processRuntime = new IntColumn(NO_ROW);

  private final ArrayDeque<Step> steps = new ArrayDeque<>();
  private long[] counters = new long[Counter.values().length];
  private long worstGap;
  private long lastPass = Long.MIN_VALUE;
  private long startTime = Long.MIN_VALUE;
  private long time;
  private long streamed;
  private final ArrayDeque<Cost> costs = new ArrayDeque<>();
  private List<OwnPart> resident = List.of();

  /** Modules of a stack: number, and whether a frame of it was guessed. */
  private final IntColumn met = new IntColumn();

  /**
   * A sample whose stack has frames without a name yet.
   *
   * @param row of the process
   * @param runtime row of the runtime
   */
  private record Unnamed(int row, int runtime, int stack) {}

  /** Of very many the newest are left out. */
  private final List<Unnamed> unnamed = new ArrayList<>();

  private boolean namesCame;
  private long nameLimited;
  private long samples;
  private long guessed;
  private final Set<String> limitedFiles = new HashSet<>();

  Quality(Stacks stacks) {
    this.stacks = stacks;
    for (ManagedRuntime runtime : RUNTIMES) {
      runtimes.row(0, runtime.label());
    }
    runtimes.row(0, NATIVE);
    runtimes.row(0, NO_FRAME);
  }

  private Quality(Quality from) {
    stacks = from.stacks;
    processes = new Tally(from.processes);
    modules = new Tally(from.modules);
    runtimes = new Tally(from.runtimes);
    nameLimited = from.nameLimited;
    samples = from.samples;
    guessed = from.guessed;
    steps.addAll(from.steps);
    counters = from.counters;
    worstGap = from.worstGap;
    startTime = from.startTime;
    time = from.time;
    costs.addAll(from.costs);
    resident = from.resident;
  }

  /** A copy of the counts as they are now, for reports alone. */
  Quality held() {
    return new Quality(this);
  }

  void processSeen(int process, int tgid, long start, String comm) {
    while (seen.size() <= process) {
      seen.add(null);
    }
    Seen before = seen.get(process);
    if (before == null
        || before.tgid != tgid
        || before.start != start
        || !before.comm.equals(comm)) {
      seen.set(process, new Seen(tgid, start, comm));
      processRow.set(process, NO_ROW);
      processRuntime.set(process, NO_ROW);
    }
  }

  void batchBegins(long batchTime, boolean endsPass) {
    time = Math.max(time, batchTime);
    if (startTime == Long.MIN_VALUE) {
      startTime = time;
    }
    begin(time);
    if (endsPass) {
      if (lastPass != Long.MIN_VALUE) {
        long gap = batchTime - lastPass;
        worstGap = Math.max(worstGap, gap);
        Step last = steps.removeLast();
        steps.add(new Step(last.number, last.counters, Math.max(last.worstGap, gap)));
      }
      lastPass = batchTime;
    }
  }

  private void begin(long now) {
    long number = now / STEP_NANOS;
    processes.begin(number);
    modules.begin(number);
    runtimes.begin(number);
    if (steps.isEmpty() || steps.getLast().number < number) {
      steps.add(new Step(number, counters, 0));
      while (steps.getFirst().number <= number - Tally.STEPS) {
        steps.removeFirst();
      }
    }
  }

  void counters(long[] totals) {
    counters = Arrays.copyOf(totals, counters.length);
  }

  /** Totals by {@link Counter#ordinal()}, since the stream began; not to be changed. */
  long[] counters() {
    return counters;
  }

  /** Counts bytes of the stream. */
  void streamed(int bytes) {
    streamed += bytes;
  }

  void ownUsage(List<OwnPart> cpu, List<OwnPart> memory) {
    resident = memory;
    costs.add(new Cost(time, cpu, counters[Counter.BYTES_COPIED.ordinal()], streamed));
    while (costs.size() > 2 && time - costs.getFirst().time > COST_NANOS) {
      costs.removeFirst();
    }
  }

  /**
   * A stack was taken, or could not be.
   *
   * @param stack below 0: there is none
   * @param why there is none; {@link WalkEnd#ROOT} if none was due
   */
  void sample(int process, int stack, WalkEnd why) {
    if (stack < 0 && why == WalkEnd.ROOT) {
      return;
    }
    WalkEnd end = stack < 0 ? why : stacks.end(stack);
    int row = processRow(process);
    processes.add(row, end.ordinal());
    samples++;
    met.clear();
    int[] frames = stack < 0 ? new int[0] : stacks.frames(stack);
    boolean unsure = false;
    for (int frame : frames) {
      boolean guess = stacks.guessed(frame);
      unsure |= guess;
      int module = stacks.moduleOf(frame) << 1;
      int at = 0;
      while (at < met.size && met.items[at] >> 1 != module >> 1) {
        at++;
      }
      if (at == met.size) {
        met.add(module);
      }
      met.items[at] |= guess ? 1 : 0;
    }
    int runtime = runtime(process, end);
    if (unsure) {
      guessed++;
      processes.add(row, QualityReport.GUESSED);
      runtimes.add(runtime, QualityReport.GUESSED);
    }
    boolean shortAtModule = end != WalkEnd.ROOT && stack >= 0 && stacks.user(stack) > 0;
    int last = shortAtModule ? stacks.moduleOf(frames[0]) : -1;
    for (int i = 0; i < met.size; i++) {
      int module = met.items[i] >> 1;
      int moduleRow = moduleRow(stacks.moduleFile(module));
      modules.add(moduleRow, module == last ? end.ordinal() : WalkEnd.ROOT.ordinal());
      if ((met.items[i] & 1) != 0) {
        modules.add(moduleRow, QualityReport.GUESSED);
      }
    }
    if (end != WalkEnd.ROOT && !shortAtModule) {
      modules.add(moduleRow(NO_FRAME), end.ordinal());
    }
    if (stack >= 0 && stacks.named(stack)) {
      countNames(row, runtime, stack);
    } else if (stack >= 0 && unnamed.size() < MOST_UNNAMED) {
      unnamed.add(new Unnamed(row, runtime, stack));
    }
  }

  /**
   * Counts a sample for the runtime that its stack entered last, by the modules that it met. A
   * stack that does not tell is of the runtime that the process was seen with last: its code was
   * made at run time, or there are no frames of the user.
   *
   * @return the row
   */
  private int runtime(int process, WalkEnd end) {
    int found = NO_ROW;
    boolean hasCode = false;
    boolean hasUser = false;
    boolean inLanguage = false;
    for (int i = 0; i < met.size; i++) {
      int module = met.items[i] >> 1;
      NodeKind kind = stacks.moduleKind(module);
      ManagedRuntime language = ManagedRuntime.ofFunctions(kind);
      ManagedRuntime runtime =
          language == null ? ManagedRuntime.ofImage(stacks.moduleFile(module)) : language;
      hasCode |= kind == NodeKind.JIT;
      hasUser |= kind != NodeKind.KERNEL;
      inLanguage |= language != null;
      found = runtime == null ? found : 1 + runtime.ordinal();
    }
    if (found != NO_ROW) {
      processRuntime.set(process, found);
    } else if (hasCode || !hasUser) {
      found = processRuntime.get(process);
    }
    int row = found != NO_ROW ? found : hasUser ? NATIVE_ROW : NO_FRAME_ROW;
    runtimes.add(row, end.ordinal());
    if (inLanguage || hasCode && row < NATIVE_ROW) {
      runtimes.add(row, QualityReport.IN_LANGUAGE);
    }
    return row;
  }

  /** The name of a frame came. */
  void nameCame() {
    namesCame = true;
  }

  /** Counts the samples whose names have come. */
  void batchEnds() {
    if (namesCame) {
      namesCame = false;
      unnamed.removeIf(
          sample -> {
            boolean named = stacks.named(sample.stack);
            if (named) {
              countNames(sample.row, sample.runtime, sample.stack);
            }
            return named;
          });
    }
  }

  /** Forgets samples that wait for the names of other stacks. */
  void keep(BitSet keptStacks) {
    unnamed.removeIf(sample -> !keptStacks.get(sample.stack));
  }

  /** The share of the samples that have a guessed frame, 0 to 1. */
  double guessedShare() {
    return samples == 0 ? 0 : (double) guessed / samples;
  }

  /** Samples that have a frame over the limit of names. */
  long nameLimited() {
    return nameLimited;
  }

  private void countNames(int row, int runtime, int stack) {
    limitedFiles.clear();
    boolean isNamed = true;
    for (int frame : stacks.frames(stack)) {
      isNamed &= !stacks.hasNoName(frame);
      if (stacks.nameLimited(frame)) {
        limitedFiles.add(stacks.moduleFile(stacks.moduleOf(frame)));
      }
    }
    if (isNamed) {
      runtimes.add(runtime, QualityReport.NAMED);
    }
    if (!limitedFiles.isEmpty()) {
      nameLimited++;
      processes.add(row, QualityReport.NAME_LIMITED);
      runtimes.add(runtime, QualityReport.NAME_LIMITED);
      limitedFiles.forEach(file -> modules.add(moduleRow(file), QualityReport.NAME_LIMITED));
    }
  }

  private int processRow(int process) {
    int row = processRow.get(process);
    if (row != NO_ROW) {
      return row;
    }
    if (processes.full()) {
      int[] to = processes.compact();
      for (int i = 0; i < processRow.size; i++) {
        int old = processRow.items[i];
        processRow.items[i] = old == NO_ROW || to[old] == Tally.GONE ? NO_ROW : to[old];
      }
      unnamed.replaceAll(of -> new Unnamed(to[of.row], of.runtime, of.stack));
    }
    Seen of = Objects.requireNonNull(seen.get(process));
    processRow.set(process, processes.row(of.tgid, of.comm));
    return processRow.get(process);
  }

  private int moduleRow(String file) {
    String name = file.isEmpty() ? "[unknown]" : file;
    Integer row = moduleRow.get(name);
    if (row == null) {
      if (modules.full()) {
        int[] to = modules.compact();
        moduleRow.replaceAll((n, r) -> to[r]);
        moduleRow.values().removeIf(r -> r == Tally.GONE);
      }
      row = modules.row(0, name);
      moduleRow.put(name, row);
    }
    return row;
  }

  QualityReport report(long windowNanos) {
    boolean all = windowNanos == Long.MAX_VALUE || steps.isEmpty();
    int count =
        all
            ? Integer.MAX_VALUE
            : (int) Math.min(Tally.STEPS, (windowNanos + STEP_NANOS - 1) / STEP_NANOS + 1);
    List<QualityReport.Row> byProcess = processes.report(count);
    Sum since = sum(Integer.MAX_VALUE, processes.report(Integer.MAX_VALUE));
    Sum window = all ? since : sum(count, byProcess);
    Cost from = costs.peekFirst();
    Cost to = costs.peekLast();
    boolean known = costs.size() >= 2 && to.time > from.time;
    double seconds = known ? (to.time - from.time) / 1e9 : Double.NaN;
    return new QualityReport(
        window.nanos,
        window.sum,
        since.sum,
        byProcess,
        modules.report(count),
        runtimes.report(count),
        known ? parts(from, to) : List.of(),
        resident,
        known ? (to.copied - from.copied) / seconds : Double.NaN,
        known ? (to.streamed - from.streamed) / seconds : Double.NaN,
        DebugFiles.of(counters));
  }

  private static List<QualityReport.Part> parts(Cost from, Cost to) {
    Map<String, Long> before = new HashMap<>();
    from.parts.forEach(part -> before.put(part.name(), part.value()));
    List<QualityReport.Part> parts = new ArrayList<>();
    for (OwnPart part : to.parts) {
      long grown = part.value() - before.getOrDefault(part.name(), 0L);
      parts.add(
          new QualityReport.Part(part.name(), (double) grown / Math.max(1, to.time - from.time)));
    }
    return List.copyOf(parts);
  }

  private record Sum(QualityReport.Sum sum, long nanos) {}

  private Sum sum(int count, List<QualityReport.Row> rows) {
    long[] outcomes = new long[QualityReport.OUTCOMES];
    rows.forEach(row -> Tally.add(row.counts().byOutcome(), outcomes));
    long[] before = new long[counters.length];
    long gap = worstGap;
    long begin = startTime;
    if (count != Integer.MAX_VALUE) {
      long first = steps.getLast().number - count + 1;
      List<Step> within = steps.stream().filter(step -> step.number >= first).toList();
      gap = within.stream().mapToLong(Step::worstGap).max().orElse(0);
      before = within.isEmpty() ? before : within.get(0).counters;
      begin = Math.max(begin, first * STEP_NANOS);
    }
    return new Sum(
        new QualityReport.Sum(
            new QualityReport.Counts(outcomes),
            since(before, Counter.PASSES_DUE),
            since(before, Counter.PASSES_MADE),
            since(before, Counter.PASSES_LATE),
            gap,
            since(before, Counter.CPU_DROPPED),
            since(before, Counter.LIFE_DROPPED),
            since(before, Counter.TICKS_MISSED)),
        begin == Long.MIN_VALUE ? 0 : time - begin);
  }

  private long since(long[] before, Counter counter) {
    return counters[counter.ordinal()] - before[counter.ordinal()];
  }
}

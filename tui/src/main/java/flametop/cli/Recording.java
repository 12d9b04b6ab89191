package flametop.cli;

import flametop.sampler.BatchSink;
import flametop.sampler.Budget;
import flametop.sampler.Counter;
import flametop.sampler.DebugFiles;
import flametop.sampler.SampleSource;
import flametop.sampler.Sampler;
import flametop.sampler.SamplerException;
import flametop.sampler.StreamMonitor;
import flametop.sampler.Target;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.Locale;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** One run of {@code flametop record}, from the first pass to the last line. */
final class Recording implements AutoCloseable {
  private static final long STEP_NANOS = TimeUnit.MILLISECONDS.toNanos(50);
  private static final long PROGRESS_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  /** How long names and source lines may take when nothing else is left to do. */
  private static final long LAST_ANSWERS_NANOS = TimeUnit.SECONDS.toNanos(30);

  /** The same for debug files, which may come from far away. */
  private static final long LAST_FILES_NANOS = TimeUnit.SECONDS.toNanos(120);

  /** The same for who has interrupted it. */
  private static final long INTERRUPTED_NANOS = TimeUnit.SECONDS.toNanos(2);

  /** How long sources of events may take to be attached before the time of the recording begins. */
  private static final long SOURCES_NANOS = TimeUnit.SECONDS.toNanos(60);

  private static final int MOST_NOTICES = 20;
  private static final int MOST_PROGRESS = 79;

  /**
   * When it ends by itself.
   *
   * @param target to look after: it ends when that is gone
   * @param workload the program to start and to end with; null if there is none
   * @param passes that are made
   * @param nanos of the clock, since all sources of events are attached
   * @param budget lowers the rates and raises them again
   * @param lines source lines of all frames are fetched at the end
   * @param events how many sources of events were asked for
   */
  record Limits(
      Target target,
      @Nullable Workload workload,
      int passHz,
      int cpuHz,
      long passes,
      long nanos,
      Budget budget,
      boolean lines,
      int events) {}

  private final Limits limits;
  private final RecordingOutput output;
  private final StreamMonitor monitor;
  private final Sampler sampler;
  private final Interruption interruption;
  private final PrintWriter err;
  private final boolean progress = Terminals.isStderr();
  private final boolean recorded;
  private String said = "";

  /** How long sampling had gone on when the time of the recording began, ns. */
  private long begun;

  private long nextProgress = System.nanoTime() + PROGRESS_NANOS;

  Recording(
      SampleSource source,
      Limits limits,
      RecordingOutput output,
      Interruption interruption,
      PrintWriter err) {
    this.limits = limits;
    this.output = output;
    this.interruption = interruption;
    this.err = err;
    recorded = source.recorded();
    monitor = output.monitor;
    BatchSink sink = monitor.before(output.sink());
    sampler = new Sampler(source, limits.passHz(), limits.cpuHz(), limits.passes(), sink);
  }

  /** Samples until there is a reason to end, and writes. */
  ExitCode run() throws IOException, InterruptedException {
    sampler.start();
    awaitSources();
    Workload workload = limits.workload();
    if (workload != null) {
      workload.start(false);
    }
    boolean gone = false;
    while (!over() && !gone) {
      interruption.await(Math.max(0, Math.min(STEP_NANOS, limits.nanos() - elapsed())));
      gone = workload == null ? !TargetOptions.isThere(limits.target()) : workload.isOver();
      keepToBudget();
      show(this::progress);
    }
    boolean early = gone && (limits.nanos() != Long.MAX_VALUE || limits.passes() != Long.MAX_VALUE);
    if (!recorded) {
      drain();
    }
    sampler.close();
    clearProgress();
    monitor.missingSources().values().forEach(missing -> Main.complain(err, "-e " + missing));
    monitor.notices().stream().limit(MOST_NOTICES).forEach(notice -> Main.complain(err, notice));
    if (!recorded && monitor.namesAwaited() > 0) {
      Main.complain(
          err,
          format(
              "the names of %,d frames had not come: they are written as file+0xoffset",
              monitor.namesAwaited()));
    }

    ExitCode code = interruption.requested() ? ExitCode.INTERRUPTED : ExitCode.DONE;
    if (isWithoutEvents()) {
      return ExitCode.NOT_POSSIBLE;
    }
    Failure failure = samplingFailure();
    if (failure != null) {
      code = failure.code();
      Main.complain(err, failure.message() + "; what was sampled before is written");
    } else if (gone && workload == null && (early || !seenAnything())) {
      code = ExitCode.TARGET_GONE;
      Main.complain(
          err,
          limits.target().fact()
              + " ended"
              + (early ? " early" : "")
              + "; what was sampled before is written");
    }
    try {
      Main.complain(err, output.write());
    } catch (IOException e) {
      Main.complain(err, Failure.of(e).message());
      code = ExitCode.FAILED;
    }
    new Balance(monitor.counters()).lines().forEach(line -> Main.complain(err, line));
    DebugFiles files = DebugFiles.of(monitor.counters());
    if (files.wanted() > 0) {
      String late = files.awaited() == 0 ? "" : ", " + files.awaited() + " had not come";
      Main.complain(err, files + late);
    }
    return code;
  }

  private void keepToBudget() {
    Budget budget = limits.budget();
    long cost = monitor.ownNanos();
    if (!recorded && cost > 0 && budget.spent(monitor.time(), cost)) {
      sampler.setRates(budget.now().passHz(), budget.now().cpuHz());
    }
    if (!recorded && !budget.said().equals(said)) {
      said = budget.said();
      clearProgress();
      Main.complain(err, said.isEmpty() ? "budget: rates are as asked for again" : said);
    }
  }

  /** Whether none of the sources of events that were asked for can be had. */
  private boolean isWithoutEvents() {
    return limits.events() > 0 && monitor.missingSources().size() == limits.events();
  }

  /**
   * Waits until each source of events is attached or missing: what happens before is not counted.
   */
  private void awaitSources() throws InterruptedException {
    if (limits.events() == 0) {
      return;
    }
    long until = System.nanoTime() + SOURCES_NANOS;
    while (monitor.settledSources() < limits.events() && System.nanoTime() < until && !ended()) {
      interruption.await(STEP_NANOS);
      show(() -> "attaches sources of events; Ctrl-C ends it");
    }
    begun = sampler.elapsedNanos();
    if (!ended()) {
      clearProgress();
      int attached = monitor.settledSources() - monitor.missingSources().size();
      Main.complain(
          err,
          format(
              "%,d of %,d sources of events attached: the recording begins",
              attached, limits.events()));
    }
  }

  /** How long the recording has gone on, ns. */
  private long elapsed() {
    return sampler.elapsedNanos() - begun;
  }

  private boolean over() {
    return ended() || elapsed() >= limits.nanos();
  }

  /** Whether there is another reason to end than the time. */
  private boolean ended() {
    return interruption.requested()
        || monitor.ended().isDone()
        || output.failure() != null
        || isWithoutEvents()
        || !recorded && sampler.finished();
  }

  /**
   * Fetches the samples that wait in rings, and what is on its way of names and source lines: for a
   * while, and no longer than until Ctrl-C.
   */
  private void drain() throws InterruptedException {
    sampler.finish();
    boolean interrupted = interruption.requested();
    long batches = monitor.batches();
    long until = System.nanoTime() + (interrupted ? INTERRUPTED_NANOS : LAST_ANSWERS_NANOS);
    while (goesOn(until, interrupted)) {
      boolean fetched =
          monitor.batches() > batches
              && new Balance(monitor.counters()).of(Counter.CPU_WAITING) == 0;
      boolean read = monitor.batchesHeld() == 0;
      int names = monitor.namesAwaited();
      if (fetched && read && names == 0) {
        break;
      }
      showWaiting(names, "names");
    }
    until = System.nanoTime() + (interrupted ? INTERRUPTED_NANOS : LAST_FILES_NANOS);
    while (DebugFiles.of(monitor.counters()).awaited() > 0 && goesOn(until, interrupted)) {
      show(() -> DebugFiles.of(monitor.counters()) + "; Ctrl-C writes without");
    }
    if (limits.lines()) {
      monitor.askPlaces();
      until = System.nanoTime() + LAST_ANSWERS_NANOS;
      while (monitor.placesAwaited() > 0 && goesOn(until, interrupted)) {
        showWaiting(monitor.placesAwaited(), "source lines");
      }
    }
  }

  private boolean goesOn(long until, boolean interrupted) throws InterruptedException {
    TimeUnit.NANOSECONDS.sleep(STEP_NANOS / 5);
    return System.nanoTime() < until
        && !monitor.ended().isDone()
        && interruption.requested() == interrupted;
  }

  /** Why sampling ended too early; null if it did not. */
  private @Nullable Failure samplingFailure() {
    try {
      monitor.ended().join();
      return null;
    } catch (CompletionException e) {
      boolean gone =
          e.getCause() instanceof SamplerException s
              && s.kind() == SamplerException.Kind.TARGET_GONE;
      boolean asked = limits.nanos() != Long.MAX_VALUE || limits.passes() != Long.MAX_VALUE;
      return gone && !asked && seenAnything() ? null : Failure.of(e);
    }
  }

  private boolean seenAnything() {
    Balance balance = new Balance(monitor.counters());
    return balance.of(Counter.TASK_PASSES) > 0 || balance.of(Counter.CPU_SAMPLES) > 0;
  }

  private String progress() {
    Balance b = new Balance(monitor.counters());
    String lost =
        b.of(Counter.CPU_DROPPED) + b.of(Counter.PASSES_LATE) == 0
            ? ""
            : format(
                ", %,d lost, %,d passes late",
                b.of(Counter.CPU_DROPPED), b.of(Counter.PASSES_LATE));
    return format(
        "%.0f s, %,d tasks, %,d passes, %,d samples%s; Ctrl-C ends it and writes",
        elapsed() / 1e9,
        b.of(Counter.TASKS),
        b.of(Counter.PASSES_MADE),
        b.of(Counter.CPU_SAMPLES),
        lost);
  }

  private void showWaiting(int count, String what) {
    show(() -> format("%,d %s to come; Ctrl-C writes without", count, what));
  }

  private static String format(String format, Object... figures) {
    return String.format(Locale.ROOT, format, figures);
  }

  /** Shows how far it is, now and then, where somebody looks. */
  private void show(Supplier<String> line) {
    long now = System.nanoTime();
    if (progress && now >= nextProgress) {
      nextProgress = now + PROGRESS_NANOS;
      String text = "flametop: " + line.get();
      // A line that wraps could not be taken back.
      err.print("\r\u001B[K" + text.substring(0, Math.min(text.length(), MOST_PROGRESS)));
      err.flush();
    }
  }

  private void clearProgress() {
    if (progress) {
      err.print("\r\u001B[K");
      err.flush();
    }
  }

  @Override
  public void close() {
    sampler.close();
    output.close();
  }
}

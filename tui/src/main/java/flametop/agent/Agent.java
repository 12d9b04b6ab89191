package flametop.agent;

import flametop.export.Provenance;
import flametop.export.StateExport;
import flametop.profile.answer.Extract;
import flametop.profile.answer.GraphQuery;
import flametop.profile.answer.Shape;
import flametop.profile.answer.StateSet;
import flametop.profile.live.Profile;
import flametop.profile.tree.Options;
import flametop.sampler.Budget;
import flametop.sampler.Counter;
import flametop.sampler.SampleSource;
import flametop.sampler.Sampler;
import flametop.sampler.StreamFacts;
import flametop.sampler.StreamMonitor;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * Samples until it is told to end, and puts a profile of each interval into the spool. What an
 * interval has is what came since the one before: the window of the profile begins where that
 * ended, so that each ns is in one of them, and what is older is forgotten.
 */
public final class Agent implements AutoCloseable {
  /** Tells when the agent is to end. */
  @FunctionalInterface
  public interface End {
    /** Waits so long, or until the end; whether that is the end. */
    boolean await(long nanos) throws InterruptedException;
  }

  /**
   * What is sampled.
   *
   * @param program name and version
   * @param filter of the tasks
   * @param states whose time counts
   */
  public record Plan(
      String program, Shape filter, StateSet states, int passHz, int cpuHz, Budget budget) {}

  private static final long STEP_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

  /** How long a profile may wait for its last names. */
  private static final long NAMES_NANOS = TimeUnit.SECONDS.toNanos(2);

  private static final long NAMES_STEP_NANOS = TimeUnit.MILLISECONDS.toNanos(50);
  private static final long LEAST_HISTORY_BYTES = 4L << 20;
  private static final long MOST_HISTORY_BYTES = 64L << 20;

  /** So much time needs the least history once more. */
  private static final long HISTORY_STEP_NANOS = TimeUnit.SECONDS.toNanos(15);

  private static final String BUDGET = "budget";

  private final StreamFacts facts;
  private final Plan plan;
  private final Spool spool;
  private final Metrics metrics;
  private final Notices notices;
  private final StreamMonitor monitor;
  private final Profile profile;
  private final Sampler sampler;
  private volatile Push push;

  /** Where the next window begins, ns; {@link Long#MIN_VALUE}: at the start. */
  private long from = Long.MIN_VALUE;

  private String said = "";

  public Agent(
      SampleSource source, Plan plan, Push push, Spool spool, Metrics metrics, Notices notices) {
    facts = source.facts();
    this.plan = plan;
    this.push = push;
    this.spool = spool;
    this.metrics = metrics;
    this.notices = notices;
    monitor = new StreamMonitor(source, false);
    profile =
        new Profile(
            facts, new Options(plan.filter(), historyBytes(push.everyNanos()), false), monitor);
    sampler = new Sampler(source, plan.passHz(), plan.cpuHz(), monitor.before(profile));
  }

  /**
   * Room for an interval in full: what is older is not asked for, and stacks that only it has go.
   */
  private static long historyBytes(long everyNanos) {
    long intervals = Math.max(1, everyNanos / HISTORY_STEP_NANOS);
    return Math.min(MOST_HISTORY_BYTES, LEAST_HISTORY_BYTES * intervals);
  }

  /** Makes profiles for another store, and at another pace, from the next one on. */
  public void turnTo(Push other) {
    push = other;
  }

  /**
   * Samples until the end, which has its own, shorter profile.
   *
   * @throws ExecutionException if sampling ended by itself
   */
  public void run(End end) throws InterruptedException, ExecutionException {
    sampler.start();
    // So that agents that were started together do not send together. That of the default generator
    // is in a module that a bundle has not.
    long every = push.everyNanos();
    long due = System.nanoTime() + every / 2 + new SplittableRandom().nextLong(every / 2);
    while (!end.await(Math.max(1, Math.min(STEP_NANOS, due - System.nanoTime())))
        && !monitor.ended().isDone()) {
      keepToBudget();
      if (System.nanoTime() - due >= 0) {
        every = push.everyNanos();
        awaitNames(end, Math.min(NAMES_NANOS, every / 2));
        take();
        due += every * (1 + (System.nanoTime() - due) / every);
      }
      count();
    }
    sampler.finish();
    awaitNames(Agent::pause, NAMES_NANOS);
    awaitRings();
    sampler.close();
    take();
    count();
    if (monitor.ended().isCompletedExceptionally()) {
      monitor.ended().get();
    }
  }

  private static boolean pause(long nanos) throws InterruptedException {
    TimeUnit.NANOSECONDS.sleep(nanos);
    return false;
  }

  private void awaitNames(End end, long most) throws InterruptedException {
    await(() -> monitor.namesAwaited() == 0, end, most);
  }

  /** The last samples wait in rings. */
  private void awaitRings() throws InterruptedException {
    long batches = monitor.batches();
    await(
        () ->
            monitor.batches() != batches
                && monitor.counters()[Counter.CPU_WAITING.ordinal()] == 0
                && monitor.batchesHeld() == 0,
        Agent::pause,
        NAMES_NANOS);
  }

  /** Waits until something is so, sampling ends, or the time is over. */
  private void await(BooleanSupplier done, End end, long most) throws InterruptedException {
    long until = System.nanoTime() + most;
    boolean over = false;
    while (!over
        && !done.getAsBoolean()
        && System.nanoTime() < until
        && !monitor.ended().isDone()) {
      over = end.await(NAMES_STEP_NANOS);
    }
  }

  private void keepToBudget() {
    Budget budget = plan.budget();
    long cost = monitor.ownNanos();
    if (cost > 0 && budget.spent(monitor.time(), cost)) {
      sampler.setRates(budget.now().passHz(), budget.now().cpuHz());
    }
    if (!budget.said().equals(said)) {
      said = budget.said();
      notices.say(BUDGET, said.isEmpty() ? "budget: rates are as asked for again" : said);
    }
  }

  private void count() {
    long[] counters = monitor.counters();
    metrics.samplesLost.set(counters[Counter.CPU_DROPPED.ordinal()]);
    metrics.passesLate.set(counters[Counter.PASSES_LATE.ordinal()]);
    monitor.takeNotices().forEach(notice -> notices.say("notice", notice));
  }

  /** Makes the profile of what came since the last one. */
  private void take() throws InterruptedException, ExecutionException {
    Extract extract = profile.extract(plan.states(), GraphQuery.ROOT, false).get();
    long to = extract.scope().time().to();
    if (extract.scope().time().nanos() <= 0 || to <= from) {
      return;
    }
    from = to;
    profile.beginAt(to);
    StateExport export =
        new StateExport(
            Provenance.of(plan.program(), facts, extract.scope(), plan.states()),
            extract.stacks(),
            plan.states());
    metrics.profiled(export.totals());
    Push of = push;
    byte[] body = of.store().body(export, of.series(facts.host()));
    spool.add(of.store().label(), body);
  }

  /** Ends sampling. */
  @Override
  public void close() {
    sampler.close();
    profile.close();
  }
}

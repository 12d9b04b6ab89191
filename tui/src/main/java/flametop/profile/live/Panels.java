package flametop.profile.live;

import flametop.profile.answer.CpuReport;
import flametop.profile.answer.HeatMap;
import flametop.profile.answer.Shape;
import flametop.profile.answer.Snapshot;
import flametop.profile.host.HostUsage;
import flametop.profile.log.Owners;
import flametop.profile.log.TaskStates;
import flametop.sampler.Counter;
import org.jspecify.annotations.Nullable;

/** The machine beside graphs and tables, as it is now, or as it was when the screen was frozen. */
final class Panels {
  /** All that is held while the screen is frozen. */
  private record Held(
      Snapshot.Host host, Snapshot.Losses losses, Quality quality, TaskStates tasks) {}

  private final Intake intake;
  private final HostUsage usage;
  private final Owners owners;

  /** The held machine; null: the present is shown. */
  private @Nullable Held held;

  Panels(Intake intake, HostUsage usage, Owners owners) {
    this.intake = intake;
    this.usage = usage;
    this.owners = owners;
  }

  /**
   * Holds the machine as it is now.
   *
   * @param shape in force, by which tasks are counted
   */
  void freeze(Shape shape) {
    held = new Held(host(shape), losses(), intake.quality().held(), tasks());
  }

  /** Shows the present again. */
  void thaw() {
    held = null;
  }

  /** The machine, with the tasks that a shape keeps. */
  Snapshot.Host host(Shape shape) {
    return held != null
        ? held.host
        : new Snapshot.Host(
            Math.max(0, intake.now()),
            owners.tasks().byState(shape),
            usage.rows(),
            usage.busyBySecond(intake.now()),
            usage.queuedBySecond(intake.now()),
            usage.load(),
            usage.passHz(),
            usage.cpuHz());
  }

  CpuReport cpus() {
    return usage.report(held != null ? held.host.cpus() : usage.rows());
  }

  /**
   * When tasks were on CPUs, until the moment that is shown.
   *
   * @param from when sampling began, ns
   */
  HeatMap heatMap(long from) {
    long until = held != null ? held.host.time() : Math.max(0, intake.now());
    return intake.accounts().busy().map(from, until);
  }

  Quality quality() {
    return held != null ? held.quality : intake.quality();
  }

  TaskStates tasks() {
    return held != null ? held.tasks : new TaskStates(owners, intake.accounts(), intake.now());
  }

  /** The tasks that are held; null if none are. */
  @Nullable TaskStates heldTasks() {
    return held == null ? null : held.tasks;
  }

  /** The losses until now, also while the rest is frozen. */
  Snapshot.Losses losses() {
    long[] counters = intake.quality().counters();
    long walked = counters[Counter.WALKED.ordinal()];
    return new Snapshot.Losses(
        counters[Counter.CPU_DROPPED.ordinal()],
        counters[Counter.PASSES_LATE.ordinal()],
        walked > 0 ? (double) counters[Counter.SHORT.ordinal()] / walked : 0,
        intake.quality().guessedShare(),
        intake.quality().nameLimited(),
        usage.ownShare());
  }

  /** The losses until the moment that is shown. */
  Snapshot.Losses shownLosses() {
    return held != null ? held.losses : losses();
  }
}

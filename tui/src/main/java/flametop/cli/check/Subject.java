package flametop.cli.check;

import flametop.profile.answer.FoldedStack;
import flametop.profile.answer.GraphQuery;
import flametop.profile.answer.LiveSource;
import flametop.profile.answer.NodeKind;
import flametop.profile.answer.Shape;
import flametop.profile.answer.StateSet;
import flametop.profile.live.Profile;
import flametop.profile.tree.Options;
import flametop.sampler.CleanText;
import flametop.sampler.KernelSource;
import flametop.sampler.KernelSource.CheckLine;
import flametop.sampler.Sampler;
import flametop.sampler.State;
import flametop.sampler.StreamMonitor;
import flametop.sampler.Target;
import flametop.term.device.Helper;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * The program {@code flametop-helper subject}, which turns on a CPU and sleeps by turns: it is
 * started, sampled with a probe of each kind, and its stacks are judged.
 */
final class Subject {
  private static final String ROUND = "flametop_subject";
  private static final String TURNS = "flametop_subject_turns";
  private static final String RESTS = "flametop_subject_rests";
  private static final String CALLS = "flametop_subject_calls";

  /** The function of the kernel by which it sleeps. */
  private static final String SLEEP = "hrtimer_nanosleep";

  private static final int PASS_HZ = 49;
  private static final int CPU_HZ = 99;

  /** How long it is sampled, and how long probes, samples on their way and names may take. */
  private static final long SAMPLED_NANOS = TimeUnit.MILLISECONDS.toNanos(1_500);

  private static final long PROBES_NANOS = TimeUnit.MILLISECONDS.toNanos(3_000);
  private static final long REST_NANOS = TimeUnit.MILLISECONDS.toNanos(1_500);
  private static final long STEP_MILLIS = 10;

  /** So many samples at least, and this share of them, have to be right. */
  private static final long LEAST_SAMPLES = 5;

  private static final double LEAST_SHARE = 0.8;

  private static final int MAX_SHOWN = 300;

  /**
   * A probe of a kind.
   *
   * @param path functions that its stacks pass through, each right below the one before
   */
  record Probe(String what, String spec, List<String> path) {}

  private static final List<Probe> PROBES =
      List.of(
          new Probe("uprobe", "uprobe:flametop-helper:" + CALLS, List.of(ROUND, CALLS)),
          new Probe("USDT", "usdt:flametop:turn", List.of(ROUND, CALLS)),
          new Probe("kprobe", "kprobe:" + SLEEP, List.of(ROUND, RESTS)),
          new Probe("function graph", "graph:" + SLEEP + ",depth=2", List.of(SLEEP)));

  private Subject() {}

  /** Starts it and ends it; a line for each thing that was tried. */
  static List<CheckLine> sampled() throws InterruptedException {
    List<CheckLine> lines = new ArrayList<>();
    Process process;
    try {
      process =
          new ProcessBuilder(Helper.command(List.of("subject")))
              .redirectInput(Path.of("/dev/null").toFile())
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
    } catch (IOException e) {
      lines.add(failed("helper", e));
      return lines;
    }
    lines.add(new CheckLine(true, true, "helper", "it starts a program", ""));
    try {
      sample(Math.toIntExact(process.pid()), lines);
    } catch (IOException | ExecutionException e) {
      lines.add(failed("sampling", e));
    } finally {
      process.destroyForcibly();
    }
    return lines;
  }

  private static CheckLine failed(String what, Exception e) {
    Throwable cause = e instanceof ExecutionException && e.getCause() != null ? e.getCause() : e;
    String why = CleanText.clean(String.valueOf(cause.getMessage()), 500);
    return new CheckLine(false, true, what, why, "");
  }

  private static void sample(int pid, List<CheckLine> lines)
      throws IOException, ExecutionException, InterruptedException {
    KernelSource source =
        KernelSource.open(Target.processes(List.of(pid)), PASS_HZ, CPU_HZ, false, "");
    StreamMonitor monitor = new StreamMonitor(source, true);
    Options options = new Options(Shape.PLAIN, Options.DEFAULT_HISTORY_BYTES, false);
    try (Profile profile = new Profile(source.facts(), options, monitor);
        Sampler sampler = new Sampler(source, PASS_HZ, CPU_HZ, monitor.before(profile))) {
      for (int i = 0; i < PROBES.size(); i++) {
        profile.asked(i, PROBES.get(i).spec());
        source.sourceOn(i, PROBES.get(i).spec());
      }
      sampler.start();
      await(PROBES_NANOS, () -> monitor.settledSources() == PROBES.size());
      await(SAMPLED_NANOS, () -> monitor.ended().isDone());
      sampler.finish();
      long batches = monitor.batches();
      await(
          REST_NANOS,
          () ->
              monitor.ended().isDone()
                  || monitor.batches() > batches
                      && monitor.batchesHeld() == 0
                      && monitor.namesAwaited() == 0);
      judge(profile, monitor, lines);
    }
  }

  private static void await(long nanos, BooleanSupplier condition) throws InterruptedException {
    long until = System.nanoTime() + nanos;
    while (!condition.getAsBoolean() && System.nanoTime() < until) {
      TimeUnit.MILLISECONDS.sleep(STEP_MILLIS);
    }
  }

  private static void judge(Profile profile, StreamMonitor monitor, List<CheckLine> lines)
      throws ExecutionException, InterruptedException {
    Iterable<FoldedStack> stacks = stacks(profile, LiveSource.TIME, true);
    lines.add(stacks(stacks, "stacks on a CPU", State.RUN, TURNS));
    lines.add(stacks(stacks, "stacks asleep", State.SLEEP, RESTS));
    for (int i = 0; i < PROBES.size(); i++) {
      Probe probe = PROBES.get(i);
      String missing = monitor.missingSources().get(i);
      lines.add(
          missing != null
              ? new CheckLine(false, false, probe.what(), missing, "")
              : probed(probe, stacks(profile, i, false)));
    }
  }

  private static Iterable<FoldedStack> stacks(Profile profile, int measure, boolean samples)
      throws ExecutionException, InterruptedException {
    profile.measure(measure);
    return profile.extract(StateSet.ALL, GraphQuery.ROOT, samples).get().stacks();
  }

  /** Whether the samples of a state are whole, and pass through the round and this function. */
  static CheckLine stacks(Iterable<FoldedStack> stacks, String what, State state, String function) {
    long all = 0;
    long right = 0;
    long most = 0;
    String other = "";
    for (FoldedStack stack : stacks) {
      long samples = 0;
      for (FoldedStack.Share share : stack.shares()) {
        samples += state.equals(share.state()) ? share.samples() : 0;
      }
      all += samples;
      if (isWhole(stack) && passes(stack, List.of(ROUND, function))) {
        right += samples;
      } else if (samples > most) {
        most = samples;
        other = String.join(";", stack.names());
      }
    }
    String counted = right + " of " + all + " samples are whole, with " + ROUND + " > " + function;
    boolean ok = right >= LEAST_SAMPLES && right >= LEAST_SHARE * all;
    String detail = ok || other.isEmpty() ? counted : counted + "; others: " + other;
    return new CheckLine(
        ok,
        true,
        what,
        CleanText.clean(detail, MAX_SHOWN),
        "please report this, with what is printed here");
  }

  /** Whether a probe was hit where it had to be. */
  static CheckLine probed(Probe probe, Iterable<FoldedStack> stacks) {
    long all = 0;
    long right = 0;
    for (FoldedStack stack : stacks) {
      all++;
      right += passes(stack, probe.path()) ? 1 : 0;
    }
    String path = String.join(" > ", probe.path());
    String detail = probe.spec() + ": " + right + " of " + all + " stacks with " + path;
    return new CheckLine(right > 0, false, probe.what(), detail, "");
  }

  private static boolean isWhole(FoldedStack stack) {
    return Arrays.stream(stack.kinds()).noneMatch(kind -> kind == NodeKind.REASON);
  }

  /** Whether functions stand in a stack, each right below the one before. */
  private static boolean passes(FoldedStack stack, List<String> path) {
    return Collections.indexOfSubList(Arrays.asList(stack.names()), path) >= 0;
  }
}

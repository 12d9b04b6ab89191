package flametop.cli;

import flametop.agent.Agent;
import flametop.agent.Metrics;
import flametop.agent.MetricsServer;
import flametop.agent.Notices;
import flametop.agent.Push;
import flametop.agent.Sender;
import flametop.agent.Spool;
import flametop.cli.settings.AgentOptions;
import flametop.cli.settings.BudgetOptions;
import flametop.cli.settings.RateOptions;
import flametop.profile.answer.RootOrder;
import flametop.profile.answer.Shape;
import flametop.profile.answer.StateSet;
import flametop.sampler.KernelSource;
import flametop.sampler.SampleSource;
import flametop.sampler.Target;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Samples without an end, and sends a profile of each interval to a store. */
@Command(
    name = "agent",
    sortOptions = false,
    separator = " ",
    customSynopsis = "flametop agent --push URL [--to KIND] [OPTIONS]",
    description = "Samples all the time, and sends profiles to a store.",
    footer = {
      "Examples:",
      "  flametop agent --push http://pyroscope:4040",
      "  flametop agent --push https://collector:4318 --every 30 --label env=test",
      "  flametop agent --config /etc/flametop/agent.conf"
    })
final class AgentCommand implements Callable<Integer> {
  /** How long the last profiles may take to be sent. */
  private static final long LAST_NANOS = TimeUnit.SECONDS.toNanos(3);

  private final Interruption interruption;

  @Spec private CommandSpec spec;

  @Mixin private final AgentOptions options = new AgentOptions();

  @Mixin private final TargetOptions targets = new TargetOptions();

  @Mixin private final FilterOptions filters = new FilterOptions();

  @Mixin private final RateOptions rates = new RateOptions();

  @Mixin private final BudgetOptions budget = new BudgetOptions();

  @Mixin private final DebuginfodOptions debuginfod = new DebuginfodOptions();

  @Mixin private final StatesOptions states = new StatesOptions();

  /** What can be told to go elsewhere, once it runs. */
  private volatile @Nullable Agent agent;

  private volatile @Nullable Sender sender;
  private volatile @Nullable Push push;

  AgentCommand(Interruption interruption) {
    this.interruption = interruption;
  }

  @Override
  public Integer call() throws Exception {
    PrintWriter err = spec.commandLine().getErr();
    Notices notices = new Notices(line -> Main.complain(err, line));
    AgentOptions.Given read = read();
    push = read.push();
    Target target = targets.target();
    Metrics metrics = new Metrics();
    MetricsServer server = metrics(read.metrics(), metrics);
    try (Spool spool = Spool.open(read.spool(), read.spoolBytes(), metrics)) {
      ExitCode code =
          interruption.during(
              () -> push(target, read.notice(), spool, metrics, notices),
              () -> readAgain(read, notices));
      return code.number();
    } finally {
      if (server != null) {
        server.close();
      }
    }
  }

  private AgentOptions.Given read() throws IOException {
    try {
      return options.read(System.getenv());
    } catch (IllegalArgumentException e) {
      throw Failure.usage(String.valueOf(e.getMessage()));
    }
  }

  private static @Nullable MetricsServer metrics(String at, Metrics metrics) throws IOException {
    try {
      return at.isEmpty() ? null : MetricsServer.open(at, metrics::text);
    } catch (IllegalArgumentException e) {
      throw Failure.usage("--metrics " + e.getMessage());
    }
  }

  private ExitCode push(Target target, String risk, Spool spool, Metrics metrics, Notices notices)
      throws Exception {
    SampleSource source =
        KernelSource.open(
            target, rates.passHz(), rates.cpuHz(), budget.limited(), debuginfod.servers());
    StateSet shown = states.shown(source.facts().wholeHost());
    Agent.Plan plan =
        new Agent.Plan(
            Main.Version.text(),
            filters.filter().plus(new Shape.Group(RootOrder.CGROUP)),
            shown,
            rates.passHz(),
            rates.cpuHz(),
            budget.of(rates));
    Push to = Objects.requireNonNull(push);
    try (Agent sampling = new Agent(source, plan, to, spool, metrics, notices);
        Sender sending = new Sender(to, spool, metrics, notices)) {
      agent = sampling;
      sender = sending;
      if (!risk.isEmpty()) {
        notices.say("token", risk);
      }
      notices.say("start", "profiles go to " + to.url().getHost() + ", " + waiting(spool));
      sending.start();
      try {
        sampling.run(interruption::await);
      } finally {
        sending.finish(LAST_NANOS);
      }
      notices.say(
          "end",
          String.format(
              Locale.ROOT,
              "%,d profiles made, %,d sent, %,d dropped; %s",
              metrics.made(),
              metrics.sent(),
              metrics.dropped(),
              waiting(spool)));
      return ExitCode.DONE;
    }
  }

  private static String waiting(Spool spool) {
    return spool.size() == 0
        ? "none waits"
        : String.format(
            Locale.ROOT,
            "%,d wait%s",
            spool.size(),
            spool.folder() == null ? " and are dropped: there is no --spool" : " in the spool");
  }

  /** At SIGHUP; what is wrong changes nothing. */
  private void readAgain(AgentOptions.Given before, Notices notices) {
    try {
      AgentOptions.Given now = options.read(System.getenv());
      if (now.spoolBytes() != before.spoolBytes()
          || !Objects.equals(now.spool(), before.spool())
          || !now.metrics().equals(before.metrics())) {
        notices.again("settings", "another spool or address of metrics is taken at the next start");
      }
      push = now.push();
      Agent sampling = agent;
      Sender sending = sender;
      if (sampling != null && sending != null) {
        sampling.turnTo(now.push());
        sending.turnTo(now.push());
      }
      notices.again(
          "settings", "settings read again: profiles go to " + now.push().url().getHost());
    } catch (IllegalArgumentException | IOException e) {
      notices.again("settings", "the settings stay as they were: " + e.getMessage());
    }
  }
}

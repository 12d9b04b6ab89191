package flametop.cli;

import flametop.cli.check.SelfTest;
import flametop.cli.settings.BudgetOptions;
import flametop.cli.settings.EventOptions;
import flametop.cli.settings.LookOptions;
import flametop.cli.settings.RateOptions;
import flametop.cli.settings.Settings;
import flametop.profile.host.HostMemory;
import flametop.profile.live.Profile;
import flametop.profile.tree.Options;
import flametop.sampler.CleanText;
import flametop.sampler.KernelSource;
import flametop.sampler.ReplaySource;
import flametop.sampler.SampleSource;
import flametop.sampler.Sampler;
import flametop.sampler.SamplerException;
import flametop.sampler.StreamFacts;
import flametop.sampler.Target;
import flametop.term.LiveScreen;
import flametop.term.LiveSession;
import flametop.term.ScreenOptions;
import flametop.term.UserFiles;
import flametop.view.base.Origin;
import flametop.view.screen.ScreenSource;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** The live screen. */
@Command(
    name = "flametop",
    sortOptions = false,
    separator = " ",
    versionProvider = Main.Version.class,
    customSynopsis = "flametop [-a|-p PID|-t TID] [OPTIONS] [-- CMD] | COMMAND",
    description = "Where the threads of this machine spend their time, live.",
    commandListHeading = "",
    footer = {
      "Examples:",
      "  flametop                              all tasks; ? shows the keys, q quits",
      "  flametop -p 1 --states off            where one process waits",
      "  flametop record -d 10 -o out.folded   ten seconds into a file, no screen"
    })
final class ScreenCommand implements Callable<Integer> {
  private static final int MAX_NAME = 200;

  @Mixin private final TargetOptions targets = new TargetOptions();

  @Mixin private final FilterOptions filters = new FilterOptions();

  @Mixin private final RateOptions rates = new RateOptions();

  @Mixin private final BudgetOptions budget = new BudgetOptions();

  @Mixin private final EventOptions events = new EventOptions();

  @Mixin private final DebuginfodOptions debuginfod = new DebuginfodOptions();

  @Mixin private final StatesOptions states = new StatesOptions();

  // Hidden: the help fits a screen.
  @Option(
      names = "--refresh",
      order = 11,
      hidden = true,
      paramLabel = "SECONDS",
      converter = Seconds.class,
      description = {
        "time between two pictures, 0.1 to 60",
        "The time between two pictures, 0.1 to 60 seconds. 0.25 by default; over ssh 0.5."
      })
  private @Nullable Double refreshSeconds;

  @Mixin private final LookOptions looks;

  @Option(
      names = "--history",
      order = 12,
      paramLabel = "MIB",
      converter = Mebibytes.class,
      hidden = true,
      description = {
        "memory for the past, 4 to 256",
        "Memory for the past that is kept in full, 4 to 256 MiB. By default a 32nd of the machine's memory, 64 MiB at most. What is older is kept as sums of a second, then of ten seconds; they take a quarter as much more."
      })
  private @Nullable Integer historyMebibytes;

  @Option(
      names = "--print-config",
      order = 13,
      hidden = true,
      description = {
        "a configuration with all settings and keys",
        "Prints a configuration with all settings and keys at their defaults."
      })
  private boolean printConfig;

  @Option(
      names = "--self-test",
      order = 13,
      hidden = true,
      description = {
        "tries flametop on this machine",
        "Says what `check` says, and tries flametop itself: samples a program of its own, on a CPU and asleep, with a probe of each kind, and looks at terminal, themes and memory. It takes some seconds and writes no file. Exit code: 0 what is needed works, 3 it does not."
      })
  private boolean selfTest;

  @Mixin private final ReplayOptions replay;

  @Option(
      names = {"-h", "--help"},
      order = 30,
      usageHelp = true,
      description = {"this; also record -h; -V, --version; --self-test", "Prints the help."})
  @SuppressWarnings("unused") // picocli looks at the annotation
  private boolean help;

  @Option(
      names = {"-V", "--version"},
      order = 31,
      hidden = true,
      versionHelp = true,
      description = {"the version", "Prints the version."})
  @SuppressWarnings("unused") // picocli looks at the annotation
  private boolean version;

  @Spec private CommandSpec spec;

  private final List<String> program;
  private @Nullable Workload workload;

  /** Ends sampling, once it has begun. */
  private Runnable end = () -> {};

  private boolean left;

  /**
   * @param program to start and to look at; empty: none
   */
  ScreenCommand(List<String> program) {
    this(program, new ReplayOptions(), new LookOptions());
  }

  ScreenCommand(List<String> program, ReplayOptions replay, LookOptions looks) {
    this.program = program;
    this.replay = replay;
    this.looks = looks;
  }

  /** Opens what is shown; may take a second. */
  private interface Opening {
    SampleSource open() throws IOException;
  }

  /** The subject of the screen: this machine, or a recording. */
  private record Subject(
      boolean wholeHost, String host, String what, int passHz, int cpuHz, Opening source) {}

  /** Time between two pictures. */
  static final class Seconds implements ITypeConverter<Double> {
    @Override
    public Double convert(String text) {
      double seconds = text.matches("[0-9]{1,3}(\\.[0-9]{1,6})?") ? Double.parseDouble(text) : -1;
      if (seconds < 0.1 || seconds > 60) {
        throw new TypeConversionException("'" + text + "' is no number from 0.1 to 60");
      }
      return seconds;
    }
  }

  /** Memory for the history. */
  static final class Mebibytes implements ITypeConverter<Integer> {
    @Override
    public Integer convert(String text) {
      return RateOptions.number(text, 4, 256);
    }
  }

  @Override
  public Integer call() throws Exception {
    if (printConfig) {
      spec.commandLine().getOut().print(Settings.example());
      spec.commandLine().getOut().flush();
      return ExitCode.DONE.number();
    }
    if (selfTest) {
      return selfTest().number();
    }
    if (looks.listed()) {
      return ExitCode.DONE.number();
    }
    replay.agree(targets, rates, budget, debuginfod);
    if (!Terminals.isStdin() && !replay.isStdin() || !Terminals.isStdout()) {
      throw Failure.usage(
          (Terminals.isStdout() ? "stdin" : "stdout")
              + " is no terminal, and the screen needs one; `flametop record` samples without: flametop record -d 10 -o out.folded");
    }
    targets.agree(program, replay);
    events.agree();
    Target target;
    if (program.isEmpty()) {
      target = targets.target();
    } else {
      workload = Workload.of(program);
      target = workload.target();
    }
    UserFiles user = UserFiles.of(System.getenv());
    Settings settings = new Settings(user);
    int history =
        settings.given(historyMebibytes, "history", new Mebibytes(), HostMemory.history());
    Options options = Options.ofScreen(filters.filter(), (long) history << 20);
    double refresh = settings.given(refreshSeconds, "refresh", new Seconds(), 0.0);
    Path file = replay.file();
    Subject subject = file == null ? live(target) : recorded(file);
    ScreenOptions screen =
        new ScreenOptions(
            file == null ? Origin.LIVE : Origin.RECORDING,
            subject.host,
            subject.what,
            options.shape(),
            states.shown(subject.wholeHost, settings),
            subject.passHz,
            subject.cpuHz,
            (long) (refresh * 1e9),
            budget.share(),
            budget.kept(rates, refresh > 0),
            looks.look(user, settings),
            looks.preferences(settings));
    CompletableFuture<LiveSession> session = new CompletableFuture<>();
    Thread opening = new Thread(() -> open(session, subject, target, options), "open");
    opening.setDaemon(true);
    opening.start();
    try {
      return new LiveScreen(screen, session).run();
    } finally {
      leave();
    }
  }

  private ExitCode selfTest() throws SamplerException, InterruptedException {
    boolean terminal = Terminals.isStdin() && Terminals.isStdout();
    Path group = null;
    try {
      group = ControlGroups.own();
    } catch (IOException e) {
      // Then no group limits the memory.
    }
    PrintWriter out = spec.commandLine().getOut();
    SelfTest test = new SelfTest(terminal, System.getenv(), group);
    ExitCode code = CheckCommand.print(test.run(), "works", "does not work", out);
    out.flush();
    return code;
  }

  private Subject live(Target target) {
    String servers = debuginfod.servers();
    return new Subject(
        target.kind() == Target.Kind.ALL,
        hostName(),
        workload == null ? describe(target) : workload.what(),
        rates.passHz(),
        rates.cpuHz(),
        () -> KernelSource.open(target, rates.passHz(), rates.cpuHz(), budget.limited(), servers));
  }

  private Subject recorded(Path file) throws SamplerException {
    ReplaySource source = replay.open(file, 1);
    StreamFacts facts = source.facts();
    return new Subject(
        facts.wholeHost(),
        facts.host(),
        "replay of " + CleanText.clean(file.toString(), MAX_NAME),
        facts.passHz(),
        facts.cpuHz(),
        () -> source);
  }

  private void open(
      CompletableFuture<LiveSession> session, Subject subject, Target target, Options options) {
    try {
      session.complete(begin(subject.source.open(), target, options));
    } catch (IOException | RuntimeException | LinkageError | OutOfMemoryError e) {
      session.completeExceptionally(e);
    }
  }

  private synchronized LiveSession begin(SampleSource source, Target target, Options options)
      throws IOException {
    if (left) {
      source.close();
      throw new CancellationException("the screen is left");
    }
    Profile profile = new Profile(source.facts(), options, source.names());
    Sampler sampler = new Sampler(source, rates.passHz(), rates.cpuHz(), profile);
    end =
        () -> {
          sampler.close();
          profile.close();
        };
    LiveEvents switches = null;
    if (source instanceof KernelSource kernel) {
      switches = new LiveEvents(kernel, profile, target);
      events.switchOn(kernel, switches::on);
    }
    sampler.start();
    CompletableFuture<Integer> exitCode = new CompletableFuture<>();
    if (workload != null) {
      exitCode = begin(workload, source);
    } else if (!source.recorded() && target.kind() != Target.Kind.ALL) {
      Thread watch = new Thread(() -> lookAfter(target, profile), "target");
      watch.setDaemon(true);
      watch.start();
    }
    return new LiveSession(
        new ScreenSource(profile),
        source.recorded() ? null : sampler::setRates,
        switches,
        ScreenExporter.of(profile, source.facts()),
        exitCode);
  }

  /**
   * Starts the program.
   *
   * @return the exit code of the program, once the program has ended
   */
  private static CompletableFuture<Integer> begin(Workload workload, SampleSource source)
      throws IOException {
    try {
      workload.start(true);
    } catch (IOException e) {
      source.close();
      throw e;
    }
    CompletableFuture<Integer> exitCode = new CompletableFuture<>();
    Thread watch =
        new Thread(
            () -> {
              try {
                while (!workload.isOver()) {
                  TimeUnit.MILLISECONDS.sleep(50);
                }
                exitCode.complete(workload.exitCode());
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            },
            "program");
    watch.setDaemon(true);
    watch.start();
    return exitCode;
  }

  /** Tells when the target is gone; the screen goes on with the samples of the target. */
  private static void lookAfter(Target target, Profile profile) {
    try {
      while (TargetOptions.isThere(target)) {
        TimeUnit.MILLISECONDS.sleep(500);
      }
      profile.ended(
          new SamplerException(
              SamplerException.Kind.TARGET_GONE,
              target.fact() + " is gone; what was seen of it stays"));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private synchronized void leave() {
    left = true;
    if (workload != null) {
      workload.close();
      workload.left().ifPresent(left -> Main.complain(Main.stderr(), left));
    }
    end.run();
  }

  private static String describe(Target target) {
    return target.kind() == Target.Kind.ALL ? "all tasks" : target.fact();
  }

  private static String hostName() {
    try {
      return CleanText.clean(Files.readString(Path.of("/proc/sys/kernel/hostname")).trim(), 64);
    } catch (IOException e) {
      return "localhost";
    }
  }
}

package flametop.cli;

import flametop.export.FoldedFile;
import flametop.export.FoldedStacks;
import flametop.export.Unit;
import flametop.profile.FoldedStack;
import flametop.profile.Options;
import flametop.profile.Profile;
import flametop.profile.RootOrder;
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
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** The live screen. */
@Command(
    name = "flametop",
    sortOptions = false,
    separator = " ",
    versionProvider = Main.Version.class,
    customSynopsis = "flametop [-a | -p PID | -t TID] [OPTIONS] | record | view | diff | check",
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

  @Mixin private final JvmOptions jvms = new JvmOptions();

  @Mixin private final StatesOptions states = new StatesOptions();

  @Option(
      names = "--refresh",
      order = 11,
      paramLabel = "SECONDS",
      converter = Seconds.class,
      description = "time between two pictures, 0.1 to 60")
  private Double refreshSeconds;

  @Option(
      names = "--theme",
      order = 11,
      paramLabel = "NAME",
      defaultValue = "dark",
      description = "colours: dark or light (default dark)")
  private String theme;

  @Option(
      names = "--history",
      order = 12,
      paramLabel = "MIB",
      converter = Mebibytes.class,
      defaultValue = "16",
      hidden = true,
      description = "memory for what was seen, 4 to 256 (default 16)")
  private int historyMebibytes;

  @Mixin private final ReplayOptions replay = new ReplayOptions();

  @Option(
      names = {"-h", "--help"},
      order = 30,
      usageHelp = true,
      description = "this text; also flametop record -h; -V, --version")
  @SuppressWarnings("unused") // picocli looks at the annotation
  private boolean help;

  @Option(
      names = {"-V", "--version"},
      order = 31,
      hidden = true,
      versionHelp = true,
      description = "the version")
  @SuppressWarnings("unused") // picocli looks at the annotation
  private boolean version;

  private Sampler sampler;
  private Profile profile;
  private boolean left;

  /** Opens what is shown; may take a second. */
  private interface Opening {
    SampleSource open() throws IOException;
  }

  /** What is shown: this machine, or a recording. */
  private record Origin(
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
    replay.agree(targets, rates, budget, jvms);
    if (!Terminals.isStdin() || !Terminals.isStdout()) {
      throw new Failure.Ends(
          ExitCode.USAGE,
          (Terminals.isStdout() ? "stdin" : "stdout")
              + " is no terminal, and the screen needs one; `flametop record` samples without: flametop record -d 10 -o out.folded");
    }
    Target target = targets.target();
    Options options =
        new Options(RootOrder.COMM, (long) historyMebibytes << 20, filters.filter(), true);
    Origin origin = replay.file() == null ? live(target) : recorded(replay.open(1));
    ScreenOptions screen =
        new ScreenOptions(
            replay.file() == null ? flametop.view.Origin.LIVE : flametop.view.Origin.RECORDING,
            origin.host,
            origin.what,
            options.filter(),
            states.shown(origin.wholeHost),
            origin.passHz,
            origin.cpuHz,
            refreshSeconds == null ? 0 : (long) (refreshSeconds * 1e9),
            budget.share(),
            budget.kept(rates, refreshSeconds != null),
            theme,
            ScreenOptions.themesFolder());
    CompletableFuture<LiveSession> session = new CompletableFuture<>();
    Thread opening = new Thread(() -> open(session, origin, target, options), "open");
    opening.setDaemon(true);
    opening.start();
    try {
      return new LiveScreen(screen, session).run();
    } finally {
      leave();
    }
  }

  private Origin live(Target target) {
    return new Origin(
        target.kind() == Target.Kind.ALL,
        hostName(),
        describe(target),
        rates.passHz(),
        rates.cpuHz(),
        () ->
            KernelSource.open(
                target, rates.passHz(), rates.cpuHz(), budget.limited(), jvms.maps()));
  }

  private Origin recorded(ReplaySource source) {
    StreamFacts facts = source.facts();
    return new Origin(
        facts.wholeHost(),
        facts.host(),
        "replay of " + CleanText.clean(replay.file().toString(), MAX_NAME),
        facts.passHz(),
        facts.cpuHz(),
        () -> source);
  }

  private void open(
      CompletableFuture<LiveSession> session, Origin origin, Target target, Options options) {
    try {
      session.complete(begin(origin.source.open(), origin, target, options));
    } catch (IOException | RuntimeException | LinkageError | OutOfMemoryError e) {
      session.completeExceptionally(e);
    }
  }

  private synchronized LiveSession begin(
      SampleSource source, Origin origin, Target target, Options options) {
    if (left) {
      source.close();
      return null;
    }
    Profile opened = new Profile(source.facts(), options, source.names());
    profile = opened;
    sampler = new Sampler(source, rates.passHz(), rates.cpuHz(), opened);
    sampler.start();
    if (!source.recorded() && target.kind() != Target.Kind.ALL) {
      Thread watch = new Thread(() -> lookAfter(target, opened), "target");
      watch.setDaemon(true);
      watch.start();
    }
    return new LiveSession(
        origin.host,
        origin.what,
        opened,
        source.recorded() ? null : sampler::setRates,
        source instanceof KernelSource kernel ? new JvmMaps(kernel) : null,
        (window, shown, zoom) ->
            opened
                .folded(window, shown, zoom, false)
                .thenApplyAsync(stacks -> export(origin.host, stacks)));
  }

  private final class JvmMaps implements BooleanSupplier {
    private final KernelSource source;
    private boolean wanted = jvms.maps();

    JvmMaps(KernelSource source) {
      this.source = source;
    }

    @Override
    public synchronized boolean getAsBoolean() {
      wanted = !wanted;
      source.jvmMaps(wanted);
      return wanted;
    }
  }

  /** Tells when the target is gone; the screen goes on with what was seen of it. */
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
    if (sampler != null) {
      sampler.close();
      profile.close();
    }
  }

  private static String export(String host, List<FoldedStack> stacks) {
    if (stacks.isEmpty()) {
      String text = "nothing to export: no task was seen in the states shown; o shows others";
      throw new UncheckedIOException(text, new IOException(text));
    }
    String time =
        LocalDateTime.now(ZoneId.systemDefault())
            .format(DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss", Locale.ROOT));
    Path path =
        Path.of("flametop-" + host.replaceAll("[^A-Za-z0-9._-]", "_") + "-" + time + ".folded");
    try {
      FoldedFile file = FoldedStacks.write(path, false, stacks, Unit.US);
      return String.format(
          Locale.ROOT,
          "%s: %,d stacks, %.1f s, %,d kB",
          CleanText.clean(file.path().toString(), 1_024),
          file.stacks(),
          file.total() / 1e6,
          (file.bytes() + 999) / 1_000);
    } catch (IOException e) {
      throw new UncheckedIOException(e.getMessage(), e);
    }
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

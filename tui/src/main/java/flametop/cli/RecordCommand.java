package flametop.cli;

import flametop.cli.settings.BudgetOptions;
import flametop.cli.settings.EventOptions;
import flametop.cli.settings.OneOf;
import flametop.cli.settings.RateOptions;
import flametop.export.OutputFile;
import flametop.export.StackFormat;
import flametop.profile.answer.LiveSource;
import flametop.profile.answer.RootOrder;
import flametop.profile.answer.Shape;
import flametop.profile.answer.StateSet;
import flametop.sampler.CleanText;
import flametop.sampler.KernelSource;
import flametop.sampler.ReplaySource;
import flametop.sampler.SampleSource;
import flametop.sampler.Target;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** Samples without a screen, and writes what was seen. */
@Command(
    name = "record",
    sortOptions = false,
    separator = " ",
    customSynopsis = "flametop record [-a | -p PID | -t TID] [OPTIONS] [-o FILE|-] [-- COMMAND]",
    description = "Samples without a screen into a file for viewers, or as a stream.",
    footer = {
      "Examples:",
      "  flametop record -d 10 -o out.folded                 all tasks, ten seconds",
      "  flametop record -p 1 --by thread -d 5 >out.folded   one process, each thread",
      "  flametop record --format flametop -o out.flametop   until Ctrl-C, for --replay"
    })
final class RecordCommand implements Callable<Integer> {
  private final Interruption interruption;
  private final List<String> program;

  @Spec private CommandSpec spec;

  @Mixin private final TargetOptions targets = new TargetOptions();

  @Mixin private final FilterOptions filters = new FilterOptions();

  @Mixin private final RateOptions rates = new RateOptions();

  @Mixin private final BudgetOptions budget = new BudgetOptions();

  @Mixin private final EventOptions events = new EventOptions();

  // Hidden: the help fits a screen, and the first source will mostly do.
  @Option(
      names = "--measure",
      order = 12,
      hidden = true,
      paramLabel = "SPEC",
      description = {
        "of which -e the stacks are (default: the first)",
        "Which source of events the stacks are of: one of those given with -e, as it is written there; the first by default."
      })
  private @Nullable String measure;

  @Mixin private final DebuginfodOptions debuginfod = new DebuginfodOptions();

  @Option(
      names = "-d",
      order = 8,
      paramLabel = "SECONDS",
      converter = Duration.class,
      description = {
        "how long (default: until Ctrl-C)",
        "Samples for so many seconds; without it, until Ctrl-C. Afterwards names that are still to come are waited for, up to 30 seconds; Ctrl-C ends that."
      })
  private @Nullable Double seconds;

  @Option(
      names = "-i",
      order = 9,
      paramLabel = "PASSES",
      converter = Passes.class,
      description = {"how many passes", "Samples for so many passes."})
  private @Nullable Long passes;

  @Mixin private final StatesOptions states = new StatesOptions();

  @Option(
      names = "--by",
      order = 11,
      paramLabel = "WHAT",
      converter = By.class,
      completionCandidates = By.class,
      description = {
        "none, service (default), comm, process, thread, cpu, cgroup or ancestor",
        "The first frames of each stack: none; service (the default): the comm, or what an interpreter runs (java Shop); comm; process: service-pid; thread: service-pid;thread-tid; cpu: cpu N; cgroup: a frame for each control group of the path, then the service; ancestor: pid and name of the process that started it, then the service."
      })
  private @Nullable RootOrder by;

  @Option(
      names = "--unit",
      order = 12,
      paramLabel = "UNIT",
      converter = UnitName.class,
      completionCandidates = UnitName.class,
      description = {
        "us (default) or samples",
        "The numbers: us (microseconds of the time of tasks, the default), or samples (passes and CPU samples that saw the stack)."
      })
  private @Nullable Unit unit;

  @Option(
      names = "--format",
      order = 13,
      paramLabel = "FORMAT",
      converter = FormatName.class,
      completionCandidates = FormatName.class,
      description = {
        "folded, speedscope, pprof, html, svg, text, xstack, flametop",
        "The format: see the formats. Without it the suffix of the file says the format; on stdout, and where there is no suffix, it is folded. text and json are a summary of the heaviest stacks; xstack is a row for each task and pass; flametop is the stream that --replay reads."
      })
  private @Nullable Format asked;

  /** What is asked for, or what the suffix says. */
  private Format format = Format.FOLDED;

  // Hidden: the help fits a screen.
  @Option(
      names = "-q",
      order = 13,
      hidden = true,
      description = {
        "with --format xstack: no header",
        "With --format xstack: no line with the names of the columns."
      })
  private boolean quiet;

  @Option(
      names = "-r",
      order = 13,
      hidden = true,
      description = {
        "with --format xstack: innermost frames first",
        "With --format xstack: the innermost frame of each stack stands first."
      })
  private boolean reversed;

  @Option(
      names = "--lines",
      order = 13,
      description = {
        "source lines and inlined functions into the stream",
        "With --format flametop: source lines and inlined functions of all frames go into the stream, for the key S in a replay."
      })
  private boolean lines;

  @Option(
      names = "-o",
      order = 14,
      paramLabel = "FILE",
      description = {
        "where to; - is stdout (default)",
        "The file, whose suffix says the format; - is stdout, the default. /dev/null drops the output."
      })
  private Path output = Path.of("-");

  // Hidden: the help fits a screen, and who needs it is told when FILE exists.
  @Option(
      names = "--force",
      order = 15,
      hidden = true,
      description = {"replace a file that exists", "Replaces the file if it exists."})
  private boolean force;

  @Mixin private final ReplayOptions replay = new ReplayOptions();

  RecordCommand(Interruption interruption, List<String> program) {
    this.interruption = interruption;
    this.program = program;
  }

  /** What is written. */
  enum Format {
    FOLDED(StackFormat.FOLDED),
    SPEEDSCOPE(StackFormat.SPEEDSCOPE),
    PPROF(StackFormat.PPROF),
    HTML(StackFormat.HTML),
    SVG(StackFormat.SVG),
    TEXT(StackFormat.TEXT),
    JSON(StackFormat.JSON),
    XSTACK(null),
    FLAMETOP(null);

    /** The format of stacks; null: what comes is written as it comes. */
    private final @Nullable StackFormat stacks;

    Format(@Nullable StackFormat stacks) {
      this.stacks = stacks;
    }
  }

  static final class Duration implements ITypeConverter<Double> {
    @Override
    public Double convert(String text) {
      double seconds = text.matches("[0-9]{1,7}(\\.[0-9]{1,6})?") ? Double.parseDouble(text) : -1;
      if (seconds < 0.01) {
        throw new TypeConversionException(
            "'" + text + "' is no number of seconds from 0.01 to 9999999");
      }
      return seconds;
    }
  }

  static final class Passes implements ITypeConverter<Long> {
    @Override
    public Long convert(String text) {
      return (long) RateOptions.number(text, 1, 999_999_999);
    }
  }

  static final class By extends OneOf<RootOrder> {
    By() {
      super(
          List.of(
              RootOrder.NONE,
              RootOrder.SERVICE,
              RootOrder.COMM,
              RootOrder.PROCESS,
              RootOrder.THREAD,
              RootOrder.CPU,
              RootOrder.CGROUP,
              RootOrder.ANCESTOR));
    }
  }

  /** The unit of the numbers. */
  private enum Unit {
    /** µs of the time of tasks. */
    US,
    /** Passes and samples of the CPU clock. */
    SAMPLES
  }

  static final class UnitName extends OneOf<Unit> {
    UnitName() {
      super(List.of(Unit.values()));
    }
  }

  static final class FormatName extends OneOf<Format> {
    FormatName() {
      super(List.of(Format.values()));
    }
  }

  @Override
  public Integer call() throws Exception {
    boolean toStdout = output.toString().equals("-");
    format = asked == null ? bySuffix(toStdout) : asked;
    agree();
    events.agree();
    Target target = targets.target();
    if (toStdout && (format == Format.FLAMETOP || format == Format.PPROF) && Terminals.isStdout()) {
      throw Failure.usage(
          format == Format.PPROF
              ? "a pprof profile is not for a terminal; give a file: -o out.pb.gz"
              : "a flametop stream is not for a terminal; give a file: -o out.flametop");
    }
    if (program.isEmpty()) {
      return interruption.number(interruption.during(() -> record(target, null, toStdout)));
    }
    if (toStdout) {
      throw Failure.usage("the program may write to stdout too; give a file: -o out.folded");
    }
    Workload workload = Workload.of(program);
    try (workload) {
      ExitCode code = interruption.during(() -> record(workload.target(), workload, toStdout));
      boolean ended = code == ExitCode.DONE && workload.isOver();
      workload.close();
      workload.left().ifPresent(left -> Main.complain(spec.commandLine().getErr(), left));
      return ended ? workload.exitCode() : interruption.number(code);
    }
  }

  private Format bySuffix(boolean toStdout) {
    if (output.toString().toLowerCase(Locale.ROOT).endsWith(".flametop")) {
      return Format.FLAMETOP;
    }
    StackFormat of = toStdout ? StackFormat.FOLDED : StackFormat.of(output);
    if (of == null) {
      throw Failure.noFormat(output, StackFormat.suffixes() + ", .flametop");
    }
    return Format.valueOf(of.name());
  }

  private ExitCode record(Target target, @Nullable Workload workload, boolean toStdout)
      throws IOException, InterruptedException {
    try (OutputFile file = toStdout ? null : OutputFile.create(output, force)) {
      Path recorded = replay.file();
      SampleSource source =
          recorded != null
              ? replay.open(recorded, 0)
              : KernelSource.open(
                  target, rates.passHz(), rates.cpuHz(), budget.limited(), debuginfod.servers());
      if (source instanceof KernelSource kernel) {
        events.switchOn(kernel, kernel::sourceOn);
      }
      try (Recording recording =
          recording(source, target, workload, file, spec.commandLine().getErr())) {
        ExitCode code = recording.run();
        boolean damaged = source instanceof ReplaySource r && r.damaged();
        return code == ExitCode.DONE && damaged ? ExitCode.FAILED : code;
      }
    }
  }

  private Recording recording(
      SampleSource source,
      Target target,
      @Nullable Workload workload,
      @Nullable OutputFile file,
      PrintWriter err) {
    Recording.Limits limits =
        new Recording.Limits(
            source.recorded() ? Target.ALL : target,
            workload,
            rates.passHz(),
            rates.cpuHz(),
            passes == null ? Long.MAX_VALUE : passes,
            seconds == null ? Long.MAX_VALUE : (long) (seconds * 1e9),
            budget.of(rates),
            lines,
            replay.file() == null ? events.specs().size() : 0);
    return new Recording(source, limits, output(source, file, err), interruption, err);
  }

  private RecordingOutput output(SampleSource source, @Nullable OutputFile file, PrintWriter err) {
    StateSet shown = states.shown(source.facts().wholeHost());
    if (format == Format.XSTACK) {
      return new RowOutput(source, shown, !quiet, reversed, file);
    }
    StackFormat stacks = format.stacks;
    if (stacks == null) {
      return new StreamOutput(source, file);
    }
    Shape filter = filters.filter();
    Shape shape = by == null ? filter : filter.plus(new Shape.Group(by));
    return new StackOutput(
        source, shape, shown, stacks, unit == Unit.SAMPLES, measure(), file, err);
  }

  /** Number of the source whose weights are written, or {@link LiveSource#TIME}. */
  private int measure() {
    return measure == null
        ? events.specs().isEmpty() ? LiveSource.TIME : 0
        : events.specs().indexOf(measure);
  }

  /** Refuses what does not go together. */
  private void agree() {
    if (measure != null && measure() < 0) {
      throw Failure.usage(
          "--measure " + CleanText.clean(measure, 500) + " is of no -e; give the same with -e");
    }
    if (!events.specs().isEmpty() && unit != null) {
      throw Failure.usage(
          "--unit is of the time of tasks; a source given with -e has its own unit");
    }
    replay.agree(targets, rates, budget, debuginfod);
    targets.agree(program, replay);
    if (seconds != null && passes != null) {
      throw Failure.usage("-d and -i both say when to end; give one of them");
    }
    if (replay.file() != null && (seconds != null || passes != null)) {
      throw Failure.usage("--replay ends where the recording does: -d and -i do not go with it");
    }
    if (lines && format != Format.FLAMETOP) {
      throw Failure.usage("--lines are for the screen: they go with a stream (--format flametop)");
    }
    if (format != Format.XSTACK && (quiet || reversed)) {
      throw Failure.usage("-q and -r are of rows: they go with --format xstack");
    }
    if (format == Format.XSTACK
        && (filters.given() || by != null || unit != null || !events.specs().isEmpty())) {
      throw Failure.usage(
          "--format xstack has a row for each task: -c, -u, --by, --unit and -e do not go with it");
    }
    if (format == Format.FLAMETOP) {
      if (replay.file() != null) {
        throw Failure.usage(
            "--replay reads a stream already: another stream (.flametop) would only copy it");
      }
      if (filters.given() || states.given() || by != null || unit != null) {
        throw Failure.usage(
            "a stream (.flametop) holds all that is sampled: give -c, -u, --states, --by and --unit when you --replay it");
      }
    }
  }
}

package flametop.cli;

import flametop.cli.settings.OneOf;
import flametop.export.OutputFile;
import flametop.export.SampleExport;
import flametop.export.StackExport;
import flametop.export.StackFormat;
import flametop.profile.answer.Snapshot;
import flametop.profile.file.StackFile;
import flametop.profile.file.StackFiles;
import flametop.profile.file.StackInput;
import flametop.profile.format.SampleLog;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Writes the stacks of profiles in another format. */
@Command(
    name = "convert",
    sortOptions = false,
    separator = " ",
    customSynopsis = "flametop convert [--format FORMAT] [-o FILE|-] FILE…",
    description = "Writes the stacks of profiles of any tool in another format.",
    footer = {
      "Examples:",
      "  flametop convert cpu.pb.gz -o cpu.speedscope.json   by the suffix",
      "  flametop convert heap.pb.gz --sample-type alloc_space -o heap.html",
      "  perf script | flametop convert - --format pprof >out.pb.gz"
    })
final class ConvertCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Parameters(
      arity = "1..*",
      paramLabel = "FILE",
      description = "profiles, whose stacks are added up; - is stdin")
  private List<Path> paths = new ArrayList<>();

  @Option(
      names = "-o",
      paramLabel = "FILE",
      description = {
        "where to; - is stdout (default)",
        "The file, whose suffix says the format; - is stdout, the default."
      })
  private Path output = Path.of("-");

  @Option(
      names = "--format",
      paramLabel = "FORMAT",
      converter = FormatName.class,
      completionCandidates = FormatName.class,
      description = {
        "folded, speedscope, pprof, html, svg, text, json",
        "The format: folded, speedscope, pprof, html, svg (a picture), or text and json for a summary of the heaviest stacks. Without it the suffix of the file says the format; on stdout, and where there is no suffix, it is folded."
      })
  private @Nullable StackFormat format;

  @Option(
      names = "--by",
      paramLabel = "WHAT",
      converter = ByName.class,
      completionCandidates = ByName.class,
      description = {
        "what speedscope has a profile for: thread, state, process, none",
        "For what a file of speedscope has a profile each, where a profile of another program says whose its stacks are: each thread (the default), each thread in one state, each process, or none: then all is one profile, and owners are the outermost frames."
      })
  private SampleExport.@Nullable By by;

  @Mixin private final SampleTypeOptions types = new SampleTypeOptions();

  @Option(
      names = "--force",
      hidden = true,
      description = {"replace a file that exists", "Replaces the file if it exists."})
  private boolean force;

  static final class FormatName extends OneOf<StackFormat> {
    FormatName() {
      super(List.of(StackFormat.values()));
    }
  }

  static final class ByName extends OneOf<SampleExport.By> {
    ByName() {
      super(List.of(SampleExport.By.values()));
    }
  }

  @Override
  public Integer call() throws Exception {
    boolean toStdout = output.toString().equals("-");
    StackFormat to = format == null ? bySuffix(toStdout) : format;
    if (toStdout && to == StackFormat.PPROF && Terminals.isStdout()) {
      throw Failure.usage("a pprof profile is not for a terminal; give a file: -o out.pb.gz");
    }
    if (by != null && to != StackFormat.SPEEDSCOPE) {
      throw Failure.usage("--by goes with speedscope, whose files have several profiles");
    }
    ReplayedStacks.agreeOnStdin(paths);
    if (types.list(paths, () -> spec.commandLine().getOut())) {
      return ExitCode.DONE.number();
    }
    List<StackInput> inputs = StackFiles.inputs(paths, ReplayedStacks::open);
    SampleLog samples = SampleExport.suits(to) ? new SampleLog(to == StackFormat.SPEEDSCOPE) : null;
    StackFile.Choice choice = new StackFile.Choice(null, types.wanted(), false, samples);
    try (OutputFile file = toStdout ? null : OutputFile.create(output, force);
        StackFile stacks = StackFile.added(inputs, choice)) {
      return write(stacks, samples, to, file).number();
    }
  }

  private StackFormat bySuffix(boolean toStdout) {
    StackFormat of = toStdout ? StackFormat.FOLDED : StackFormat.of(output);
    if (of == null) {
      throw Failure.noFormat(output, StackFormat.suffixes());
    }
    return of;
  }

  /** What writes all stacks, and returns how many. */
  @FunctionalInterface
  private interface Writing {
    long to(OutputStream out) throws IOException;
  }

  private ExitCode write(
      StackFile stacks, @Nullable SampleLog samples, StackFormat to, @Nullable OutputFile file)
      throws IOException, InterruptedException {
    PrintWriter err = spec.commandLine().getErr();
    Snapshot.Reading reading = Failure.got(stacks.whole());
    for (String complaint : Failure.got(stacks.complaints())) {
      Main.complain(err, complaint);
    }
    if (reading.stacks() == 0) {
      Main.complain(err, "there are no stacks, so nothing is written");
      return ExitCode.FAILED;
    }
    StackFile.Use use = Failure.got(stacks.use());
    if (!use.oneUnit()) {
      Main.complain(
          err,
          "the files count in different units, which do not add up; --sample-type chooses what"
              + " they count");
      return ExitCode.FAILED;
    }
    StackExport export = FileScreen.export(reading, Failure.got(stacks.held(0)), null);
    Writing writing = out -> to.write(export, out);
    if (samples != null && samples.isWhole()) {
      SampleExport all =
          new SampleExport(export.provenance(), samples, by == null ? SampleExport.By.THREAD : by);
      writing = out -> all.write(to, out);
    }
    if (samples != null && samples.overflows()) {
      Main.complain(err, "there is no memory for source lines, threads and order: sums follow");
    } else if (samples != null && samples.lostOrder()) {
      Main.complain(err, "there is no memory for the order of so many samples: sums follow");
    }
    if (file == null) {
      long unused = writing.to(new StandardOutput());
    } else {
      long[] count = new long[1];
      Writing whole = writing;
      file.write(out -> count[0] = whole.to(out));
      Main.complain(err, "wrote " + RecordingOutput.name(file) + ": " + export.describe(count[0]));
    }
    return use.whole() ? ExitCode.DONE : ExitCode.FAILED;
  }
}

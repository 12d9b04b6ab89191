package flametop.cli;

import flametop.export.ExportException;
import flametop.export.FoldedFile;
import flametop.export.FoldedStacks;
import flametop.export.OutputFile;
import flametop.export.Unit;
import flametop.profile.FoldedStack;
import flametop.profile.GraphQuery;
import flametop.profile.Options;
import flametop.profile.Profile;
import flametop.profile.Shape;
import flametop.profile.StateSet;
import flametop.sampler.BatchSink;
import flametop.sampler.CleanText;
import flametop.sampler.SampleSource;
import flametop.sampler.StreamMonitor;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutionException;

/** Keeps a profile while batches come, and writes it as folded stacks at the end. */
final class FoldedOutput implements RecordingOutput {
  private final StateSet states;
  private final Unit unit;
  private final OutputFile file;
  private final PrintWriter err;
  private final StreamMonitor monitor;
  private final Profile profile;

  /**
   * @param file null for stdout
   */
  FoldedOutput(
      SampleSource source,
      Shape shape,
      StateSet states,
      Unit unit,
      OutputFile file,
      PrintWriter err) {
    this.states = states;
    this.unit = unit;
    this.file = file;
    this.err = err;
    monitor = new StreamMonitor(source, false);
    profile =
        new Profile(
            source.facts(), new Options(shape, Options.DEFAULT_HISTORY_BYTES, false), monitor);
  }

  @Override
  public StreamMonitor monitor() {
    return monitor;
  }

  @Override
  public BatchSink sink() {
    return profile;
  }

  @Override
  public IOException failure() {
    return null;
  }

  @Override
  public String write() throws IOException, InterruptedException {
    List<FoldedStack> stacks;
    try {
      stacks = profile.folded(Long.MAX_VALUE, states, GraphQuery.ROOT, unit == Unit.SAMPLES).get();
    } catch (ExecutionException e) {
      throw new IOException(Failure.of(e).message(), e);
    }
    if (file == null) {
      FoldedStacks.Written written = toStdout(stacks);
      return "wrote " + describe(written.stacks(), written.total());
    }
    try {
      FoldedFile written = FoldedStacks.write(file, stacks, unit);
      return "wrote "
          + CleanText.clean(written.path().toString(), 1_024)
          + ": "
          + describe(written.stacks(), written.total());
    } catch (ExportException e) {
      // The samples cannot be had again.
      Main.complain(err, e.getMessage() + "; the stacks go to stdout instead");
      toStdout(stacks);
      throw e;
    }
  }

  private FoldedStacks.Written toStdout(List<FoldedStack> stacks) throws ExportException {
    try {
      return FoldedStacks.write(new FileOutputStream(FileDescriptor.out), stacks, unit);
    } catch (IOException e) {
      throw new ExportException(
          "cannot write to stdout: "
              + CleanText.clean(String.valueOf(e.getMessage()), 500)
              + "; give a file with -o");
    }
  }

  private String describe(long stacks, long total) {
    if (stacks == 0) {
      return states.equals(StateSet.ALL)
          ? "nothing: no task of this target and filter was seen"
          : "nothing: no task of this target and filter was seen in these states;"
              + " --states all takes those that sleep, too";
    }
    return unit == Unit.US
        ? String.format(Locale.ROOT, "%,d stacks, %.3f s of task time", stacks, total / 1e6)
        : String.format(Locale.ROOT, "%,d stacks, %,d samples", stacks, total);
  }

  @Override
  public void close() {
    profile.close();
  }
}

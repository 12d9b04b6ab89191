package flametop.cli;

import flametop.export.ExportException;
import flametop.export.OutputFile;
import flametop.export.Provenance;
import flametop.export.StackExport;
import flametop.export.StackFormat;
import flametop.profile.answer.Extract;
import flametop.profile.answer.GraphQuery;
import flametop.profile.answer.LiveSource;
import flametop.profile.answer.Shape;
import flametop.profile.answer.StateSet;
import flametop.profile.live.Profile;
import flametop.profile.tree.Options;
import flametop.sampler.BatchSink;
import flametop.sampler.SampleSource;
import flametop.sampler.StreamFacts;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintWriter;
import org.jspecify.annotations.Nullable;

/** Keeps a profile while batches come, and writes its stacks at the end. */
final class StackOutput extends RecordingOutput {
  private final StreamFacts facts;
  private final Shape filter;
  private final StateSet states;
  private final StackFormat format;
  private final boolean samples;
  private final int measure;
  private final PrintWriter err;
  private final Profile profile;

  /**
   * @param measure number of the source of events whose weights are written, or {@link
   *     LiveSource#TIME}
   * @param file null for stdout
   */
  StackOutput(
      SampleSource source,
      Shape shape,
      StateSet states,
      StackFormat format,
      boolean samples,
      int measure,
      @Nullable OutputFile file,
      PrintWriter err) {
    super(source, false, file);
    this.facts = source.facts();
    filter = shape.without(Shape.Group.class);
    this.states = states;
    this.format = format;
    this.samples = samples;
    this.measure = measure;
    this.err = err;
    profile =
        new Profile(
            source.facts(), new Options(shape, Options.DEFAULT_HISTORY_BYTES, false), monitor);
  }

  @Override
  BatchSink sink() {
    return profile;
  }

  @Override
  String write() throws IOException, InterruptedException {
    profile.measure(measure);
    Extract extract = Failure.got(profile.extract(states, GraphQuery.ROOT, samples));
    StackExport export =
        StackExport.of(
            Provenance.of(Main.Version.text(), facts, extract.scope(), states),
            extract.measure(),
            extract.stacks(),
            extract.exactTotal());
    if (file == null) {
      return "wrote " + describe(export, toStdout(format, export));
    }
    try {
      long[] stacks = new long[1];
      file.write(out -> stacks[0] = format.write(export, out));
      return "wrote " + name(file) + ": " + describe(export, stacks[0]);
    } catch (ExportException e) {
      // The samples cannot be had again.
      Main.complain(err, e.getMessage() + "; the stacks go to stdout instead, folded");
      long unused = toStdout(StackFormat.FOLDED, export);
      throw e;
    }
  }

  private static long toStdout(StackFormat format, StackExport export) throws ExportException {
    try {
      return format.write(export, new FileOutputStream(FileDescriptor.out));
    } catch (IOException e) {
      throw noStdout(e, "give a file with -o");
    }
  }

  private String describe(StackExport export, long stacks) {
    if (stacks == 0 && measure != LiveSource.TIME) {
      return "nothing: no event came"
          + (filter.equals(Shape.PLAIN) ? "" : " of a task that matches " + filter);
    }
    if (stacks == 0) {
      return "nothing: no task of this target "
          + (filter.equals(Shape.PLAIN) ? "was seen" : "matched " + filter)
          + (states.equals(StateSet.ALL)
              ? ""
              : " in these states; --states all takes those that sleep, too");
    }
    return export.describe(stacks);
  }

  @Override
  public void close() {
    profile.close();
  }
}

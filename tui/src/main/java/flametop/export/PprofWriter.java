package flametop.export;

import flametop.profile.answer.FoldedStack;
import flametop.profile.format.Numbering;
import flametop.profile.format.ProfileFacts;
import flametop.profile.format.SampleLog.Frame;
import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.List;

/**
 * Writes stacks as {@code profile.proto}, which pprof reads. A sample is a share of a stack: the
 * labels of an export are {@code process}, {@code pid}, {@code thread}, {@code tid} and {@code
 * state}, as far as they are known; its values are its number of samples, where that is known, and
 * its time. A location is a function with those that are inlined into it there, in the mapping of
 * its module. Comments have the provenance.
 */
final class PprofWriter {
  private PprofWriter() {}

  /** What a sample says beside its stack. */
  interface Columns {
    /** The types of the values with their units; pprof shows the last if it is not asked. */
    String[][] types();

    /** Whether values are times, so that the period is one too; else each that counts is one. */
    boolean isTime();

    /** Whether a stack begins with whose it is. */
    boolean hasOwners();

    /** How many of the outermost frames of a stack are left out. */
    int leftOut(FoldedStack stack);

    long[] values(FoldedStack.Share share);

    /** The labels in turn with their values, in pairs; those that are empty are left out. */
    String[] labels(FoldedStack stack, FoldedStack.Share share);
  }

  /** Returns how many stacks. */
  static long write(StackExport export, OutputStream out) throws IOException {
    return write(export.stacks(), new OfExport(export), export.provenance(), out);
  }

  /** Returns how many stacks. */
  static long write(
      Iterable<FoldedStack> of, Columns columns, Provenance provenance, OutputStream out)
      throws IOException {
    Numbering<Frame> frames = new Numbering<>();
    PprofFile file = new PprofFile(out, frames::get);
    String[][] types = columns.types();
    for (String[] type : types) {
      file.type(type[0], type[1]);
    }
    long stacks = 0;
    for (FoldedStack stack : of) {
      stacks++;
      int[] numbers = StackExport.path(stack, columns.leftOut(stack), frames);
      long[] path = file.path(numbers, numbers.length);
      for (FoldedStack.Share share : StackExport.shares(stack)) {
        Protobuf sample = file.sample(path, columns.values(share));
        String[] labels = columns.labels(stack, share);
        for (int i = 0; i < labels.length; i += 2) {
          file.label(sample, labels[i], labels[i + 1]);
        }
        file.write(sample);
      }
    }
    boolean time = columns.isTime();
    List<String> lines = new ArrayList<>(provenance.lines());
    lines.add(StackExport.firstFrame(columns.hasOwners()));
    ProfileFacts facts =
        new ProfileFacts(
            provenance.endNanos() - provenance.coveredNanos(),
            provenance.coveredNanos(),
            time ? provenance.clock() : types[0][0],
            time ? "nanoseconds" : types[0][1],
            time ? provenance.periodNanos() : 1,
            lines);
    file.end(provenance.host(), facts, "");
    return stacks;
  }

  /** The number of samples, where that is known, and the amount. */
  private record OfExport(StackExport export) implements Columns {
    @Override
    public String[][] types() {
      return isTime()
          ? new String[][] {{"samples", "count"}, {"time", unit("microseconds")}}
          : new String[][] {
            {
              export.measure().unit(),
              unit(
                  switch (export.measure().kind()) {
                    case DURATION -> "nanoseconds";
                    case BYTES -> "bytes";
                    case TIME, COUNT -> "count";
                  })
            }
          };
    }

    private String unit(String whole) {
      return PprofFile.parts(whole, export.decimals());
    }

    @Override
    public boolean isTime() {
      return export.measure().isTime();
    }

    @Override
    public boolean hasOwners() {
      return export.hasOwners();
    }

    @Override
    public int leftOut(FoldedStack stack) {
      return 0;
    }

    @Override
    public long[] values(FoldedStack.Share share) {
      return isTime() ? new long[] {share.samples(), share.value()} : new long[] {share.value()};
    }

    @Override
    public String[] labels(FoldedStack stack, FoldedStack.Share share) {
      return new String[] {
        "process", share.process(),
        "pid", PprofFile.number(share.pid()),
        "thread", share.thread(),
        "tid", PprofFile.number(share.tid()),
        "state", share.stateLabel()
      };
    }
  }
}

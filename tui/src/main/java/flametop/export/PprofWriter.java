package flametop.export;

import flametop.profile.answer.FoldedStack;
import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPOutputStream;

/**
 * Writes gzipped {@code profile.proto}, which pprof reads. A sample is a share of a stack: the
 * labels of an export are {@code process}, {@code pid}, {@code thread}, {@code tid} and {@code
 * state}, as far as they are known; its values are its number of samples, where that is known, and
 * its time. A location is a function with those that are inlined into it there, in the mapping of
 * its module. Comments have the provenance.
 *
 * @see <a href="https://github.com/google/pprof/blob/main/proto/profile.proto">its definition</a>
 */
final class PprofWriter {
  private final PprofTables tables = new PprofTables();

  /** Numbers of locations by the numbers of their functions, outermost first. */
  private final Map<List<Integer>, Integer> locations = new LinkedHashMap<>();

  private PprofWriter() {}

  /** What a sample says beside its stack. */
  interface Columns {
    /** The types of the values with their units; pprof shows the last if it is not asked. */
    String[][] types();

    /** The type of the period with its unit. */
    String[] period();

    long periodLength();

    /** Whether a stack begins with whose it is. */
    boolean hasOwners();

    /** How many of the outermost frames of a stack are left out. */
    int leftOut(FoldedStack stack);

    long[] values(FoldedStack.Share share);

    /** The values of a stack that is nobody's. */
    long[] values(FoldedStack stack);

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
    GZIPOutputStream gzip = new GZIPOutputStream(out, 1 << 13);
    long stacks = new PprofWriter().profile(of, columns, provenance, gzip);
    gzip.finish();
    return stacks;
  }

  /** The number of samples, where that is known, and the amount. */
  private static final class OfExport implements Columns {
    private final StackExport export;
    private final boolean time;

    OfExport(StackExport export) {
      this.export = export;
      time = export.measure().isTime();
    }

    @Override
    public String[][] types() {
      return time
          ? new String[][] {
            {"samples", "count"}, {"time", PprofTables.parts("microseconds", export.decimals())}
          }
          : new String[][] {{export.measure().unit(), unit()}};
    }

    private String unit() {
      return PprofTables.parts(
          switch (export.measure().kind()) {
            case DURATION -> "nanoseconds";
            case BYTES -> "bytes";
            case TIME, COUNT -> "count";
          },
          export.decimals());
    }

    @Override
    public String[] period() {
      return time
          ? new String[] {export.provenance().cpuClock() ? "cpu" : "wall", "nanoseconds"}
          : types()[0];
    }

    @Override
    public long periodLength() {
      return time ? export.provenance().periodNanos() : 1;
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
      return values(share.samples(), share.value());
    }

    @Override
    public long[] values(FoldedStack stack) {
      return values(0, stack.value());
    }

    private long[] values(long samples, long value) {
      return time ? new long[] {samples, value} : new long[] {value};
    }

    @Override
    public String[] labels(FoldedStack stack, FoldedStack.Share share) {
      return new String[] {
        "process", share.process(),
        "pid", share.pid() > 0 ? Integer.toString(share.pid()) : "",
        "thread", share.thread(),
        "tid", share.tid() > 0 ? Integer.toString(share.tid()) : "",
        "state", share.stateLabel()
      };
    }
  }

  private long profile(
      Iterable<FoldedStack> of, Columns columns, Provenance provenance, OutputStream out)
      throws IOException {
    FunctionTable functions = new FunctionTable();
    Protobuf profile = new Protobuf();
    for (String[] type : columns.types()) {
      profile.field(1, tables.type(type[0], type[1]));
    }
    String[] ofPeriod = columns.period();
    Protobuf period = tables.type(ofPeriod[0], ofPeriod[1]);
    long stacks = 0;
    for (FoldedStack stack : of) {
      stacks++;
      long[] path = path(stack, columns.leftOut(stack), functions);
      for (FoldedStack.Share share : stack.shares()) {
        Protobuf sample = new Protobuf().packed(1, path).packed(2, columns.values(share));
        String[] labels = columns.labels(stack, share);
        for (int i = 0; i < labels.length; i += 2) {
          tables.label(sample, labels[i], labels[i + 1]);
        }
        profile.field(2, sample);
      }
      if (stack.shares().isEmpty()) {
        profile.field(2, new Protobuf().packed(1, path).packed(2, columns.values(stack)));
      }
      out.write(profile.take());
    }
    // The first mapping is what pprof calls the file of the profile.
    tables.mapping(profile, provenance.host());
    for (Map.Entry<List<Integer>, Integer> entry : locations.entrySet()) {
      List<Integer> called = entry.getKey();
      String own = functions.get(called.get(0)).module();
      Protobuf location = new Protobuf().field(1, entry.getValue());
      if (!own.isEmpty()) {
        location.field(2, tables.mapping(profile, own));
      }
      // What is inlined stands before what it is inlined into.
      for (int i = called.size() - 1; i >= 0; i--) {
        location.field(4, new Protobuf().field(1, called.get(i) + 1));
      }
      profile.field(4, location);
      out.write(profile.take());
    }
    for (int i = 0; i < functions.size(); i++) {
      FunctionTable.Function function = functions.get(i);
      tables.function(profile, i + 1, function.kind(), function.name(), function.module());
      out.write(profile.take());
    }
    profile.field(9, provenance.endNanos() - provenance.coveredNanos());
    profile.field(10, provenance.coveredNanos());
    profile.field(11, period);
    profile.field(12, columns.periodLength());
    List<String> lines = new ArrayList<>(provenance.lines());
    lines.add(StackExport.firstFrame(columns.hasOwners()));
    tables.comments(profile, lines);
    tables.strings(profile);
    out.write(profile.take());
    return stacks;
  }

  /** The locations of a stack, innermost first. */
  private long[] path(FoldedStack stack, int from, FunctionTable functions) {
    int frames = stack.names().length;
    long[] path = new long[frames];
    int size = 0;
    for (int i = from; i < frames; ) {
      List<Integer> called = new ArrayList<>();
      called.add(functions.of(stack, i++));
      while (i < frames && functions.isInlinedAt(stack, i)) {
        called.add(functions.of(stack, i++));
      }
      Integer known = locations.putIfAbsent(called, locations.size() + 1);
      path[frames - ++size] = known == null ? locations.size() : known;
    }
    return Arrays.copyOfRange(path, frames - size, frames);
  }
}

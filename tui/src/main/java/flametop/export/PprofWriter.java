package flametop.export;

import flametop.profile.answer.FoldedStack;
import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
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
  private final Map<String, Integer> strings = new HashMap<>();
  private final List<String> table = new ArrayList<>();

  /** Numbers of locations by the numbers of their functions, outermost first. */
  private final Map<List<Integer>, Integer> locations = new LinkedHashMap<>();

  private PprofWriter() {
    string("");
  }

  /** What a sample says beside its stack. */
  interface Columns {
    /** The types of the values with their units; pprof shows the last if it is not asked. */
    String[][] types();

    /** The type of the period with its unit. */
    String[] period();

    long periodLength();

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
            {"samples", "count"}, {"time", parts("microseconds", export.decimals())}
          }
          : new String[][] {{export.measure().unit(), unit()}};
    }

    private String unit() {
      return parts(
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
      profile.field(1, type(type));
    }
    Protobuf period = type(columns.period());
    long stacks = 0;
    for (FoldedStack stack : of) {
      stacks++;
      long[] path = path(stack, columns.leftOut(stack), functions);
      for (FoldedStack.Share share : stack.shares()) {
        Protobuf sample = new Protobuf().packed(1, path).packed(2, columns.values(share));
        String[] labels = columns.labels(stack, share);
        for (int i = 0; i < labels.length; i += 2) {
          label(sample, labels[i], labels[i + 1]);
        }
        profile.field(2, sample);
      }
      if (stack.shares().isEmpty()) {
        profile.field(2, new Protobuf().packed(1, path).packed(2, columns.values(stack)));
      }
      out.write(profile.take());
    }
    Map<String, Integer> modules = new HashMap<>();
    // The first mapping is what pprof calls the file of the profile.
    mapping(profile, modules, provenance.host());
    for (Map.Entry<List<Integer>, Integer> entry : locations.entrySet()) {
      List<Integer> called = entry.getKey();
      String own = functions.get(called.get(0)).module();
      Protobuf location = new Protobuf().field(1, entry.getValue());
      location.field(2, mapping(profile, modules, own.isEmpty() ? provenance.host() : own));
      // What is inlined stands before what it is inlined into.
      for (int i = called.size() - 1; i >= 0; i--) {
        location.field(4, new Protobuf().field(1, called.get(i) + 1));
      }
      profile.field(4, location);
      out.write(profile.take());
    }
    for (int i = 0; i < functions.size(); i++) {
      FunctionTable.Function function = functions.get(i);
      int number = i + 1;
      int name = string(function.name().isEmpty() ? "-" : function.name());
      profile.field(
          5,
          new Protobuf()
              .field(1, number)
              .field(2, name)
              .field(3, name)
              .field(4, string(function.module())));
      out.write(profile.take());
    }
    profile.field(9, provenance.endNanos() - provenance.coveredNanos());
    profile.field(10, provenance.coveredNanos());
    profile.field(11, period);
    profile.field(12, columns.periodLength());
    List<String> lines = provenance.lines();
    long[] comments = new long[lines.size()];
    for (int i = 0; i < comments.length; i++) {
      comments[i] = string(lines.get(i));
    }
    profile.packed(13, comments);
    for (String text : table) {
      profile.field(6, text);
    }
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

  /** The unit of numbers with decimals: pprof has whole numbers, so the unit is smaller. */
  private static String parts(String unit, int decimals) {
    return decimals == 0 ? unit : unit + "/1" + "0".repeat(decimals);
  }

  /** The number of a module's mapping; a new mapping is written. */
  private int mapping(Protobuf profile, Map<String, Integer> modules, String module) {
    Integer known = modules.putIfAbsent(module, modules.size() + 1);
    if (known != null) {
      return known;
    }
    // That all names are there keeps pprof from looking for the file.
    Protobuf mapping = new Protobuf().field(1, modules.size()).field(5, string(module));
    profile.field(3, mapping.field(7, 1).field(8, 1).field(9, 1));
    return modules.size();
  }

  private Protobuf type(String[] typeAndUnit) {
    return new Protobuf().field(1, string(typeAndUnit[0])).field(2, string(typeAndUnit[1]));
  }

  private void label(Protobuf sample, String key, String value) {
    if (!value.isEmpty()) {
      sample.field(3, new Protobuf().field(1, string(key)).field(2, string(value)));
    }
  }

  private int string(String text) {
    Integer number = strings.putIfAbsent(text, table.size());
    if (number == null) {
      table.add(text);
      return table.size() - 1;
    }
    return number;
  }
}

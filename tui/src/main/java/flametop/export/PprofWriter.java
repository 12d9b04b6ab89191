package flametop.export;

import flametop.profile.answer.FoldedStack;
import flametop.profile.answer.Measure;
import flametop.profile.answer.NodeKind;
import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPOutputStream;

/**
 * Writes gzipped {@code profile.proto}, which pprof reads. A sample is a share of a stack: its
 * labels are {@code process}, {@code pid}, {@code thread}, {@code tid} and {@code state}, as far as
 * they are known; its values are its number of samples, where that is known, and its time. A
 * location is a function with those that are inlined into it there, in the mapping of its module.
 * Comments have the provenance.
 *
 * @see <a href="https://github.com/google/pprof/blob/main/proto/profile.proto">its definition</a>
 */
final class PprofWriter {
  private final PprofTables tables = new PprofTables();

  /** Numbers of locations by the numbers of their functions, outermost first. */
  private final Map<List<Integer>, Integer> locations = new LinkedHashMap<>();

  private PprofWriter() {}

  /** Returns how many stacks. */
  static long write(StackExport export, OutputStream out) throws IOException {
    GZIPOutputStream gzip = new GZIPOutputStream(out, 1 << 13);
    long stacks = new PprofWriter().profile(export, gzip);
    gzip.finish();
    return stacks;
  }

  private long profile(StackExport export, OutputStream out) throws IOException {
    Provenance provenance = export.provenance();
    FunctionTable functions = new FunctionTable();
    Protobuf profile = new Protobuf();
    Measure measure = export.measure();
    boolean time = measure.isTime();
    Protobuf period = tables.type(provenance.cpuClock() ? "cpu" : "wall", "nanoseconds");
    if (time) {
      profile.field(1, tables.type("samples", "count"));
      // The last is what pprof shows if it is not asked for another.
      profile.field(1, tables.type("time", PprofTables.parts("microseconds", export.decimals())));
    } else {
      String unit =
          switch (measure.kind()) {
            case DURATION -> "nanoseconds";
            case BYTES -> "bytes";
            case TIME, COUNT -> "count";
          };
      period = tables.type(measure.unit(), PprofTables.parts(unit, export.decimals()));
      profile.field(1, tables.type(measure.unit(), PprofTables.parts(unit, export.decimals())));
    }
    long stacks = 0;
    for (FoldedStack stack : export.stacks()) {
      stacks++;
      long[] path = path(stack, functions);
      for (FoldedStack.Share share : stack.shares()) {
        Protobuf sample = new Protobuf().packed(1, path);
        sample.packed(2, values(time, share.samples(), share.value()));
        tables.label(sample, "process", share.process());
        tables.label(sample, "pid", share.pid() > 0 ? Integer.toString(share.pid()) : "");
        tables.label(sample, "thread", share.thread());
        tables.label(sample, "tid", share.tid() > 0 ? Integer.toString(share.tid()) : "");
        tables.label(sample, "state", share.state() == null ? "" : share.state().label());
        profile.field(2, sample);
      }
      if (stack.shares().isEmpty()) {
        profile.field(2, new Protobuf().packed(1, path).packed(2, values(time, 0, stack.value())));
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
    profile.field(12, time ? provenance.periodNanos() : 1);
    List<String> lines = new ArrayList<>(provenance.lines());
    lines.add(StackExport.firstFrame(export.hasOwners()));
    tables.comments(profile, lines);
    tables.strings(profile);
    out.write(profile.take());
    return stacks;
  }

  /** The locations of a stack, innermost first. */
  private long[] path(FoldedStack stack, FunctionTable functions) {
    int frames = stack.names().length;
    long[] path = new long[frames];
    int size = 0;
    for (int i = 0; i < frames; ) {
      List<Integer> called = new ArrayList<>();
      called.add(functions.of(stack, i++));
      while (i < frames
          && stack.kinds()[i] == NodeKind.INLINED
          && stack.kinds()[i - 1].isFrame()
          && (stack.modules()[i].isEmpty() || stack.modules()[i].equals(stack.modules()[i - 1]))) {
        called.add(functions.of(stack, i++));
      }
      Integer known = locations.putIfAbsent(called, locations.size() + 1);
      path[frames - ++size] = known == null ? locations.size() : known;
    }
    return Arrays.copyOfRange(path, frames - size, frames);
  }

  private static long[] values(boolean time, long samples, long value) {
    return time ? new long[] {samples, value} : new long[] {value};
  }
}

package flametop.export;

import flametop.profile.answer.FoldedStack.Owner;
import flametop.profile.answer.NodeKind;
import flametop.profile.format.ProfileFacts;
import flametop.profile.format.SampleLog;
import flametop.profile.format.SampleLog.Frame;
import flametop.profile.format.StackSink;
import flametop.profile.format.Unit;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPOutputStream;

/**
 * Writes the samples of profiles as gzipped {@code profile.proto}: all types of values, labels,
 * places in sources, time and comments. A sample is a stack with its labels; owners are labels and,
 * as in {@link PprofWriter}, the outermost location.
 */
final class PprofSamples {
  /** A function as pprof knows it: without a line. */
  private record Function(NodeKind kind, String name, String file) {}

  private final SampleExport export;
  private final SampleLog log;
  private final OutputStream out;
  private final PprofTables tables = new PprofTables();
  private final Protobuf profile = new Protobuf();

  /** Numbers of locations by those of their frames, outermost first. */
  private final Map<List<Integer>, Integer> locations = new LinkedHashMap<>();

  private final Map<Function, Integer> functions = new LinkedHashMap<>();

  /** By frame that no other is inlined into: its location. */
  private final Map<Integer, Integer> alone = new HashMap<>();

  private int[] decimals = new int[0];
  private long samples;

  private PprofSamples(SampleExport export, OutputStream out) {
    this.export = export;
    this.out = out;
    log = export.log();
  }

  /** Returns how many samples. */
  static long write(SampleExport export, OutputStream out) throws IOException {
    GZIPOutputStream gzip = new GZIPOutputStream(out, 1 << 13);
    try {
      long samples = new PprofSamples(export, gzip).profile();
      gzip.finish();
      return samples;
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  private long profile() throws IOException {
    List<SampleLog.Type> types = log.types();
    decimals = export.decimals();
    for (int i = 0; i < types.size(); i++) {
      Unit unit = types.get(i).unit();
      boolean counted = unit.name().equals(Unit.of("count", types.get(i).name()).name());
      String name = SampleExport.unit(unit, counted ? "count" : unit.name());
      profile.field(1, tables.type(types.get(i).name(), PprofTables.parts(name, decimals[i])));
    }
    log.sums(this::sample);
    flush();
    // The first mapping is what pprof calls the file of the profile.
    int unused = tables.mapping(profile, export.provenance().host());
    for (Map.Entry<List<Integer>, Integer> entry : locations.entrySet()) {
      location(entry.getKey(), entry.getValue());
      flush();
    }
    for (Map.Entry<Function, Integer> entry : functions.entrySet()) {
      Function of = entry.getKey();
      int number = entry.getValue();
      tables.function(profile, number, of.kind, of.name, of.file);
      flush();
    }
    ProfileFacts facts = log.facts();
    profile.field(9, facts.beginNanos());
    profile.field(10, facts.lengthNanos());
    if (!facts.periodType().isEmpty()) {
      profile.field(11, tables.type(facts.periodType(), facts.periodUnit()));
    }
    profile.field(12, facts.period());
    List<String> lines = new ArrayList<>(export.provenance().lines());
    lines.add(StackExport.firstFrame(log.hasOwners()));
    facts.comments().stream()
        .filter(line -> !line.startsWith("program: flametop") && !line.startsWith("first frame: "))
        .filter(line -> !lines.contains(line))
        .forEach(lines::add);
    tables.comments(profile, lines);
    profile.field(14, tables.string(types.get(log.preferred()).name()));
    tables.strings(profile);
    flush();
    return samples;
  }

  private void flush() throws IOException {
    out.write(profile.take());
  }

  private void sample(List<StackSink.Label> labels, int[] frames, int depth, long[] values) {
    samples++;
    Protobuf sample = new Protobuf().packed(1, path(frames, depth));
    long[] whole = new long[decimals.length];
    for (int i = 0; i < whole.length; i++) {
      whole[i] = SampleExport.whole(log.types().get(i).unit(), values[i], decimals[i]);
    }
    sample.packed(2, whole);
    Owner owner = depth == 0 ? null : log.frame(frames[0]).owner();
    if (owner != null) {
      tables.label(sample, "process", owner.comm());
      tables.label(sample, "pid", owner.pid() > 0 ? Integer.toString(owner.pid()) : "");
      tables.label(sample, "thread", owner.thread());
      tables.label(sample, "tid", owner.tid() > 0 ? Integer.toString(owner.tid()) : "");
      tables.label(sample, "cgroup", owner.cgroup());
      tables.label(sample, "state", owner.state() == null ? "" : owner.state().label());
    }
    for (StackSink.Label label : labels) {
      if (label.text().isEmpty()) {
        tables.label(sample, label.key(), label.number(), label.unit());
      } else {
        tables.label(sample, label.key(), label.text());
      }
    }
    profile.field(2, sample);
    try {
      flush();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The locations of a stack, innermost first. */
  private long[] path(int[] frames, int depth) {
    List<Integer> path = new ArrayList<>(depth);
    for (int i = 0; i < depth; ) {
      int end = i + 1;
      while (end < depth && isWithin(log.frame(frames[end]), log.frame(frames[end - 1]))) {
        end++;
      }
      Integer one = end == i + 1 ? alone.get(frames[i]) : null;
      if (one == null) {
        List<Integer> called = new ArrayList<>(end - i);
        for (int at = i; at < end; at++) {
          called.add(frames[at]);
        }
        one = locations.computeIfAbsent(called, key -> locations.size() + 1);
        if (called.size() == 1) {
          alone.put(frames[i], one);
        }
      }
      path.add(one);
      i = end;
    }
    long[] innermostFirst = new long[path.size()];
    for (int i = 0; i < innermostFirst.length; i++) {
      innermostFirst[innermostFirst.length - 1 - i] = path.get(i);
    }
    return innermostFirst;
  }

  /** Whether a frame is inlined into the one that calls it, at one location. */
  private static boolean isWithin(Frame of, Frame caller) {
    return of.kind() == NodeKind.INLINED
        && caller.owner() == null
        && caller.kind().isFrame()
        && (of.module().isEmpty() || of.module().equals(caller.module()));
  }

  private void location(List<Integer> called, int number) {
    String module = log.frame(called.get(0)).module();
    Protobuf location = new Protobuf().field(1, number);
    if (!module.isEmpty()) {
      location.field(2, tables.mapping(profile, module));
    }
    // What is inlined stands before what it is inlined into.
    for (int i = called.size() - 1; i >= 0; i--) {
      Frame frame = log.frame(called.get(i));
      String file = frame.place().file().isEmpty() ? frame.module() : frame.place().file();
      Function function = new Function(frame.kind(), frame.name(), file);
      int known = functions.computeIfAbsent(function, key -> functions.size() + 1);
      Protobuf line = new Protobuf().field(1, known).field(2, frame.place().line());
      location.field(4, line.field(3, frame.place().column()));
    }
    profile.field(4, location);
  }
}

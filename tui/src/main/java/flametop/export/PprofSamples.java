package flametop.export;

import flametop.profile.answer.FoldedStack.Owner;
import flametop.profile.format.ProfileFacts;
import flametop.profile.format.SampleLog;
import flametop.profile.format.StackSink;
import flametop.profile.format.Unit;
import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.List;

/**
 * Writes the samples of profiles as {@code profile.proto}: all types of values, labels, places in
 * sources, time and comments. A sample is a stack with its labels; owners are labels and, as in
 * {@link PprofWriter}, the outermost location.
 */
final class PprofSamples {
  private final SampleExport export;
  private final SampleLog log;
  private final PprofFile file;
  private final int[] decimals;
  private long samples;

  private PprofSamples(SampleExport export, OutputStream out) throws IOException {
    this.export = export;
    log = export.log();
    file = new PprofFile(out, log::frame);
    decimals = export.decimals();
  }

  /** Returns how many samples. */
  static long write(SampleExport export, OutputStream out) throws IOException {
    return new PprofSamples(export, out).profile();
  }

  private long profile() throws IOException {
    List<SampleLog.Type> types = log.types();
    for (int i = 0; i < types.size(); i++) {
      Unit unit = types.get(i).unit();
      boolean counted = unit.name().equals(Unit.of("count", types.get(i).name()).name());
      String name = SampleExport.unit(unit, counted ? "count" : unit.name());
      file.type(types.get(i).name(), PprofFile.parts(name, decimals[i]));
    }
    log.sums(this::sample);
    List<String> lines = new ArrayList<>(export.provenance().lines());
    lines.add(StackExport.firstFrame(log.hasOwners()));
    ProfileFacts facts = log.facts();
    facts.comments().stream()
        .filter(line -> !line.startsWith("program: flametop") && !line.startsWith("first frame: "))
        .filter(line -> !lines.contains(line))
        .forEach(lines::add);
    file.end(
        export.provenance().host(), facts.withComments(lines), types.get(log.preferred()).name());
    return samples;
  }

  private void sample(List<StackSink.Label> labels, int[] frames, int depth, long[] values)
      throws IOException {
    samples++;
    long[] whole = new long[decimals.length];
    for (int i = 0; i < whole.length; i++) {
      whole[i] = SampleExport.whole(log.types().get(i).unit(), values[i], decimals[i]);
    }
    Protobuf sample = file.sample(file.path(frames, depth), whole);
    Owner owner = depth == 0 ? null : log.frame(frames[0]).owner();
    if (owner != null) {
      file.label(sample, "process", owner.comm());
      file.label(sample, "pid", PprofFile.number(owner.pid()));
      file.label(sample, "thread", owner.thread());
      file.label(sample, "tid", PprofFile.number(owner.tid()));
      file.label(sample, "cgroup", owner.cgroup());
      file.label(sample, "state", owner.state() == null ? "" : owner.state().label());
    }
    for (StackSink.Label label : labels) {
      if (label.text().isEmpty()) {
        file.label(sample, label.key(), label.number(), label.unit());
      } else {
        file.label(sample, label.key(), label.text());
      }
    }
    file.write(sample);
  }
}

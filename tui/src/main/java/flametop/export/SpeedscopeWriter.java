package flametop.export;

import flametop.profile.answer.FoldedStack;
import flametop.profile.answer.Measure;
import flametop.profile.answer.NodeKind;
import flametop.profile.format.FrameMark;
import flametop.profile.format.Numbering;
import flametop.profile.format.SampleLog.Frame;
import java.io.IOException;
import java.io.Writer;
import java.util.List;

/**
 * Writes speedscope's own format: one sampled profile, in which a sample is a stack and its weight
 * the value. The file has the frames before the samples, and the weights after the samples, so the
 * writer goes through the stacks three times. {@code name} has the provenance, {@code exporter} the
 * program, a frame's {@code file} its module.
 *
 * @see <a href="https://www.speedscope.app/file-format-schema.json">its schema</a>
 */
final class SpeedscopeWriter {
  private SpeedscopeWriter() {}

  /** Returns how many stacks. */
  static long write(StackExport export, Writer json) throws IOException {
    Numbering<Frame> frames = new Numbering<>();
    for (FoldedStack stack : export.stacks()) {
      int[] unused = StackExport.path(stack, 0, frames);
    }
    begin(json, export.provenance(), export.hasOwners(), frames.all());
    json.append("{\"type\":\"sampled\",\"name\":")
        .append(Json.quoted(export.provenance().title()))
        .append(",\"unit\":")
        .append(unit(export.measure()))
        .append(",\"startValue\":0,\"endValue\":")
        .append(export.text(export.total()))
        .append(",\"samples\":[");
    long stacks = 0;
    for (FoldedStack stack : export.stacks()) {
      json.append(stacks++ == 0 ? "\n" : ",\n");
      int[] path = StackExport.path(stack, 0, frames);
      sample(json, path, 0, path.length);
    }
    json.append("],\"weights\":[");
    String separator = "";
    for (FoldedStack stack : export.stacks()) {
      json.append(separator).append(export.text(stack.value()));
      separator = ",";
    }
    json.append("]}]}\n");
    return stacks;
  }

  /**
   * Writes a file up to its profiles.
   *
   * @param owners whether outermost frames are no functions
   */
  static void begin(Writer json, Provenance provenance, boolean owners, List<Frame> frames)
      throws IOException {
    json.append("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":")
        .append(Json.quoted(provenance.program()))
        .append(",\"firstFrame\":")
        .append(owners ? "\"comm\"" : "\"function\"")
        .append(",\"name\":")
        .append(Json.quoted(String.join("; ", provenance.lines())))
        .append(",\"activeProfileIndex\":0,\"shared\":{\"frames\":[");
    String separator = "\n";
    for (Frame frame : frames) {
      json.append(separator);
      frame(json, frame);
      separator = ",\n";
    }
    json.append("]},\"profiles\":[");
  }

  private static void frame(Writer json, Frame of) throws IOException {
    json.append("{\"name\":").append(Json.quoted(of.name()));
    String file = of.place().file();
    boolean placed = of.place().line() > 0 || !file.isEmpty() && !file.equals(of.module());
    if (!file.isEmpty() || !of.module().isEmpty() && !placed) {
      json.append(",\"file\":").append(Json.quoted(placed ? file : of.module()));
    }
    if (of.place().line() > 0) {
      json.append(",\"line\":").append(Integer.toString(of.place().line()));
    }
    if (of.place().column() > 0) {
      json.append(",\"col\":").append(Integer.toString(of.place().column()));
    }
    if (placed && !of.module().equals(file)) {
      json.append(",\"module\":").append(Json.quoted(of.module()));
    }
    // Unless the module says the kind, or the kind is the usual one.
    String mark = FrameMark.of(of.kind());
    if (!mark.isEmpty() && !(of.kind() == NodeKind.KERNEL && of.module().startsWith("[kernel"))) {
      json.append(",\"mark\":\"").append(mark).append('"');
    }
    json.append('}');
  }

  /** Writes some frames of a stack, outermost first. */
  static void sample(Writer json, int[] frames, int from, int to) throws IOException {
    json.append('[');
    for (int i = from; i < to; i++) {
      json.append(i == from ? "" : ",").append(Integer.toString(frames[i]));
    }
    json.append(']');
  }

  /** A unit that speedscope knows. */
  private static String unit(Measure measure) {
    return switch (measure.kind()) {
      case TIME -> "\"microseconds\"";
      case DURATION -> "\"nanoseconds\"";
      case BYTES -> "\"bytes\"";
      case COUNT -> "\"none\"";
    };
  }
}

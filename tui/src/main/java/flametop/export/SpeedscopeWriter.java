package flametop.export;

import flametop.profile.answer.FoldedStack;
import flametop.profile.answer.Measure;
import flametop.profile.answer.NodeKind;
import flametop.profile.format.FrameMark;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;

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
  static long write(StackExport export, OutputStream out) throws IOException {
    Writer json = new BufferedWriter(new OutputStreamWriter(out, StandardCharsets.US_ASCII));
    FunctionTable functions = new FunctionTable();
    for (FoldedStack stack : export.stacks()) {
      for (int frame = 0; frame < stack.names().length; frame++) {
        int unused = functions.of(stack, frame);
      }
    }
    begin(json, export.provenance(), export.hasOwners());
    for (int i = 0; i < functions.size(); i++) {
      json.append(i == 0 ? "\n{\"name\":" : ",\n{\"name\":");
      Json.string(json, functions.get(i).name());
      if (!functions.get(i).module().isEmpty()) {
        json.append(",\"file\":");
        Json.string(json, functions.get(i).module());
      }
      mark(json, functions.get(i).kind(), functions.get(i).module());
      json.append('}');
    }
    json.append("]},\"profiles\":[{\"type\":\"sampled\",\"name\":");
    Json.string(json, export.provenance().title());
    json.append(",\"unit\":")
        .append(unit(export.measure()))
        .append(",\"startValue\":0,\"endValue\":")
        .append(export.text(export.total()))
        .append(",\"samples\":[");
    long stacks = 0;
    for (FoldedStack stack : export.stacks()) {
      json.append(stacks++ == 0 ? "\n[" : ",\n[");
      for (int frame = 0; frame < stack.names().length; frame++) {
        json.append(frame == 0 ? "" : ",").append(Integer.toString(functions.of(stack, frame)));
      }
      json.append(']');
    }
    json.append("],\"weights\":[");
    String separator = "";
    for (FoldedStack stack : export.stacks()) {
      json.append(separator).append(export.text(stack.value()));
      separator = ",";
    }
    json.append("]}]}\n");
    json.flush();
    return stacks;
  }

  /**
   * Writes a file up to its frames.
   *
   * @param owners whether outermost frames are no functions
   */
  static void begin(Writer json, Provenance provenance, boolean owners) throws IOException {
    json.append(
        "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":");
    Json.string(json, provenance.program());
    json.append(",\"firstFrame\":").append(owners ? "\"comm\"" : "\"function\"");
    json.append(",\"name\":");
    Json.string(json, String.join("; ", provenance.lines()));
    json.append(",\"activeProfileIndex\":0,\"shared\":{\"frames\":[");
  }

  /** Writes the kind of a frame, unless the module says the kind, or the kind is the usual one. */
  static void mark(Writer json, NodeKind kind, String module) throws IOException {
    String mark = FrameMark.of(kind);
    if (!mark.isEmpty() && !(kind == NodeKind.KERNEL && module.startsWith("[kernel"))) {
      json.append(",\"mark\":\"").append(mark).append('"');
    }
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

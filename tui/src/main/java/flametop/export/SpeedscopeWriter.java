package flametop.export;

import flametop.profile.answer.FoldedStack;
import flametop.profile.answer.Measure;
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
    json.append(
        "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":");
    Json.string(json, export.provenance().program());
    json.append(",\"name\":");
    Json.string(json, String.join("; ", export.provenance().lines()));
    json.append(",\"activeProfileIndex\":0,\"shared\":{\"frames\":[");
    for (int i = 0; i < functions.size(); i++) {
      json.append(i == 0 ? "\n{\"name\":" : ",\n{\"name\":");
      Json.string(json, functions.get(i).name());
      if (!functions.get(i).module().isEmpty()) {
        json.append(",\"file\":");
        Json.string(json, functions.get(i).module());
      }
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

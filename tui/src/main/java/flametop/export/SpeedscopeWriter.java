package flametop.export;

import flametop.profile.FoldedStack;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;

/**
 * Writes speedscope's own format: one sampled profile, in which a sample is a stack and its weight
 * the value. {@code name} has the provenance, {@code exporter} the program, a frame's {@code file}
 * its module.
 *
 * @see <a href="https://www.speedscope.app/file-format-schema.json">its schema</a>
 */
final class SpeedscopeWriter {
  private SpeedscopeWriter() {}

  static void write(StackExport export, OutputStream out) throws IOException {
    Writer json = new BufferedWriter(new OutputStreamWriter(out, StandardCharsets.US_ASCII));
    Functions functions = new Functions();
    int[][] samples = new int[export.stacks().size()][];
    for (int i = 0; i < samples.length; i++) {
      FoldedStack stack = export.stacks().get(i);
      samples[i] = new int[stack.names().length];
      for (int frame = 0; frame < samples[i].length; frame++) {
        samples[i][frame] = functions.of(stack, frame);
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
        .append(export.unit() == Unit.US ? "\"microseconds\"" : "\"none\"")
        .append(",\"startValue\":0,\"endValue\":")
        .append(Long.toString(export.total()))
        .append(",\"samples\":[");
    for (int i = 0; i < samples.length; i++) {
      json.append(i == 0 ? "\n[" : ",\n[");
      for (int frame = 0; frame < samples[i].length; frame++) {
        json.append(frame == 0 ? "" : ",").append(Integer.toString(samples[i][frame]));
      }
      json.append(']');
    }
    json.append("],\"weights\":[");
    for (int i = 0; i < samples.length; i++) {
      json.append(i == 0 ? "" : ",").append(Long.toString(export.stacks().get(i).value()));
    }
    json.append("]}]}\n");
    json.flush();
  }
}

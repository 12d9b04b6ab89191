package flametop.export;

import flametop.profile.answer.FoldedStack;
import flametop.sampler.State;
import java.io.IOException;
import java.io.Writer;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Writes the summary of {@link TextWriter} as one object of JSON, for programs:
 *
 * <pre>
 *   schema     "flametop-summary-1"
 *   title      one line
 *   facts      {key: text, …}: program, host, states, window, losses …
 *   unit       "us", "samples", "bytes" …
 *   total      sum of all stacks
 *   stacks     how many there are
 *   states     [{state, value, share}, …], heaviest first; state is null where it is not known
 *   heaviest   [{state, value, share, samples, frames: [{name, kind, module}, …]}, …], heaviest
 *              first, frames outermost first; a share is of the total, 0 to 1
 * </pre>
 */
final class JsonWriter {
  private static final int MOST = 50;

  private JsonWriter() {}

  /** Returns how many stacks the export has. */
  static long write(StackExport export, Writer json) throws IOException {
    Heaviest heaviest = Heaviest.of(export, MOST);
    json.append("{\"schema\":\"flametop-summary-1\",\"title\":");
    json.append(Json.quoted(export.provenance().title())).append(",\n\"facts\":{");
    String separator = "";
    for (Provenance.Fact fact : export.provenance().facts()) {
      json.append(separator).append(Json.quoted(fact.key()));
      json.append(':').append(Json.quoted(fact.value()));
      separator = ",";
    }
    json.append("},\n\"unit\":").append(Json.quoted(export.measure().unit()));
    json.append(",\"total\":").append(export.text(export.total()));
    json.append(",\"stacks\":").append(Long.toString(heaviest.stacks()));
    json.append(",\n\"states\":[");
    separator = "{";
    for (Heaviest.OfState of : heaviest.states()) {
      json.append(separator).append(amount(export, of.state(), of.value())).append('}');
      separator = ",{";
    }
    json.append("],\n\"heaviest\":[");
    separator = "\n{";
    for (Heaviest.Entry entry : heaviest.entries()) {
      json.append(separator).append(amount(export, entry.state(), entry.value()));
      json.append(",\"samples\":").append(Long.toString(entry.samples()));
      json.append(",\"frames\":[");
      frames(json, entry.stack());
      json.append("]}");
      separator = ",\n{";
    }
    json.append("]}\n");
    return heaviest.stacks();
  }

  private static String amount(StackExport export, @Nullable State state, long value) {
    return String.format(
        Locale.ROOT,
        "\"state\":%s,\"value\":%s,\"share\":%.6f",
        state == null ? "null" : Json.quoted(state.label()),
        export.text(value),
        export.total() == 0 ? 0.0 : (double) value / export.total());
  }

  private static void frames(Writer json, FoldedStack stack) throws IOException {
    for (int i = 0; i < stack.names().length; i++) {
      json.append(i == 0 ? "{\"name\":" : ",{\"name\":").append(Json.quoted(stack.names()[i]));
      json.append(",\"kind\":\"").append(stack.kinds()[i].name().toLowerCase(Locale.ROOT));
      json.append("\",\"module\":").append(Json.quoted(stack.modules()[i])).append('}');
    }
  }
}

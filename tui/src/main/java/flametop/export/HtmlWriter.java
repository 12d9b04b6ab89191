package flametop.export;

import flametop.profile.answer.FoldedStack;
import flametop.profile.format.Numbering;
import flametop.profile.format.SampleLog.Frame;
import flametop.sampler.State;
import java.io.IOException;
import java.io.InputStream;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Writes one file of HTML with an interactive flame graph in it. The file needs nothing else, and
 * its policy lets it neither load anything nor run any script but its own, by hash. The graph is
 * data, escaped JSON:
 *
 * <pre>
 *   title, total, unit   "us", "samples", "bytes" …
 *   facts                [[key, value], …]
 *   states, modules      names
 *   functions            [[name, kind, module's index or -1], …]
 *   nodes                in pre-order without the root, siblings by name: depth, from 1 on;
 *                        function; number of shares; for each its state's index, -1 if that is not
 *                        known, and value
 * </pre>
 */
final class HtmlWriter {
  private HtmlWriter() {}

  /** Returns how many stacks. */
  static long write(StackExport export, Writer html) throws IOException {
    String style = resource("flamegraph.css");
    String script = resource("flamegraph.js");
    html.append("<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n")
        .append("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; ")
        .append("style-src '")
        .append(hash(style))
        .append("'; script-src '")
        .append(hash(script))
        .append("'\">\n<meta name=\"viewport\" content=\"width=device-width\">\n")
        .append("<title>flametop</title>\n<style>")
        .append(style)
        .append("</style>\n")
        .append(resource("flamegraph.html"))
        .append("<script type=\"application/json\" id=\"profile\">\n");
    long stacks = profile(html, export);
    html.append("</script>\n<script>").append(script).append("</script>\n</html>\n");
    return stacks;
  }

  private static long profile(Writer json, StackExport export) throws IOException {
    Provenance provenance = export.provenance();
    json.append("{\"title\":").append(Json.quoted(provenance.title()));
    json.append(",\"total\":").append(export.text(export.total()));
    json.append(",\"unit\":").append(Json.quoted(export.measure().unit()));
    json.append(",\n\"facts\":").append(list(provenance.facts(), HtmlWriter::fact));
    json.append(",\n\"states\":")
        .append(list(List.of(State.values()), state -> Json.quoted(state.label())));
    json.append(",\n\"nodes\":[");
    Numbering<Frame> functions = new Numbering<>();
    long stacks = nodes(json, export, functions);
    json.append("],\n\"functions\":[");
    Numbering<String> modules = new Numbering<>();
    String separator = "\n[";
    for (Frame function : functions.all()) {
      int module = function.module().isEmpty() ? -1 : modules.of(function.module());
      json.append(separator).append(Json.quoted(function.name()));
      json.append(",\"").append(function.kind().name().toLowerCase(Locale.ROOT));
      json.append("\",").append(Integer.toString(module)).append(']');
      separator = ",\n[";
    }
    json.append("],\n\"modules\":").append(list(modules.all(), Json::quoted)).append("}\n");
    return stacks;
  }

  private static String fact(Provenance.Fact fact) {
    return "[" + Json.quoted(fact.key()) + "," + Json.quoted(fact.value()) + "]";
  }

  private static <T> String list(List<T> of, Function<T, String> text) {
    return of.stream().map(text).collect(Collectors.joining(",", "[", "]"));
  }

  private static long nodes(Writer json, StackExport export, Numbering<Frame> functions)
      throws IOException {
    int[] before = new int[0];
    String separator = "\n";
    long written = 0;
    for (FoldedStack stack : export.stacks()) {
      written++;
      int[] path = StackExport.path(stack, 0, functions);
      int differs = Arrays.mismatch(path, before);
      for (int i = differs < 0 ? path.length : differs; i < path.length; i++) {
        json.append(separator).append(Integer.toString(i + 1));
        json.append(',').append(Integer.toString(path[i]));
        if (i < path.length - 1) {
          json.append(",0");
        }
        separator = ",";
      }
      Map<@Nullable State, FoldedStack.Share> parts = StackExport.byState(stack);
      json.append(',').append(Integer.toString(parts.size()));
      for (FoldedStack.Share part : parts.values()) {
        State state = part.state();
        json.append(',').append(Integer.toString(state == null ? -1 : state.ordinal()));
        json.append(',').append(export.text(part.value()));
      }
      before = path;
    }
    return written;
  }

  private static String resource(String name) throws IOException {
    try (InputStream in = HtmlWriter.class.getResourceAsStream(name)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  private static String hash(String text) throws IOException {
    try {
      byte[] digest =
          MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
      return "sha256-" + Base64.getEncoder().encodeToString(digest);
    } catch (NoSuchAlgorithmException e) {
      throw new IOException("this JDK has no SHA-256, which every JDK should have", e);
    }
  }
}

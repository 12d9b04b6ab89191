package flametop.export;

import flametop.profile.answer.FoldedStack;
import flametop.profile.answer.NodeKind;
import flametop.sampler.State;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

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
  static long write(StackExport export, OutputStream out) throws IOException {
    String style = resource("flamegraph.css");
    String script = resource("flamegraph.js");
    Writer html = new BufferedWriter(new OutputStreamWriter(out, StandardCharsets.UTF_8));
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
    html.flush();
    return stacks;
  }

  private static long profile(Writer json, StackExport export) throws IOException {
    json.append("{\"title\":");
    Json.string(json, export.provenance().title());
    json.append(",\"total\":").append(export.text(export.total()));
    json.append(",\"unit\":");
    Json.string(json, export.measure().unit());
    json.append(",\n\"facts\":[");
    String separator = "";
    for (Provenance.Fact fact : export.provenance().facts()) {
      json.append(separator).append('[');
      Json.string(json, fact.key());
      json.append(',');
      Json.string(json, fact.value());
      json.append(']');
      separator = ",";
    }
    json.append("],\n\"states\":[");
    for (State state : State.values()) {
      json.append(state.ordinal() == 0 ? "" : ",");
      Json.string(json, state.label());
    }
    json.append("],\n\"nodes\":[");
    FunctionTable functions = new FunctionTable();
    long stacks = nodes(json, export, functions);
    json.append("],\n\"functions\":[");
    Map<String, Integer> modules = new LinkedHashMap<>();
    for (int i = 0; i < functions.size(); i++) {
      FunctionTable.Function function = functions.get(i);
      int module = -1;
      if (!function.module().isEmpty()) {
        Integer known = modules.putIfAbsent(function.module(), modules.size());
        module = known == null ? modules.size() - 1 : known;
      }
      json.append(i == 0 ? "\n[" : ",\n[");
      Json.string(json, function.name());
      json.append(",\"").append(kind(function.kind())).append("\",");
      json.append(Integer.toString(module)).append(']');
    }
    json.append("],\n\"modules\":[");
    separator = "";
    for (String module : modules.keySet()) {
      json.append(separator);
      Json.string(json, module);
      separator = ",";
    }
    json.append("]}\n");
    return stacks;
  }

  private static long nodes(Writer json, StackExport export, FunctionTable functions)
      throws IOException {
    int[] before = new int[0];
    long[] states = new long[State.values().length];
    String separator = "\n";
    long written = 0;
    for (FoldedStack stack : export.stacks()) {
      written++;
      int[] path = new int[stack.names().length];
      int common = 0;
      for (int i = 0; i < path.length; i++) {
        path[i] = functions.of(stack, i);
        common += common == i && i < before.length && path[i] == before[i] ? 1 : 0;
      }
      for (int i = common; i < path.length; i++) {
        json.append(separator).append(Integer.toString(i + 1));
        json.append(',').append(Integer.toString(path[i]));
        if (i < path.length - 1) {
          json.append(",0");
        }
        separator = ",";
      }
      shares(json, export, stack, states);
      before = path;
    }
    return written;
  }

  private static void shares(Writer json, StackExport export, FoldedStack stack, long[] states)
      throws IOException {
    Arrays.fill(states, 0);
    long unknown = stack.shares().isEmpty() ? stack.value() : 0;
    int count = unknown > 0 ? 1 : 0;
    for (FoldedStack.Share share : stack.shares()) {
      State state = share.state();
      if (state == null) {
        count += unknown == 0 ? 1 : 0;
        unknown += share.value();
      } else {
        count += states[state.ordinal()] == 0 ? 1 : 0;
        states[state.ordinal()] += share.value();
      }
    }
    json.append(',').append(Integer.toString(count));
    if (unknown > 0) {
      json.append(",-1,").append(export.text(unknown));
    }
    for (int state = 0; state < states.length; state++) {
      if (states[state] > 0) {
        json.append(',').append(Integer.toString(state));
        json.append(',').append(export.text(states[state]));
      }
    }
  }

  private static String kind(NodeKind kind) {
    return kind.name().toLowerCase(Locale.ROOT);
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

package flametop.export;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import flametop.profile.answer.FoldedStack;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Speedscope's JSON, and that within HTML, as a parser reads them that is not ours. */
class JsonFormatsTest {
  /** Halves of surrogate pairs are no text; everything else has to come back as it was. */
  private static String whole(String text) {
    return new String(text.getBytes(StandardCharsets.UTF_16BE), StandardCharsets.UTF_16BE);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void speedscope_hostileNames_comeBack(long seed) throws IOException {
    StackExport export = Exports.hostile(seed);
    String text =
        new String(Exports.bytes(StackFormat.SPEEDSCOPE, export), StandardCharsets.US_ASCII);
    JsonObject file = JsonParser.parseString(text).getAsJsonObject();
    assertEquals("flametop 0.0.0", file.get("exporter").getAsString());
    assertTrue(file.get("name").getAsString().contains("kernel: Linux 6.18.1 x86_64"));
    JsonArray frames = file.getAsJsonObject("shared").getAsJsonArray("frames");
    JsonObject profile = file.getAsJsonArray("profiles").get(0).getAsJsonObject();
    assertEquals("microseconds", profile.get("unit").getAsString());
    assertEquals(export.total(), profile.get("endValue").getAsLong());
    JsonArray samples = profile.getAsJsonArray("samples");
    JsonArray weights = profile.getAsJsonArray("weights");
    assertEquals(Exports.stacks(export).size(), samples.size());
    long total = 0;
    for (int i = 0; i < samples.size(); i++) {
      FoldedStack stack = Exports.stacks(export).get(i);
      JsonArray sample = samples.get(i).getAsJsonArray();
      assertEquals(stack.names().length, sample.size());
      for (int f = 0; f < sample.size(); f++) {
        JsonObject frame = frames.get(sample.get(f).getAsInt()).getAsJsonObject();
        assertEquals(whole(stack.names()[f]), frame.get("name").getAsString());
        String file_ = frame.has("file") ? frame.get("file").getAsString() : "";
        assertEquals(whole(stack.modules()[f]), file_);
      }
      assertEquals(stack.value(), weights.get(i).getAsLong());
      total += weights.get(i).getAsLong();
    }
    assertEquals(export.total(), total);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void html_hostileNames_areDataAndComeBack(long seed) throws IOException {
    StackExport export = Exports.hostile(seed);
    String html = new String(Exports.bytes(StackFormat.HTML, export), StandardCharsets.UTF_8);
    String open = "<script type=\"application/json\" id=\"profile\">";
    int begin = html.indexOf(open) + open.length();
    String data = html.substring(begin, html.indexOf("</script>", begin));
    assertTrue(data.chars().allMatch(c -> c == '\n' || c >= ' ' && c < 0x7f), "ASCII");
    assertFalse(data.contains("<") || data.contains(">") || data.contains("&"), "no markup");
    // But for the data it is the same for everybody.
    assertEquals(2, html.split("<script", -1).length - 1);
    assertEquals(2, html.split("</script", -1).length - 1);
    assertFalse(html.contains("<!--"));
    assertFalse(html.replace(data, "").matches("(?s).*(https?:|//[a-z]|\\bsrc=|\\bhref=).*"));

    JsonObject profile = JsonParser.parseString(data).getAsJsonObject();
    assertEquals(export.total(), profile.get("total").getAsLong());
    assertEquals(export.provenance().facts().size(), profile.getAsJsonArray("facts").size());
    JsonArray functions = profile.getAsJsonArray("functions");
    JsonArray nodes = profile.getAsJsonArray("nodes");
    String[] path = new String[16];
    long total = 0;
    int stacks = 0;
    for (int i = 0; i < nodes.size(); ) {
      int depth = nodes.get(i).getAsInt();
      int shares = nodes.get(i + 2).getAsInt();
      path[depth - 1] =
          functions.get(nodes.get(i + 1).getAsInt()).getAsJsonArray().get(0).getAsString();
      i += 3;
      long self = 0;
      for (int s = 0; s < shares; s++, i += 2) {
        self += nodes.get(i + 1).getAsLong();
      }
      if (self > 0) {
        FoldedStack stack = Exports.stacks(export).get(stacks++);
        assertEquals(stack.value(), self);
        assertEquals(stack.names().length, depth);
        for (int f = 0; f < depth; f++) {
          assertEquals(whole(stack.names()[f]), path[f]);
        }
      }
      total += self;
    }
    assertEquals(Exports.stacks(export).size(), stacks);
    assertEquals(export.total(), total);
  }
}

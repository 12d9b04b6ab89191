package flametop.export;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import flametop.profile.answer.FoldedStack;
import flametop.profile.answer.Measure;
import flametop.sampler.State;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The summary of the heaviest stacks, as text and as JSON. */
class SummaryTest {
  private static FoldedStack stack(String leaf, FoldedStack.Share... shares) {
    return Exports.shared(Exports.stack(0, "app", "main", leaf + "_[k]"), shares);
  }

  private static FoldedStack.Share share(State state, long micros, long samples) {
    return new FoldedStack.Share(7, "app", 0, "", state, micros * 1_000, samples);
  }

  private static StackExport export() {
    return Exports.of(
        Measure.TIME,
        stack("poll", share(State.SLEEP, 600_000, 12)),
        stack("read", share(State.RUN, 300_000, 30), share(State.DISK, 100_000, 2)));
  }

  private static String written(StackFormat format, StackExport export) throws Exception {
    return new String(Exports.bytes(format, export), UTF_8);
  }

  @Test
  void text_hasTheHeaviestByStateTheirSharesAndWhatIsLost() throws Exception {
    String text = written(StackFormat.TEXT, export());
    assertTrue(text.contains("asleep 60.0 % · run 30.0 % · disk 10.0 %"), text);
    assertTrue(text.contains("\nlosses: "), text);
    int asleep = text.indexOf("heaviest stacks, asleep");
    int run = text.indexOf("heaviest stacks, run");
    int disk = text.indexOf("heaviest stacks, disk");
    assertTrue(0 < asleep && asleep < run && run < disk, text);
    assertTrue(
        text.contains(" 60.0 %  600.0 ms, seen 12 times\n         app > main > poll\n"), text);
  }

  @Test
  void text_ofManyAndDeepStacks_isOneScreen() throws Exception {
    List<FoldedStack> stacks = new ArrayList<>();
    for (int i = 0; i < 500; i++) {
      String begin = "function_" + i + "_";
      stacks.add(
          Exports.stack(
              1_000_000L * (i + 1),
              "app",
              IntStream.range(1, 40).mapToObj(j -> begin + 2 * j).toArray(String[]::new)));
    }
    String text =
        written(StackFormat.TEXT, Exports.of(Measure.TIME, stacks.toArray(FoldedStack[]::new)));
    assertTrue(text.lines().count() <= 24, text);
    assertTrue(text.lines().skip(4).allMatch(line -> line.length() <= 100), text);
    assertTrue(text.contains("app > … > "), text);
    assertTrue(text.contains("function_499_78"), text);
    assertFalse(text.contains("function_1_"), text);
  }

  @Test
  void text_ofLongNames_cutsThem() throws Exception {
    String text =
        written(
            StackFormat.TEXT,
            Exports.of(Measure.TIME, Exports.stack(5_000_000, "o".repeat(300), "f".repeat(900))));
    assertTrue(text.lines().skip(4).allMatch(line -> line.length() <= 100), text);
    assertTrue(text.contains("f…"), text);
  }

  @Test
  void text_ofAHeavyAndALightState_hasStacksOfBoth() throws Exception {
    List<FoldedStack> stacks = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      stacks.add(stack("queue" + i, share(State.QUEUED, 100_000, 1)));
    }
    stacks.add(stack("work", share(State.RUN, 60_000, 1)));
    String text =
        written(StackFormat.TEXT, Exports.of(Measure.TIME, stacks.toArray(FoldedStack[]::new)));
    assertTrue(text.contains("heaviest stacks, run"), text);
    assertTrue(text.lines().count() <= 24, text);
  }

  @Test
  void json_hasWhatTheTextHas() throws Exception {
    JsonObject json = JsonParser.parseString(written(StackFormat.JSON, export())).getAsJsonObject();
    assertEquals("flametop-summary-1", json.get("schema").getAsString());
    assertEquals("us", json.get("unit").getAsString());
    assertEquals(1_000_000, json.get("total").getAsLong());
    assertEquals(2, json.get("stacks").getAsLong());
    assertTrue(json.getAsJsonObject("facts").has("losses"));
    JsonArray heaviest = json.getAsJsonArray("heaviest");
    assertEquals(3, heaviest.size());
    JsonObject first = heaviest.get(0).getAsJsonObject();
    assertEquals("asleep", first.get("state").getAsString());
    assertEquals(0.6, first.get("share").getAsDouble());
    assertEquals(12, first.get("samples").getAsLong());
    JsonObject leaf = first.getAsJsonArray("frames").get(2).getAsJsonObject();
    assertEquals("poll", leaf.get("name").getAsString());
    assertEquals("kernel", leaf.get("kind").getAsString());
    assertEquals("libKERNEL", leaf.get("module").getAsString());
  }

  @Test
  void json_ofHostileNames_isJson() throws Exception {
    for (String name : Exports.HOSTILE) {
      StackExport export = Exports.of(Measure.TIME, Exports.stack(5_000, "app", name));
      JsonObject json = JsonParser.parseString(written(StackFormat.JSON, export)).getAsJsonObject();
      assertEquals(1, json.getAsJsonArray("heaviest").size());
      assertFalse(written(StackFormat.TEXT, export).isEmpty());
    }
  }
}

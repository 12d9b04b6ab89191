package flametop.profile.format;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import flametop.array.IntColumn;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Arrays of numbers that are read beside the parser, and by the parser alone. */
class JsonInputTest {
  private static final JsonFactory FACTORY = new JsonFactory();

  /** Who reads the outer arrays. */
  private enum Who {
    PARSER,
    NUMBERS,
    LISTS
  }

  /**
   * What a text has.
   *
   * @param damaged the byte where it is damaged; -1 if it is whole
   */
  private record Seen(List<String> tokens, long damaged) {}

  /** Gives a few bytes at a time, as a pipe does. */
  private static InputStream pipe(byte[] text, int most) {
    return new ByteArrayInputStream(text) {
      @Override
      public synchronized int read(byte[] into, int from, int room) {
        return super.read(into, from, Math.min(room, most));
      }
    };
  }

  private static Seen read(byte[] text, int most, Who who) throws IOException {
    List<String> tokens = new ArrayList<>();
    JsonInput input = new JsonInput(pipe(text, most));
    try (JsonParser json = FACTORY.createParser(input)) {
      int depth = 0;
      for (JsonToken token; (token = json.nextToken()) != null; ) {
        boolean small = token == JsonToken.VALUE_NUMBER_INT && json.getTextLength() <= 9;
        tokens.add(small ? "" + json.getIntValue() : json.getText());
        depth += token == JsonToken.START_ARRAY ? 1 : token == JsonToken.END_ARRAY ? -1 : 0;
        if (token == JsonToken.START_ARRAY && depth == 1) {
          take(input, json, who, tokens);
        }
      }
      return new Seen(tokens, -1);
    } catch (JacksonException e) {
      return new Seen(tokens, input.place(e.getLocation().getByteOffset()));
    }
  }

  private static void take(JsonInput input, JsonParser json, Who who, List<String> tokens)
      throws IOException {
    IntColumn list = new IntColumn();
    switch (who) {
      case PARSER -> {}
      case NUMBERS -> input.numbers(json, number -> tokens.add("" + number));
      case LISTS ->
          input.lists(
              json,
              list,
              () -> {
                tokens.add("[");
                for (int number : list.toArray()) {
                  tokens.add("" + number);
                }
                tokens.add("]");
              });
    }
  }

  private static void same(String text, Charset in, int most) throws IOException {
    byte[] bytes = text.getBytes(in);
    Seen expected = read(bytes, most, Who.PARSER);
    String shown = text.substring(0, Math.min(300, text.length()));
    for (Who who : List.of(Who.NUMBERS, Who.LISTS)) {
      Seen seen = read(bytes, most, who);
      assertEquals(expected.tokens, seen.tokens, shown);
      assertEquals(expected.damaged < 0, seen.damaged < 0, shown);
    }
  }

  @Test
  void numbersAndLists_ofAnyShape_areThoseOfTheParser() throws IOException {
    for (String array :
        List.of(
            "[]",
            "[ ]",
            "[7]",
            "[-7, 0 ,\n12]",
            "[999999999,1000000000,-999999999]",
            "[-0]",
            "[1,2.5,3]",
            "[1,1e3]",
            "[1,\"x\",2]",
            "[1,null,[2]]",
            "[[]]",
            "[[1],[ 2 , 3 ],[]]",
            "[[1],2,[3]]",
            "[[1,[2]],[3]]",
            "[[1,2.5],[3]]",
            "[1,{\"a\":[2]},3]",
            "[01]",
            "[-]",
            "[1,]",
            "[[1,],[2]]",
            "[,1]",
            "[1 2]",
            "[1",
            "[[1,2",
            "[1,",
            "[[1],",
            "[",
            "[1}")) {
      for (String text : List.of(array, "{\"a\":" + array + ",\"b\":[3,[4]],\"c\":5}")) {
        for (int most : new int[] {1, 3, 8_000}) {
          same(text, StandardCharsets.UTF_8, most);
        }
        same(text, StandardCharsets.UTF_16BE, 8_000);
      }
    }
  }

  @Test
  void numbersAndLists_longerThanABuffer_areThoseOfTheParser() throws IOException {
    Random random = new Random(5);
    for (int round = 0; round < 60; round++) {
      StringBuilder text = new StringBuilder("{\"a\":[0");
      boolean lists = round % 2 == 0;
      text.setLength(text.length() - (lists ? 1 : 0));
      int count = random.nextInt(30_000);
      String separator = lists ? "" : ",";
      for (int i = 0; i < count; i++) {
        int number = random.nextInt() >> random.nextInt(32);
        text.append(separator).append(lists ? "[" + number + ",1]" : number);
        separator = random.nextInt(9) == 0 ? " ,\r\n\t" : ",";
        if (random.nextInt(40_000) == 0) {
          text.append(random.nextBoolean() ? ",1.5" : "x");
        }
      }
      text.append("],\"b\":[1,2,[3]]}");
      same(text.toString(), StandardCharsets.UTF_8, 1 + random.nextInt(1 << random.nextInt(18)));
    }
  }

  @Test
  void lists_longerThanIsHeld_areThoseOfTheParser() throws IOException {
    String list = "[" + "123456,".repeat(60_000) + "1]";
    same("[[1],[2]," + list + ",[3]]", StandardCharsets.UTF_8, 8_000);
    same("[[1]," + " ".repeat(300_000) + "[2],[3]]", StandardCharsets.UTF_8, 8_000);
  }

  @Test
  void numbersAndLists_endAfterACommaAndLongSpace_areDamaged() throws IOException {
    for (int spaces : new int[] {1 << 16, (1 << 17) - 3, 1 << 17, 300_000}) {
      for (String element : List.of("1", "[1]")) {
        for (String end : List.of("]", "", "2]", "[2]]")) {
          String text = "[" + element + "," + " ".repeat(spaces) + end;
          same(text, StandardCharsets.UTF_8, 8_000);
          same(text, StandardCharsets.UTF_8, 1 << 20);
        }
      }
    }
  }

  @Test
  void place_ofDamageBehindArrays_isThatOfTheByte() throws IOException {
    String text = "{\"a\":[" + "12345,".repeat(50_000) + "1],\"b\":[[1,2],[3]],\"c\":%}";
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    long expected = read(bytes, 8_000, Who.PARSER).damaged;
    assertTrue(Math.abs(expected - text.indexOf('%')) <= 1, () -> "" + expected);
    for (int most : new int[] {1_000, 8_000, 1 << 20}) {
      for (Who who : Who.values()) {
        assertEquals(expected, read(bytes, most, who).damaged, who::toString);
      }
    }
  }
}

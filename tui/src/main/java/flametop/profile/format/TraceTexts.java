package flametop.profile.format;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import flametop.array.BytesIndex;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/**
 * The texts of a trace, each once: names, numbers of processes and threads, ids. A text has a
 * number, from 0 on.
 */
final class TraceTexts {
  private static final int MOST_TEXTS = 1 << 24;
  private static final int MOST_BYTES =
      (int) Math.min(256 << 20, Runtime.getRuntime().maxMemory() / 10);

  private final BytesIndex texts = new BytesIndex(MOST_BYTES, MOST_TEXTS);
  private byte[] scratch = new byte[256];

  /** The number of a value's text; below 0 if there is no room for it. */
  int number(JsonParser json) throws IOException {
    JsonToken value = json.currentToken();
    if (value != JsonToken.VALUE_STRING && value != JsonToken.VALUE_NUMBER_INT) {
      return number(JsonReader.text(json));
    }
    char[] chars = json.getTextCharacters();
    int from = json.getTextOffset();
    int length = json.getTextLength();
    if (length > scratch.length) {
      scratch = new byte[2 * length];
    }
    for (int i = 0; i < length; i++) {
      char next = chars[from + i];
      if (next >= 128) {
        return number(json.getText());
      }
      scratch[i] = (byte) next;
    }
    return texts.row(scratch, 0, length);
  }

  int number(String of) {
    byte[] bytes = of.getBytes(StandardCharsets.UTF_8);
    return texts.row(bytes, 0, bytes.length);
  }

  String get(int number) {
    int from = texts.start(number);
    return new String(texts.bytes(), from, texts.end(number) - from, StandardCharsets.UTF_8);
  }

  int size() {
    return texts.size();
  }
}

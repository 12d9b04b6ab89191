package flametop.profile.format;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import flametop.array.LongColumn;
import java.io.IOException;
import java.util.BitSet;

/** A column of numbers of JSON, as exact as they stand there: whole, or with a fraction. */
final class JsonNumbers {
  private final LongColumn numbers = new LongColumn();

  /** By row: whether the number is a double. */
  private final BitSet broken = new BitSet();

  int size() {
    return numbers.size;
  }

  void clear() {
    numbers.clear();
    broken.clear();
  }

  /** Adds the value that a parser stands at; what is no number is 0. */
  void add(JsonParser json) throws IOException {
    JsonToken token = json.currentToken();
    if (token == JsonToken.VALUE_NUMBER_INT
        && json.getNumberType() != JsonParser.NumberType.BIG_INTEGER) {
      numbers.add(json.getLongValue());
    } else if (token == JsonToken.VALUE_NUMBER_INT || token == JsonToken.VALUE_NUMBER_FLOAT) {
      broken.set(numbers.size);
      numbers.add(Double.doubleToRawLongBits(json.getDoubleValue()));
    } else {
      numbers.add(0);
      json.skipChildren();
    }
  }

  /** Adds each value of the array that a parser stands at. */
  void addAll(JsonParser json) throws IOException {
    if (json.currentToken() != JsonToken.START_ARRAY) {
      json.skipChildren();
      return;
    }
    while (json.nextToken() != JsonToken.END_ARRAY) {
      add(json);
    }
  }

  /** The number of a row in a unit; {@link Unit#TOO_LARGE} if the number is too large. */
  long get(int row, Unit unit) {
    long number = numbers.items[row];
    return broken.get(row) ? unit.of(Double.longBitsToDouble(number)) : unit.of(number);
  }
}

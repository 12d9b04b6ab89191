package flametop.profile.format;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import flametop.array.IntColumn;
import flametop.array.LongColumn;
import java.io.IOException;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/** A column of numbers of JSON, as exact as they stand there: whole, or with a fraction. */
final class JsonNumbers {
  /** A longer text is no number. */
  private static final int MOST_QUOTED = 40;

  /** By row: the number, or the place of one that is {@link #wide}. */
  private final IntColumn numbers = new IntColumn();

  private final LongColumn wideNumbers = new LongColumn();

  /** By row: whether the number is no int. */
  private final BitSet wide = new BitSet();

  /** By row: whether the number is a double. */
  private final BitSet broken = new BitSet();

  int size() {
    return numbers.size;
  }

  void clear() {
    numbers.clear();
    if (wideNumbers.size > 0) {
      wideNumbers.clear();
      wide.clear();
      broken.clear();
    }
  }

  /** Adds the value that a parser stands at, also a number in quotes; what is no number is 0. */
  void add(JsonParser json) throws IOException {
    JsonToken token = json.currentToken();
    if (token == JsonToken.VALUE_NUMBER_INT && json.getTextLength() <= JsonReader.DIGITS_OF_INT) {
      numbers.add(json.getIntValue());
    } else if (token == JsonToken.VALUE_NUMBER_INT
        && json.getNumberType() != JsonParser.NumberType.BIG_INTEGER) {
      addWide(json.getLongValue());
    } else if (token == JsonToken.VALUE_NUMBER_INT || token == JsonToken.VALUE_NUMBER_FLOAT) {
      broken.set(numbers.size);
      addWide(Double.doubleToRawLongBits(json.getDoubleValue()));
    } else if (token == JsonToken.VALUE_STRING && json.getTextLength() <= MOST_QUOTED) {
      add(json.getText());
    } else {
      numbers.add(0);
      json.skipChildren();
    }
  }

  private void add(String text) {
    try {
      addWide(Long.parseLong(text));
    } catch (NumberFormatException e) {
      broken.set(numbers.size);
      addWide(Double.doubleToRawLongBits(number(text)));
    }
  }

  private static double number(String text) {
    try {
      return Double.parseDouble(text);
    } catch (NumberFormatException e) {
      return 0;
    }
  }

  private void addWide(long number) {
    wide.set(numbers.size);
    numbers.add(wideNumbers.size);
    wideNumbers.add(number);
  }

  /** Adds the numbers of another column. */
  void addAll(JsonNumbers others) {
    for (int i = 0; i < others.size(); i++) {
      broken.set(numbers.size, others.broken.get(i));
      if (others.wide.get(i)) {
        addWide(others.wideNumbers.items[others.numbers.items[i]]);
      } else {
        numbers.add(others.numbers.items[i]);
      }
    }
  }

  /**
   * Adds each value of the array that a parser stands at.
   *
   * @param input of the parser; null if the array is short
   */
  void addAll(JsonParser json, @Nullable JsonInput input) throws IOException {
    if (json.currentToken() != JsonToken.START_ARRAY) {
      json.skipChildren();
      return;
    }
    if (input != null) {
      input.numbers(json, numbers::add);
    }
    while (json.nextToken() != JsonToken.END_ARRAY) {
      add(json);
    }
  }

  /** The number of a row in a unit; {@link Unit#TOO_LARGE} if the number is too large. */
  long get(int row, Unit unit) {
    int number = numbers.items[row];
    if (wideNumbers.size == 0 || !wide.get(row)) {
      return unit.of(number);
    }
    long exact = wideNumbers.items[number];
    return broken.get(row) ? unit.of(Double.longBitsToDouble(exact)) : unit.of(exact);
  }
}

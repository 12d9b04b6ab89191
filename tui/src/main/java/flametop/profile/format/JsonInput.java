package flametop.profile.format;

import com.fasterxml.jackson.core.JsonParser;
import flametop.array.IntColumn;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.function.IntConsumer;

/**
 * The bytes that a parser of JSON reads. Long arrays of whole numbers, of which profiles mostly
 * consist, are read here, several times faster than token by token.
 *
 * <p>The parser gives back what it read ahead, and goes on where this reader stops: at the end of
 * the array, or before the first element that is no whole number of a few digits. So the parser
 * alone judges whatever is out of the ordinary.
 */
final class JsonInput extends InputStream {
  /** So many bytes are read at once at first. */
  private static final int FIRST_READ = 8_000;

  /** An element that is longer than so many bytes is left to the parser. */
  private static final int MOST_BYTES = 1 << 17;

  private final InputStream source;

  /** How many bytes the source gave. */
  private long loaded;

  // Bytes of the source that nobody took yet.
  private byte[] buffer = new byte[1 << 16];
  private int at;
  private int end;

  /** The place where the array begins that is read. */
  private long begin;

  /** How much more the place of a byte is than the parser counts. */
  private long skew;

  /** The number that was read last. */
  private int number;

  JsonInput(InputStream source) {
    this.source = source;
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
  }

  @Override
  public int read(byte[] into, int from, int room) throws IOException {
    if (at == end) {
      int count = source.read(into, from, room);
      loaded += Math.max(0, count);
      return count;
    }
    int count = Math.min(room, end - at);
    System.arraycopy(buffer, at, into, from, count);
    at += count;
    return count;
  }

  /** The place of a byte in the input by what the parser counts. */
  long place(long ofParser) {
    return ofParser + skew;
  }

  /** Takes the whole numbers with which the array begins that a parser has just entered. */
  void numbers(JsonParser json, IntConsumer to) throws IOException {
    boolean within = takeOver(json);
    for (boolean first = true; within; first = false) {
      int behind;
      do {
        behind = number(first ? at : at + 1);
      } while (behind == end && fill());
      within = ends(behind, first);
      if (within) {
        to.accept(number);
        within = next(behind);
      }
    }
  }

  /**
   * Takes the lists of whole numbers with which the array begins that a parser has just entered.
   *
   * @param list has the numbers of a list
   * @param each is told of each list
   */
  void lists(JsonParser json, IntColumn list, Runnable each) throws IOException {
    boolean within = takeOver(json);
    for (boolean first = true; within; first = false) {
      int behind;
      do {
        list.clear();
        behind = list(first ? at : at + 1, list);
      } while (behind == end && fill());
      within = ends(behind, first);
      if (within) {
        each.run();
        within = next(behind);
      }
    }
  }

  /** Whether an element ends before a byte; if not, the parser goes on. */
  private boolean ends(int behind, boolean first) throws IOException {
    boolean whole = behind >= 0 && behind < end && (buffer[behind] == ',' || buffer[behind] == ']');
    if (!whole && !first) {
      int next = space(at + 1);
      while (next == end) {
        // Space that is longer than an element may be: the comma moves behind the space.
        at = end - 1;
        buffer[at] = ',';
        if (!fill()) {
          break;
        }
        next = space(at + 1);
      }
      // The parser has seen no element: a comma would be an error, as it is before the end.
      at += next < end && buffer[next] == ']' ? 0 : 1;
    }
    if (!whole) {
      giveBack();
    }
    return whole;
  }

  /** Goes behind an element; returns whether another one follows. */
  private boolean next(int behind) {
    at = behind;
    if (buffer[behind] == ',') {
      return true;
    }
    giveBack();
    return false;
  }

  /** Takes over from the parser; returns false if the parser cannot give back what it read. */
  private boolean takeOver(JsonParser json) throws IOException {
    int back =
        json.releaseBuffered(
            new OutputStream() {
              @Override
              public void write(int one) {
                write(new byte[] {(byte) one}, 0, 1);
              }

              @Override
              public void write(byte[] bytes, int from, int count) {
                putBefore(bytes, from, count);
              }
            });
    begin = loaded - (end - at);
    skew -= begin + Math.max(0, back);
    if (back < 0) {
      giveBack();
    }
    return back >= 0;
  }

  /** The parser goes on with the bytes that are left. */
  private void giveBack() {
    skew += loaded - (end - at);
  }

  private void putBefore(byte[] bytes, int from, int count) {
    int left = end - at;
    byte[] to = left + count <= buffer.length ? buffer : new byte[2 * (left + count)];
    System.arraycopy(buffer, at, to, count, left);
    System.arraycopy(bytes, from, to, 0, count);
    buffer = to;
    at = 0;
    end = left + count;
  }

  /** Reads more behind the element that is read; returns false if there is no more. */
  private boolean fill() throws IOException {
    int left = end - at;
    if (left >= MOST_BYTES) {
      return false;
    }
    byte[] to = 2 * left <= buffer.length ? buffer : new byte[2 * buffer.length];
    System.arraycopy(buffer, at, to, 0, left);
    buffer = to;
    at = 0;
    end = left;
    // Short arrays are not read far beyond, since what is left moves when the next one begins.
    long wanted = FIRST_READ + (loaded - begin);
    int count = source.read(buffer, end, (int) Math.min(buffer.length - end, wanted));
    if (count <= 0) {
      return false;
    }
    loaded += count;
    end += count;
    return true;
  }

  /** Reads a list of numbers; returns where what follows begins: {@link #end} if that is open. */
  private int list(int from, IntColumn into) {
    int open = space(from);
    if (open == end) {
      return end;
    }
    if (buffer[open] != '[') {
      return -1;
    }
    int behind = space(open + 1);
    if (behind < end && buffer[behind] == ']') {
      return space(behind + 1);
    }
    for (int next = behind; ; next = behind + 1) {
      behind = number(next);
      if (behind < 0 || behind == end) {
        return behind;
      }
      into.add(number);
      if (buffer[behind] == ']') {
        return space(behind + 1);
      }
      if (buffer[behind] != ',') {
        return -1;
      }
    }
  }

  /**
   * Reads a number.
   *
   * @return where what follows begins: {@link #end} if that is open; -1 if no small whole number
   *     stands there
   */
  private int number(int from) {
    byte[] bytes = buffer;
    int stop = end;
    int first = space(from);
    boolean below = first < stop && bytes[first] == '-';
    first += below ? 1 : 0;
    int next = first;
    int sum = 0;
    for (; next < stop && bytes[next] >= '0' && bytes[next] <= '9'; next++) {
      sum = 10 * sum + bytes[next] - '0';
    }
    int digits = next - first;
    if (next == stop) {
      return stop;
    }
    if (digits == 0 || digits > JsonReader.DIGITS_OF_INT || digits > 1 && bytes[first] == '0') {
      return -1;
    }
    number = below ? -sum : sum;
    return space(next);
  }

  private int space(int from) {
    int next = from;
    while (next < end
        && (buffer[next] == ' '
            || buffer[next] == '\n'
            || buffer[next] == '\r'
            || buffer[next] == '\t')) {
      next++;
    }
    return next;
  }
}

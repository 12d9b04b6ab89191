package flametop.profile.file;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;

/**
 * Unpacks bzip2, all streams of it, a block at a time: what came before damage is out by then. No
 * library for this alone is small, or tells what stands behind the end.
 */
final class Bzip2Input extends PackedInput {
  private static final long BLOCK = 0x314159265359L;
  private static final long END = 0x177245385090L;

  private static final int MOST_TABLES = 6;
  private static final int MOST_SYMBOLS = 258;
  private static final int MOST_SELECTORS = 18_002;
  private static final int LONGEST_CODE = 20;

  /** A table is for so many symbols, then the next selector names another. */
  private static final int GROUP = 50;

  // Runs of the symbol in front are written as numbers with these digits.
  private static final int RUN_A = 0;
  private static final int RUN_B = 1;

  private static final int[] CRC = new int[256];

  static {
    for (int i = 0; i < CRC.length; i++) {
      int sum = i << 24;
      for (int bit = 0; bit < 8; bit++) {
        sum = sum < 0 ? sum << 1 ^ 0x04C1_1DB7 : sum << 1;
      }
      CRC[i] = sum;
    }
  }

  private long bits;
  private int held;

  private boolean within;
  private boolean first = true;
  private int most;
  private int streamCrc;

  // The block: the next of each byte above the byte itself, where it stands, what is left of it.
  private int[] next = new int[0];
  private int position;
  private int left;
  private int blockCrc;
  private int crc;

  // Four equal bytes are followed by how many more there are.
  private int last;
  private int equal;
  private int repeats;

  private final Code[] codes = new Code[MOST_TABLES];

  /** Unpacks what begins with a stream. */
  Bzip2Input(InputStream packed) {
    super(packed);
  }

  @Override
  public int read(byte[] into, int from, int room) throws IOException {
    while (left == 0 && repeats == 0) {
      if (!within && !begin()) {
        return -1;
      }
      long magic = (long) take(24) << 24 | take(24);
      if (magic == BLOCK) {
        block();
      } else if (magic == END) {
        if (word() != streamCrc) {
          throw new IOException("the checksum is another");
        }
        within = false;
        held -= held % 8;
      } else {
        throw new IOException("no head of a block");
      }
    }
    int count = unpack(into, from, room);
    if (left == 0 && repeats == 0 && ~crc != blockCrc) {
      throw new IOException("the checksum of a block is another");
    }
    return count;
  }

  private int unpack(byte[] into, int from, int room) {
    int to = from;
    while (to < from + room && (left > 0 || repeats > 0)) {
      if (repeats > 0) {
        repeats--;
      } else {
        int entry = next[position];
        position = entry >>> 8;
        left--;
        int one = entry & 0xFF;
        if (equal == 4) {
          equal = 0;
          repeats = one;
          continue;
        }
        equal = one == last ? equal + 1 : 1;
        last = one;
      }
      into[to++] = (byte) last;
      crc = crc << 8 ^ CRC[crc >>> 24 ^ last];
    }
    return to - from;
  }

  /** Reads the head of a stream; false if there is none. */
  private boolean begin() throws IOException {
    if (!first && held == 0 && at == end && !fill()) {
      return false;
    }
    try {
      boolean is = take(8) == 'B' && take(8) == 'Z' && take(8) == 'h';
      int level = is ? take(8) - '0' : 0;
      if (level < 1 || level > 9) {
        throw first ? new IOException("no head of a stream") : new TrailingData();
      }
      most = level * 100_000;
    } catch (EOFException e) {
      throw first ? e : new TrailingData();
    }
    first = false;
    within = true;
    streamCrc = 0;
    return true;
  }

  private void block() throws IOException {
    blockCrc = word();
    streamCrc = (streamCrc << 1 | streamCrc >>> 31) ^ blockCrc;
    if (take(1) != 0) {
      throw new IOException("a block of a version before 0.9.5");
    }
    int origin = take(24);
    byte[] symbols = new byte[256];
    int used = used(symbols);
    int tables = take(3);
    int selectors = take(15);
    if (used == 0 || tables < 2 || tables > MOST_TABLES || selectors == 0) {
      throw new IOException("a block without codes");
    }
    byte[] selected = selectors(tables, selectors);
    for (int i = 0; i < tables; i++) {
      codes[i] = new Code(used + 2);
    }
    if (next.length < most) {
      next = new int[most];
    }
    int[] counts = new int[256];
    int size = symbols(symbols, used, selected, counts);
    if (origin >= size) {
      throw new IOException("a block that begins behind its end");
    }
    int sum = 0;
    for (int i = 0; i < counts.length; i++) {
      int its = counts[i];
      counts[i] = sum;
      sum += its;
    }
    for (int i = 0; i < size; i++) {
      next[counts[next[i] & 0xFF]++] |= i << 8;
    }
    position = next[origin] >>> 8;
    left = size;
    crc = -1;
    last = -1;
    equal = 0;
  }

  /** Which bytes there are. */
  private int used(byte[] symbols) throws IOException {
    int ranges = take(16);
    int used = 0;
    for (int range = 0; range < 16; range++) {
      int in = (ranges >> 15 - range & 1) == 0 ? 0 : take(16);
      for (int i = 0; i < 16; i++) {
        if ((in >> 15 - i & 1) != 0) {
          symbols[used++] = (byte) (range << 4 | i);
        }
      }
    }
    return used;
  }

  private byte[] selectors(int tables, int count) throws IOException {
    byte[] order = {0, 1, 2, 3, 4, 5};
    byte[] selected = new byte[Math.min(count, MOST_SELECTORS)];
    for (int i = 0; i < count; i++) {
      int far = 0;
      while (take(1) != 0) {
        if (++far >= tables) {
          throw new IOException("a code that is not there");
        }
      }
      byte front = order[far];
      System.arraycopy(order, 0, order, 1, far);
      order[0] = front;
      if (i < selected.length) {
        selected[i] = front;
      }
    }
    return selected;
  }

  /** Reads the bytes of a block into {@link #next}, and returns how many. */
  private int symbols(byte[] symbols, int used, byte[] selected, int[] counts) throws IOException {
    int size = 0;
    int group = 0;
    int rest = 0;
    Code code = codes[0];
    long run = 0;
    long digit = 1;
    while (true) {
      if (rest == 0) {
        if (group == selected.length) {
          throw new IOException("a block without an end");
        }
        code = codes[selected[group++]];
        rest = GROUP;
      }
      rest--;
      int symbol = code.read();
      if (symbol <= RUN_B) {
        run += digit << (symbol == RUN_A ? 0 : 1);
        digit <<= 1;
        if (run > most) {
          throw new IOException("a block that is too long");
        }
        continue;
      }
      if (run > 0) {
        if (run > most - size) {
          throw new IOException("a block that is too long");
        }
        int front = symbols[0] & 0xFF;
        counts[front] += (int) run;
        for (; run > 0; run--) {
          next[size++] = front;
        }
        digit = 1;
      }
      if (symbol == used + 1) {
        return size;
      }
      if (size == most) {
        throw new IOException("a block that is too long");
      }
      byte front = symbols[symbol - 1];
      System.arraycopy(symbols, 0, symbols, 1, symbol - 1);
      symbols[0] = front;
      counts[front & 0xFF]++;
      next[size++] = front & 0xFF;
    }
  }

  /**
   * A code of symbols: shorter codes come first, and codes of one length are in the order of their
   * symbols.
   */
  private final class Code {
    /** By length: the last code, and what brings codes to places in {@link #symbol}. */
    private final int[] limit = new int[LONGEST_CODE + 1];

    private final int[] base = new int[LONGEST_CODE + 1];
    private final int[] symbol;

    Code(int symbols) throws IOException {
      int[] length = new int[MOST_SYMBOLS];
      int[] count = new int[LONGEST_CODE + 2];
      int now = take(5);
      for (int i = 0; i < symbols; i++) {
        checkLength(now);
        while (take(1) != 0) {
          now += take(1) == 0 ? 1 : -1;
          checkLength(now);
        }
        length[i] = now;
        count[now]++;
      }
      symbol = new int[symbols];
      int place = 0;
      int code = 0;
      for (int of = 1; of <= LONGEST_CODE; of++) {
        base[of] = place - code;
        for (int i = 0; i < symbols; i++) {
          if (length[i] == of) {
            symbol[place++] = i;
          }
        }
        code += count[of];
        limit[of] = code;
        code <<= 1;
      }
    }

    private static void checkLength(int length) throws IOException {
      if (length < 1 || length > LONGEST_CODE) {
        throw new IOException("a code of no length");
      }
    }

    int read() throws IOException {
      int code = 0;
      for (int of = 1; of <= LONGEST_CODE; of++) {
        code = code << 1 | take(1);
        if (code < limit[of]) {
          int place = code + base[of];
          if (place >= 0 && place < symbol.length) {
            return symbol[place];
          }
        }
      }
      throw new IOException("a code that is not there");
    }
  }

  private int word() throws IOException {
    return take(16) << 16 | take(16);
  }

  /** The next bits, 24 at most. */
  private int take(int count) throws IOException {
    while (held < count) {
      bits = bits << 8 | octet();
      held += 8;
    }
    held -= count;
    return (int) (bits >>> held) & (1 << count) - 1;
  }
}

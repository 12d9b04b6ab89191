package flametop.profile.log;

import flametop.array.IntColumn;
import flametop.array.LongColumn;
import flametop.array.LongIndex;
import java.util.Arrays;
import java.util.BitSet;

/**
 * Packs entries of the {@link ChangeLog} into few bytes, and unpacks them again.
 *
 * <p>In front stand three tables: the owners, the stacks, and the forms of the entries, each once
 * and in the order of the first entry with it. An entry is its form, then what the form and the
 * entries before do not tell. A form is the spot, the number of intervals that open, whether stack
 * and samples are the usual ones. An owner is told where the entry before has another; a stack
 * where the last entry of that owner has another. Times of intervals are told as the distance from
 * the last such time, samples of a rate as the distance from the last ones of their form. So an
 * entry takes 4 to 5 bytes in place of 30.
 */
final class Packing {
  /** What is no stack is below zero; stacks are numbered from here on. */
  private static final int STACK_BIAS = 64;

  // A form, from its low bits up: spot, open, samples, whether the stack is NOT_SAMPLED.
  private static final int OPEN_SHIFT = 16;
  private static final int OPEN_TOLD = 3;
  private static final int SAMPLES_SHIFT = 18;
  private static final int SAMPLES_TOLD = 7;
  private static final int NOT_SAMPLED = 1 << 21;

  /** In front of the number of a form: the owner is that of the entry before. */
  private static final int SAME_OWNER = 1;

  /** In front of the number of a form: the stack is that of the owner's last entry. */
  private static final int SAME_STACK = 2;

  private static final int FLAG_BITS = 2;

  /** Most bytes of an entry. */
  private static final int MOST_BYTES = 50;

  private final Table owners = new Table();
  private final Table stacks = new Table();

  /** The form of each number, and the last base of its entries. */
  private final LongIndex forms = new LongIndex();

  private final LongColumn lastBase = new LongColumn();

  /** By number of an owner: the number of the stack of the owner's last entry. */
  private final IntColumn lastStack = new IntColumn();

  // What intervals refer to: the last time at which one opened, or closed, and its pass.
  private long opened;
  private long closed;
  private long pass;

  private byte[] body = new byte[1 << 12];

  /** The next byte to be written or read. */
  private int at;

  /** Numbers for things that have small numbers of their own, in the order they come. */
  private static final class Table {
    final IntColumn things = new IntColumn();

    /** By thing: where it may stand among the things. */
    private final IntColumn place = new IntColumn();

    int number(int thing) {
      int known = place.get(thing);
      if (known < things.size && things.items[known] == thing) {
        return known;
      }
      place.set(thing, things.size);
      things.add(thing);
      return things.size - 1;
    }
  }

  private void begin() {
    owners.things.clear();
    stacks.things.clear();
    lastStack.clear();
    lastBase.clear();
    opened = 0;
    closed = 0;
    pass = 0;
    at = 0;
  }

  byte[] pack(Entries entries) {
    begin();
    forms.clear();
    int before = -1;
    for (int i = 0; i < entries.count; i++) {
      if (at + MOST_BYTES > body.length) {
        body = Arrays.copyOf(body, 2 * body.length);
      }
      before = pack(entries, i, before);
    }
    byte[] entryBytes = body;
    int length = at;
    body = new byte[6 * (owners.things.size + stacks.things.size + forms.size() + 4)];
    at = 0;
    writeTable(owners.things);
    writeTable(stacks.things);
    write(forms.size());
    for (int form = 0; form < forms.size(); form++) {
      write(forms.key(form));
    }
    write(entries.count);
    byte[] packed = Arrays.copyOf(body, at + length);
    System.arraycopy(entryBytes, 0, packed, at, length);
    body = entryBytes;
    return packed;
  }

  private int pack(Entries entries, int i, int before) {
    int stack = entries.stack[i];
    int open = entries.open[i];
    long base = entries.base[i];
    long samples = entries.samples[i] + open * pass;
    boolean notSampled = stack == Stacks.NOT_SAMPLED;
    int openForm = open >= -1 && open <= 1 ? open + 1 : OPEN_TOLD;
    int samplesForm =
        samples >= -1 && samples < SAMPLES_TOLD - 1 ? (int) samples + 1 : SAMPLES_TOLD;
    int form =
        forms.row(
            entries.spot[i]
                | openForm << OPEN_SHIFT
                | samplesForm << SAMPLES_SHIFT
                | (notSampled ? NOT_SAMPLED : 0));
    if (form == lastBase.size) {
      lastBase.add(0);
    }
    int owner = owners.number(entries.owner[i]);
    if (owner == lastStack.size) {
      lastStack.add(-1);
    }
    int stackNumber = notSampled ? -1 : stacks.number(stack + STACK_BIAS);
    boolean sameStack = !notSampled && lastStack.items[owner] == stackNumber;
    write(
        (long) form << FLAG_BITS
            | (owner == before ? SAME_OWNER : 0)
            | (sameStack ? SAME_STACK : 0));
    if (owner != before) {
      write(owner);
    }
    if (!notSampled && !sameStack) {
      write(stackNumber);
      lastStack.items[owner] = stackNumber;
    }
    if (openForm == OPEN_TOLD) {
      writeSigned(open);
    }
    if (samplesForm == SAMPLES_TOLD) {
      writeSigned(samples);
    }
    writeSigned(base - expected(entries.spot[i], open, form));
    follow(open, base, entries.samples[i], form);
    return owner;
  }

  /** The base of an entry if nothing changed since the entries before. */
  private long expected(int spot, int open, int form) {
    return open != 0
        ? -open * (open > 0 ? opened : closed)
        : Spot.isSampled(spot) ? lastBase.items[form] : 0;
  }

  private void follow(int open, long base, long samples, int form) {
    lastBase.items[form] = base;
    if (open == 1) {
      opened = -base;
      pass = -samples;
    } else if (open == -1) {
      closed = base;
      pass = samples;
    }
  }

  /** Unpacks all entries. */
  void unpack(byte[] packed, Entries to) {
    begin();
    byte[] own = body;
    body = packed;
    readTable(owners.things);
    readTable(stacks.things);
    int[] form = new int[(int) read()];
    for (int i = 0; i < form.length; i++) {
      form[i] = (int) read();
      lastBase.add(0);
    }
    for (int i = 0; i < owners.things.size; i++) {
      lastStack.add(-1);
    }
    int count = (int) read();
    to.clear(count);
    int owner = -1;
    for (int i = 0; i < count; i++) {
      owner = unpack(form, owner, to);
    }
    body = own;
  }

  private int unpack(int[] forms, int before, Entries to) {
    int head = (int) read();
    int number = head >> FLAG_BITS;
    int form = forms[number];
    int owner = (head & SAME_OWNER) != 0 ? before : (int) read();
    int stack = Stacks.NOT_SAMPLED;
    if ((form & NOT_SAMPLED) == 0) {
      if ((head & SAME_STACK) == 0) {
        lastStack.items[owner] = (int) read();
      }
      stack = stacks.things.items[lastStack.items[owner]] - STACK_BIAS;
    }
    int open = form >> OPEN_SHIFT & OPEN_TOLD;
    open = open == OPEN_TOLD ? (int) readSigned() : open - 1;
    long samples = form >> SAMPLES_SHIFT & SAMPLES_TOLD;
    samples = (samples == SAMPLES_TOLD ? readSigned() : samples - 1) - open * pass;
    int spot = form & 0xFFFF;
    long base = readSigned() + expected(spot, open, number);
    to.add(owners.things.items[owner], stack, spot, open, base, samples);
    follow(open, base, samples, number);
    return owner;
  }

  /** Adds the owners and stacks that packed entries refer to. */
  void mark(byte[] packed, BitSet ofOwners, BitSet ofStacks) {
    begin();
    byte[] own = body;
    body = packed;
    readTable(owners.things);
    readTable(stacks.things);
    body = own;
    for (int i = 0; i < owners.things.size; i++) {
      ofOwners.set(owners.things.items[i]);
    }
    for (int i = 0; i < stacks.things.size; i++) {
      if (stacks.things.items[i] >= STACK_BIAS) {
        ofStacks.set(stacks.things.items[i] - STACK_BIAS);
      }
    }
  }

  private void writeTable(IntColumn things) {
    write(things.size);
    int before = 0;
    for (int i = 0; i < things.size; i++) {
      writeSigned(things.items[i] - before);
      before = things.items[i];
    }
  }

  private void readTable(IntColumn things) {
    int size = (int) read();
    int thing = 0;
    for (int i = 0; i < size; i++) {
      thing += (int) readSigned();
      things.add(thing);
    }
  }

  private void writeSigned(long value) {
    write(value << 1 ^ value >> 63);
  }

  private long readSigned() {
    long value = read();
    return value >>> 1 ^ -(value & 1);
  }

  /** Seven bits a byte, the lowest first; the highest bit of a byte says that more follow. */
  private void write(long value) {
    long rest = value;
    while ((rest & ~0x7FL) != 0) {
      body[at++] = (byte) (rest | 0x80);
      rest >>>= 7;
    }
    body[at++] = (byte) rest;
  }

  private long read() {
    byte first = body[at++];
    if (first >= 0) {
      return first;
    }
    long value = first & 0x7F;
    for (int shift = 7; ; shift += 7) {
      byte next = body[at++];
      value |= (next & 0x7FL) << shift;
      if (next >= 0) {
        return value;
      }
    }
  }
}

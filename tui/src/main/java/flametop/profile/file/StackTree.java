package flametop.profile.file;

import flametop.array.IntColumn;
import flametop.array.LongColumn;
import flametop.array.LongIndex;
import flametop.profile.answer.Shape;
import flametop.profile.tree.HeldStacks;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The call tree of folded stacks, in columns by node. Stacks are only ever added; what is below a
 * node is summed up when the tree is read, a pass over the columns from their end.
 *
 * <p>It counts two sums for each node, of which the second is compared with the first: that of a
 * single file is only now. Shares are compared, not the lengths of two runs: what is shown of both
 * is in parts so small that nothing of either is rounded away.
 */
final class StackTree extends ArrayTree {
  /** What is looked at, and what it is compared with. */
  static final int NOW = 0;

  static final int BEFORE = 1;

  /** All numbers of a column together are no more than this. */
  static final long MOST = Long.MAX_VALUE / 4;

  /** Digits behind the point that are kept of a number. */
  static final int MOST_DECIMALS = 9;

  /** In so many parts is all that is compared. */
  private static final long FINE = 1L << 56;

  private static final long[] TENS = new long[19];

  static {
    TENS[0] = 1;
    for (int i = 1; i < TENS.length; i++) {
      TENS[i] = 10 * TENS[i - 1];
    }
  }

  /** What a node costs at most, while the arrays grow, B. */
  private static final int NODE_BYTES = 128;

  private final int mostNodes;

  /** The child that was asked for last, a good guess for the next time; 0 is none. */
  private final IntColumn recent = new IntColumn();

  private LongColumn own = new LongColumn();

  // Null as long as nothing is compared.
  private @Nullable LongColumn ownBefore;
  private @Nullable LongColumn sumBefore;

  /** Of what both sums of it are parts. */
  private final StackTree whole;

  private final long[] total = new long[2];

  /** Digits behind the point that its numbers have: they are so many times ten as large. */
  private int decimals;

  /** No more of them: their sum would be too large. */
  private int mostDecimals = MOST_DECIMALS;

  /** What it is to be if that is said: whether the outermost frame is a comm. */
  private @Nullable Boolean asked;

  /** Whether nothing more will be added. */
  private boolean trimmed;

  private boolean said;
  private boolean comm;
  private int flips;

  private boolean stale;
  private long summedTimes;
  private double summedScale;
  private int changes;

  /** An empty one, for all the stacks of a file. */
  StackTree() {
    this(null, mostNodes());
  }

  /** As many as there is memory for, on which more than this tree lives. */
  private static int mostNodes() {
    long room = Runtime.getRuntime().maxMemory() * 2 / 5 / NODE_BYTES;
    return (int) Math.min(Integer.MAX_VALUE / 8, room);
  }

  /**
   * An empty one.
   *
   * @param whole the tree that has all stacks, if it is to have only some of them; else null
   */
  StackTree(@Nullable StackTree whole) {
    this(whole, Integer.MAX_VALUE);
  }

  StackTree(@Nullable StackTree whole, int mostNodes) {
    index = new LongIndex(keys);
    recent.add(0);
    own.add(0);
    this.mostNodes = mostNodes;
    this.whole = whole == null ? this : whole;
  }

  /** The child of a node with a function, made if need be; -1 if there is no room for it. */
  int grow(int parent, int function) {
    int node = nodes() < mostNodes ? make(parent, function) : find(parent, function);
    if (node == own.size) {
      own.add(0);
      recent.add(0);
      if (ownBefore != null) {
        ownBefore.add(0);
      }
    }
    if (node != NONE) {
      recent.items[parent] = node;
    }
    return node;
  }

  /** The child that was asked for last; 0 if none was. */
  int recent(int parent) {
    return recent.items[parent];
  }

  @Override
  int changes() {
    return changes;
  }

  /** Says that nothing more will be added. */
  void trim() {
    index = null;
    trimmed = true;
    recent.empty();
    recent.trim();
    keys.trim();
    firstChild.trim();
    sibling.trim();
    own.trim();
    sum = new LongColumn();
    if (ownBefore != null) {
      ownBefore.trim();
      sumBefore = new LongColumn();
    }
    stale = true;
  }

  /** Whether nothing more will be added. */
  boolean isWhole() {
    return trimmed;
  }

  /**
   * Has a number of a column find room.
   *
   * @param digits of it that stand behind the point
   * @return false if all of them would be too many
   */
  boolean fits(long value, int digits, int column) {
    int finest = Math.min(digits, mostDecimals);
    while (decimals < finest && Math.max(total[NOW], total[BEFORE]) <= MOST / 10) {
      rescale(decimals + 1);
    }
    while (scaled(value, digits) > MOST - total[column]) {
      if (decimals == 0) {
        return false;
      }
      rescale(decimals - 1);
      mostDecimals = decimals;
    }
    return true;
  }

  /** Adds a number that fits to what ends in a node. */
  void add(int node, long value, int digits, int column) {
    long scaled = scaled(value, digits);
    if (column == NOW) {
      own.items[node] += scaled;
    } else if (ownBefore != null) {
      ownBefore.items[node] += scaled;
    }
    total[column] += scaled;
    stale = true;
  }

  private long scaled(long value, int digits) {
    if (digits > decimals) {
      long parts = TENS[digits - decimals];
      return (value + parts / 2) / parts;
    }
    long times = TENS[decimals - digits];
    return value > Long.MAX_VALUE / times ? Long.MAX_VALUE : value * times;
  }

  private void rescale(int to) {
    total[NOW] = rescale(own.items, to);
    total[BEFORE] = ownBefore == null ? 0 : rescale(ownBefore.items, to);
    decimals = to;
    stale = true;
  }

  private long rescale(long[] of, int to) {
    long sum = 0;
    for (int node = 0; node < nodes(); node++) {
      of[node] = to > decimals ? 10 * of[node] : (of[node] + 5) / 10;
      sum += of[node];
    }
    return sum;
  }

  /** All that was added to a column. */
  long total(int column) {
    return total[column];
  }

  /** Digits behind the point that its numbers have. */
  int decimals() {
    return decimals;
  }

  /** Nothing was ever added to a column. */
  void reset(int column) {
    LongColumn of = column(column);
    if (of != null) {
      of.zero(nodes());
    }
    total[column] = 0;
    stale = true;
  }

  /** A file says whether its outermost frames are comms. */
  void says(boolean isComm) {
    said |= isComm;
    flip();
  }

  /**
   * Somebody says whether the outermost frames are comms.
   *
   * @param isComm null: as the files say
   */
  void ask(@Nullable Boolean isComm) {
    asked = isComm;
    flip();
  }

  /** What they are if nobody says it. */
  boolean saidComm() {
    return said;
  }

  /** Whether the outermost frame is a comm, a process, a thread: else it is a function. */
  boolean isComm() {
    return whole == this ? comm : whole.comm;
  }

  /** Another number whenever {@link #isComm} is another. */
  int flips() {
    return flips;
  }

  private void flip() {
    boolean is = asked == null ? said : asked;
    if (is == comm) {
      return;
    }
    comm = is;
    flips++;
    changes++;
    // Another thread may read what it had.
    keys = keys.copy();
    for (int node = firstChild(ROOT); node != NONE; node = sibling(node)) {
      keys.items[node] = key(ROOT, StackNames.function(function(node) >> 1, comm));
    }
    if (!isWhole()) {
      index = new LongIndex(keys);
    }
  }

  /** All that was ever added. */
  long added() {
    return total[NOW] + total[BEFORE];
  }

  /**
   * What ends in each node is this from now on.
   *
   * @param before null if nothing is compared
   * @param digits that they have behind the point
   */
  void replace(LongColumn now, @Nullable LongColumn before, int digits) {
    compareNothing();
    now.resize(nodes());
    own = now;
    if (before != null) {
      compare();
      before.resize(nodes());
      ownBefore = before;
    }
    decimals = digits;
    stale = true;
  }

  /** From now on there is something to compare with. */
  void compare() {
    ownBefore = new LongColumn();
    ownBefore.zero(nodes());
    sumBefore = new LongColumn();
    stale = true;
  }

  /** From now on there is nothing to compare with. */
  void compareNothing() {
    ownBefore = null;
    sumBefore = null;
    total[BEFORE] = 0;
    stale = true;
  }

  @Override
  void sumUp() {
    long times = times();
    double scale = scale();
    if (!stale && times == summedTimes && scale == summedScale && sum.size == nodes()) {
      return;
    }
    stale = false;
    summedTimes = times;
    summedScale = scale;
    changes++;
    int nodes = nodes();
    sum.zero(nodes);
    for (int node = 0; node < nodes; node++) {
      sum.items[node] = own.items[node] * times;
    }
    sum(sum.items);
    if (ownBefore != null && sumBefore != null) {
      sumBefore.zero(nodes);
      for (int node = 0; node < nodes; node++) {
        sumBefore.items[node] = scaled(ownBefore.items[node], scale);
      }
      sum(sumBefore.items);
    }
  }

  private void sum(long[] of) {
    for (int node = nodes() - 1; node > ROOT; node--) {
      of[parent(node)] += of[node];
    }
  }

  /** What is shown for each of the numbers of now, so that those of before have room beside it. */
  long times() {
    if (whole.ownBefore == null) {
      return 1;
    }
    long most = whole.total[NOW] > 0 ? whole.total[NOW] : whole.total[BEFORE];
    return Math.max(1, Math.min(FINE / Math.max(1, most), MOST / TENS[whole.decimals]));
  }

  /**
   * What is shown for each of the numbers of before: so all of them are as much as all of now.
   * Numbers are brought to that one by one, so that sums are right and none is lost.
   */
  double scale() {
    long now = whole.total[NOW];
    long before = whole.total[BEFORE];
    return now > 0 && before > 0 ? (double) now * times() / before : times();
  }

  /** A number of before, as it is shown. */
  static long scaled(long before, double scale) {
    return before == 0 ? 0 : Math.max(1, Math.round(before * scale));
  }

  @Override
  long parts() {
    return times() * TENS[decimals];
  }

  /** What ends in it and not below it. */
  long own(int node, int column) {
    LongColumn of = column(column);
    return of == null ? 0 : of.items[node];
  }

  /** What ends in each node, as it is now. */
  long[] ends() {
    return isWhole() ? own.items : own.toArray();
  }

  /** What ended before in each node, as it is now; null if nothing is compared. */
  long @Nullable [] endsBefore() {
    return ownBefore == null ? null : isWhole() ? ownBefore.items : ownBefore.toArray();
  }

  private @Nullable LongColumn column(int column) {
    return column == NOW ? own : ownBefore;
  }

  @Override
  HeldStacks held(int node, StackNames names, Shape shape, List<String> zoom) {
    sumUp();
    return HeldStacks.below(
        ends(names, ends(), endsBefore(), weight(node, 0) / times(), shape), node, zoom);
  }

  /** The nodes as they are now, with what ends in each. */
  HeldStacks.Ends ends(
      StackNames names, long[] now, long @Nullable [] before, long total, Shape shape) {
    return new HeldStacks.Ends(
        held(), names.held(), false, now, before, total, decimals, node -> List.of(), shape);
  }

  @Override
  public long baseline(int node, int states) {
    return sumBefore == null ? 0 : sumBefore.get(node);
  }

  @Override
  public boolean hasBaseline() {
    return sumBefore != null;
  }
}

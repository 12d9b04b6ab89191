package flametop.profile.file;

import flametop.array.IntColumn;
import flametop.array.LongColumn;
import flametop.array.LongIndex;
import flametop.profile.answer.Shape;
import flametop.profile.tree.HeldStacks;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The call tree of folded stacks, in columns by node. Stacks are only added. When the tree is read,
 * one pass over the columns, from their end, sums up what is below each node.
 *
 * <p>Each node has two numbers where files are compared: now, and before. Shares of the two totals
 * are compared, not the totals of two runs. So both numbers are shown in parts of one total, and
 * the parts are so small that rounding loses no stack.
 */
final class StackTree extends ArrayTree {
  /** The column of the numbers that are shown, and the column of the baseline. */
  static final int NOW = 0;

  static final int BEFORE = 1;

  /** The largest total of a column. */
  static final long MOST = Long.MAX_VALUE / 4;

  /** Most digits behind the point that are kept of a number. */
  static final int MOST_DECIMALS = 9;

  /** A total that is compared is shown in about so many parts. */
  private static final long FINE = 1L << 56;

  private static final long[] TENS = new long[19];

  static {
    TENS[0] = 1;
    for (int i = 1; i < TENS.length; i++) {
      TENS[i] = 10 * TENS[i - 1];
    }
  }

  /** The most memory of a node, while the arrays grow, B. */
  private static final int NODE_BYTES = 128;

  private final int mostNodes;

  /** By node: the child that was added to last, a good guess for the next stack; 0: none. */
  private final IntColumn recent = new IntColumn();

  private LongColumn own = new LongColumn();

  /** Null as long as nothing is compared. */
  private @Nullable LongColumn ownBefore;

  private LongColumn sumBefore = new LongColumn();

  /** The tree of all stacks, by whose totals numbers are brought to one scale. */
  private final StackTree whole;

  private final long[] total = new long[2];

  private int decimals;

  /** With more digits the total would be too large. */
  private int mostDecimals = MOST_DECIMALS;

  /** Whether outermost frames are comms, as the user says; null: as the files say. */
  private @Nullable Boolean asked;

  private boolean said;
  private boolean comm;
  private int flips;

  private boolean stale;
  private long summedTimes;
  private double summedScale;

  /** An empty tree, for all the stacks of a file. */
  StackTree() {
    this(null, mostNodes());
  }

  /** How many nodes there is memory for, which other data needs, too. */
  private static int mostNodes() {
    long room = Runtime.getRuntime().maxMemory() * 2 / 5 / NODE_BYTES;
    return (int) Math.min(Integer.MAX_VALUE / 8, room);
  }

  /**
   * An empty tree.
   *
   * @param whole the tree of all stacks, if this tree gets some of them; null: this is that tree
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

  /**
   * The child of a node with a name, right below the root perhaps a comm; made if need be.
   *
   * @param parent -1 if there was no room for the node
   * @param name -1 if there was no room for the name
   * @return -1 if there is no room for the child
   */
  int growNamed(int parent, int name) {
    boolean room = parent != NONE && name >= 0;
    return room ? grow(parent, StackNames.function(name, parent == ROOT && isComm())) : NONE;
  }

  /** The child of a node with a function, made if need be; -1 if there is no room for a node. */
  int grow(int parent, int function) {
    int guess = recent.items[parent];
    if (guess != 0 && function(guess) == function) {
      return guess;
    }
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

  /** The child that was added to last; 0 if there is none. */
  int recent(int parent) {
    return recent.items[parent];
  }

  /** Says that nothing more will be added. */
  void trim() {
    index = null;
    recent.empty();
    recent.trim();
    keys.trim();
    firstChild.trim();
    sibling.trim();
    own.trim();
    if (ownBefore != null) {
      ownBefore.trim();
    }
    sum = new LongColumn();
    sumBefore = new LongColumn();
    stale = true;
  }

  /** Whether nothing more will be added. */
  boolean isWhole() {
    return index == null;
  }

  /**
   * Makes room for a number of a column, with fewer digits behind the point if need be.
   *
   * @param digits of the number that stand behind the point
   * @return false if the total would be too large
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

  /** Adds a number that fits to the stacks that end in a node. */
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

  /** The total of a column. */
  long total(int column) {
    return total[column];
  }

  /** Digits behind the point: the columns hold the numbers times ten to this power. */
  int decimals() {
    return decimals;
  }

  /** Empties a column. */
  void reset(int column) {
    LongColumn of = column(column);
    if (of != null) {
      of.zero(nodes());
    }
    total[column] = 0;
    stale = true;
  }

  /** Takes what a file says: whether its outermost frames are comms. */
  void says(boolean isComm) {
    said |= isComm;
    flip();
  }

  /**
   * Takes what the user says: whether the outermost frames are comms.
   *
   * @param isComm null: as the files say
   */
  void ask(@Nullable Boolean isComm) {
    asked = isComm;
    flip();
  }

  /** Whether the outermost frames are comms, as the files say. */
  boolean saidComm() {
    return said;
  }

  /** Whether the outermost frames are comms, processes, threads; else they are functions. */
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

  /** The totals of both columns; another number after each stack that was added. */
  long added() {
    return total[NOW] + total[BEFORE];
  }

  /**
   * Replaces both columns.
   *
   * @param before null if nothing is compared
   * @param digits behind the point
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

  /** Begins an empty column of numbers before. */
  void compare() {
    ownBefore = new LongColumn();
    ownBefore.zero(nodes());
    stale = true;
  }

  /** Drops the column of numbers before. */
  void compareNothing() {
    ownBefore = null;
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
    if (ownBefore != null) {
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

  /** By what each number of now is multiplied, so that the numbers of before are whole, too. */
  long times() {
    if (whole.ownBefore == null) {
      return 1;
    }
    long most = whole.total[NOW] > 0 ? whole.total[NOW] : whole.total[BEFORE];
    return Math.max(1, Math.min(FINE / Math.max(1, most), MOST / TENS[whole.decimals]));
  }

  /**
   * By what each number of before is multiplied, so that both totals are equal. Each stack is
   * multiplied by itself, so that sums are exact and no stack becomes 0.
   */
  double scale() {
    long now = whole.total[NOW];
    long before = whole.total[BEFORE];
    return now > 0 && before > 0 ? (double) now * times() / before : times();
  }

  /** A number of before, as shown. */
  static long scaled(long before, double scale) {
    return before == 0 ? 0 : Math.max(1, Math.round(before * scale));
  }

  @Override
  long parts() {
    return times() * TENS[decimals];
  }

  /** The number of the stacks that end in a node. */
  long own(int node, int column) {
    LongColumn of = column(column);
    return of == null ? 0 : of.items[node];
  }

  /** By node: the number of the stacks that end there; later stacks are not in it. */
  long[] ends() {
    return isWhole() ? own.items : own.toArray();
  }

  /** The same of before; null if nothing is compared. */
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

  /** The nodes as they are now, with the stacks that end in each. */
  HeldStacks.Ends ends(
      StackNames names, long[] now, long @Nullable [] before, long total, Shape shape) {
    boolean owned = whole == this && names.owners().areDetailed();
    return new HeldStacks.Ends(held(), names.held(), now, before, total, decimals, shape, owned);
  }

  @Override
  public long baseline(int node, int states) {
    return ownBefore == null ? 0 : sumBefore.get(node);
  }

  @Override
  public boolean hasBaseline() {
    return ownBefore != null;
  }
}

package flametop.profile.file;

import flametop.array.IntColumn;
import flametop.array.LongColumn;
import flametop.profile.answer.FoldedStack;
import flametop.profile.answer.FoldedStack.Owner;
import flametop.profile.answer.NodeKind;
import flametop.profile.format.Place;
import flametop.profile.format.ProfileFacts;
import flametop.profile.format.SampleLog;
import flametop.profile.format.StackSink;
import flametop.profile.format.Unit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Folds the stacks of a profile into a tree. The thread that reads gathers stacks in batches, and
 * the thread that folds puts them into the tree. There are a few batches, so reading waits for
 * folding.
 *
 * <p>A stack is kept as what differs from the stack before: how many frames both have in common,
 * the others, and a value.
 */
final class ProfileStacks implements StackSink {
  /** A batch ends with the stack that makes it longer than so many ints. */
  private static final int BATCH = 1 << 15;

  /** A batch ends with the name that makes its names longer than so many bytes. */
  private static final int BATCH_NAMES = 1 << 20;

  private static final int BATCHES = 4;

  /** Most chars of a name; names that differ only behind these are one. */
  private static final int MAX_NAME = 8_192;

  /** Most types of values that are told apart: more than any program counts. */
  private static final int MOST_MEASURES = 200;

  /** The unit of recorded streams. */
  private static final Unit MICROS = Unit.of("us", "");

  private final StackNames names;
  private final StackTree tree;
  private final int column;
  private final StackTally tally;
  private final String wanted;
  private final Consumer<Runnable> folding;
  private final BooleanSupplier closed;
  private final @Nullable SampleLog samples;
  private final BlockingQueue<Batch> free = new ArrayBlockingQueue<>(BATCHES);

  // The reading thread.

  /** Takes all that the tree does not; null if nobody wants that. */
  private SampleLog.@Nullable Input log;

  private final List<String> measures = new ArrayList<>();
  private final List<Unit> units = new ArrayList<>();
  private int chosen;
  private boolean isChosen;
  private boolean owned;

  /** How many measures the tally was told. */
  private int told;

  private int frames;
  private Batch batch = new Batch();
  private int[] last = new int[64];
  private int lastDepth;

  /** How many first frames of the last call are those of the last stack that was kept. */
  private int same;

  // The folding thread.

  private final IntColumn functions = new IntColumn();
  private final IntColumn nodes = new IntColumn();

  /** What is handed from one thread to the other. */
  private static final class Batch {
    final List<byte[]> names = new ArrayList<>();
    int nameBytes;
    final IntColumn stacks = new IntColumn();
    final LongColumn values = new LongColumn();

    /** What else is told. */
    final List<Runnable> marks = new ArrayList<>();

    void clear() {
      names.clear();
      nameBytes = 0;
      stacks.clear();
      values.clear();
      marks.clear();
    }
  }

  /**
   * @param wanted name of the measure to show; empty: what the profile prefers
   * @param folding runs work on the thread that folds
   * @param closed whether nobody wants the stacks any more
   * @param samples takes what the tree does not have; null if nobody wants that
   */
  ProfileStacks(
      StackNames names,
      StackTree tree,
      int column,
      StackTally tally,
      String wanted,
      Consumer<Runnable> folding,
      BooleanSupplier closed,
      @Nullable SampleLog samples) {
    this.samples = samples;
    this.names = names;
    this.tree = tree;
    this.column = column;
    this.tally = tally;
    this.wanted = wanted;
    this.folding = folding;
    this.closed = closed;
    for (int i = 1; i < BATCHES; i++) {
      free.add(new Batch());
    }
    mark(tally::countsStacks);
  }

  /** The profile begins. */
  void begin() {
    log = samples == null ? null : samples.new Input();
  }

  /** Logs a stack of a recorded stream; its value counts µs. */
  void replayed(FoldedStack stack) {
    if (samples == null) {
      return;
    }
    if (log == null) {
      begin();
      Objects.requireNonNull(log).type("time", MICROS, true);
      log.prefer(0);
    }
    if (stack.kinds()[0].isOwner()) {
      log.owners();
    }
    int depth = stack.names().length;
    int[] path = new int[depth];
    for (int i = 0; i < depth; i++) {
      path[i] = add(stack.kinds()[i], stack.names()[i], stack.modules()[i], Place.NONE, null);
    }
    if (stack.shares().isEmpty() || !stack.kinds()[0].isOwner()) {
      log.stack(0, path, depth, MICROS.of(stack.value()));
      return;
    }
    for (FoldedStack.Share share : stack.shares()) {
      Owner owner =
          new Owner(stack.names()[0], share.pid(), share.thread(), share.tid(), "", share.state());
      path[0] = add(NodeKind.PROCESS, owner.comm(), "", Place.NONE, owner);
      log.stack(0, path, depth, MICROS.of(share.value()));
    }
  }

  /** Gives a frame its number. */
  private int add(NodeKind kind, String name, String module, Place place, @Nullable Owner of) {
    if (log != null) {
      log.frame(kind, name, module, place, of);
    }
    return frames++;
  }

  private void name(byte[] text) {
    batch.names.add(text);
    batch.nameBytes += text.length;
  }

  /** What was read is no profile. */
  void miss() {
    if (samples != null) {
      samples.miss();
    }
  }

  @Override
  public int measure(String name, Unit unit, boolean preferred) {
    String clean = name.isEmpty() ? unit.name() : FoldedName.oneLine(cut(name));
    int known = measures.indexOf(clean);
    if (known >= 0 || measures.size() == MOST_MEASURES) {
      return Math.max(known, 0);
    }
    measures.add(clean);
    units.add(unit);
    int number = measures.size() - 1;
    boolean asked = clean.equals(wanted);
    if (log != null) {
      log.type(clean, unit, asked || wanted.isEmpty());
    }
    if (asked || wanted.isEmpty() && preferred && !isChosen) {
      chosen = number;
      isChosen = true;
    }
    return number;
  }

  @Override
  public boolean wants(int measure) {
    return isShown(measure) || logs(measure);
  }

  private boolean isShown(int measure) {
    return measure == chosen && (wanted.isEmpty() || isChosen);
  }

  /** Whether the log takes a measure: all, unless one was chosen or the order counts. */
  private boolean logs(int measure) {
    return log != null && (isShown(measure) || wanted.isEmpty() && !log.isOrdered());
  }

  @Override
  public boolean wantsOrder() {
    return log != null && log.isOrdered();
  }

  @Override
  public boolean wantsLabels() {
    return log != null;
  }

  @Override
  public void labels(List<Label> of) {
    if (log != null) {
      log.labels(of);
    }
  }

  @Override
  public void facts(ProfileFacts of) {
    if (log != null) {
      log.facts(of);
    }
  }

  @Override
  public int frame(NodeKind kind, String name, String module, Place place) {
    if (frames >= names.most()) {
      return NO_FRAME;
    }
    name(StackNames.text(kind, cut(name), cut(module)));
    return add(kind, cut(name), cut(module), place, null);
  }

  @Override
  public int owner(Owner of) {
    if (frames >= names.most()) {
      return NO_FRAME;
    }
    owners();
    Owner owner =
        new Owner(
            of.comm().isEmpty() ? "-" : cut(of.comm()),
            of.pid(),
            cut(of.thread()),
            of.tid(),
            cut(of.cgroup()),
            of.state());
    name(OwnerNames.text(owner));
    return add(NodeKind.PROCESS, owner.comm(), "", Place.NONE, owner);
  }

  private static String cut(String name) {
    return name.length() <= MAX_NAME ? name : name.substring(0, MAX_NAME) + "…";
  }

  @Override
  public void owners() {
    if (!owned) {
      owned = true;
      if (log != null) {
        log.owners();
      }
      mark(() -> tree.says(true));
    }
  }

  @Override
  public void stack(int measure, int[] stack, int shared, int depth, long value) {
    boolean sound = value >= 0 && depth <= StackLines.MAX_FRAMES;
    if (logs(measure) && sound && hasAll(stack, 0, depth)) {
      Objects.requireNonNull(log).stack(measure, stack, depth, value);
    }
    same = Math.min(same, shared);
    if (!isShown(measure)) {
      return;
    }
    if (!sound) {
      leaveOut(
          value == Unit.TOO_LARGE
              ? "its number is too large"
              : value < 0 ? "its number is negative" : StackLines.TOO_DEEP);
      return;
    }
    int from = Math.min(same, Math.min(lastDepth, depth));
    int differs = Arrays.mismatch(last, from, lastDepth, stack, from, depth);
    int common = differs < 0 ? depth : from + differs;
    if (!hasAll(stack, common, depth)) {
      mark(
          () -> {
            tally.begin();
            tally.leaveOut();
          });
      return;
    }
    IntColumn stacks = batch.stacks;
    stacks.add(common);
    stacks.add(depth - common);
    for (int i = common; i < depth; i++) {
      stacks.add(stack[i]);
    }
    batch.values.add(value);
    if (depth > last.length) {
      last = Arrays.copyOf(last, Math.max(depth, 2 * last.length));
    }
    System.arraycopy(stack, common, last, common, depth - common);
    lastDepth = depth;
    same = depth;
    if (stacks.size > BATCH || batch.nameBytes > BATCH_NAMES) {
      hand();
    }
  }

  private static boolean hasAll(int[] stack, int from, int to) {
    for (int i = from; i < to; i++) {
      if (stack[i] == NO_FRAME) {
        return false;
      }
    }
    return true;
  }

  @Override
  public void leaveOut(String reason) {
    mark(
        () -> {
          tally.begin();
          tally.refuse(reason);
        });
  }

  @Override
  public void note(String text) {
    mark(() -> tally.note(text));
  }

  private void mark(Runnable what) {
    if (batch.marks.size() >= BATCH) {
      hand();
    }
    batch.marks.add(what);
  }

  private void tell() {
    List<String> known = List.copyOf(measures);
    int shown = chosen;
    told = known.size();
    mark(() -> tally.measures(known, shown));
  }

  /** Hands on what was gathered. */
  private void hand() {
    if (told < measures.size() && (wanted.isEmpty() || isChosen)) {
      tell();
    }
    Batch full = batch;
    Unit unit = chosen < units.size() ? units.get(chosen) : Unit.whole("samples");
    folding.accept(
        () -> {
          fold(full, unit);
          full.clear();
          boolean unused = free.offer(full);
        });
    try {
      Batch next;
      do {
        next = free.poll(100, TimeUnit.MILLISECONDS);
      } while (next == null && !closed.getAsBoolean());
      batch = next == null ? new Batch() : next;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      batch = new Batch();
    }
  }

  /**
   * Hands on what is left.
   *
   * @return why there is nothing of what was wanted, for people; null if there is
   */
  @Nullable String end() {
    boolean missing = !wanted.isEmpty() && !isChosen;
    if (log != null) {
      log.prefer(chosen);
    }
    if (missing) {
      mark(() -> tally.measures(List.of(), 0));
    } else {
      tell();
    }
    hand();
    return missing
        ? "it has no sample type " + wanted + "; it has " + String.join(", ", measures)
        : null;
  }

  private void fold(Batch of, Unit unit) {
    of.marks.forEach(Runnable::run);
    tally.unit(unit.name());
    for (byte[] name : of.names) {
      functions.add(names.owners().intern(name));
    }
    int[] items = of.stacks.items;
    int at = 0;
    for (int stack = 0; stack < of.values.size; stack++) {
      nodes.size = items[at++];
      int more = items[at++];
      int node = nodes.size == 0 ? 0 : nodes.items[nodes.size - 1];
      for (int i = 0; i < more; i++) {
        node = tree.growNamed(node, functions.items[items[at++]]);
        nodes.add(node);
      }
      tally.begin();
      add(node, of.values.items[stack], unit.digits());
    }
  }

  private void add(int node, long value, int digits) {
    long whole = value;
    int behind = digits;
    while (behind > 0 && whole % 10 == 0) {
      whole /= 10;
      behind--;
    }
    tally.add(tree, node, whole, behind, column);
  }
}

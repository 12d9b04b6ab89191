package flametop.profile.format;

import flametop.array.IntColumn;
import flametop.profile.answer.FoldedStack;
import flametop.profile.answer.FoldedStack.Owner;
import flametop.profile.answer.NodeKind;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The samples of profiles with all that a graph does not show: places in sources, labels, every
 * measure, or the order of the samples. A conversion writes them. The threads that read profiles
 * fill the log one after the other; nobody reads the log meanwhile.
 *
 * <p>A sample is a node of a tree of frames. Labels are a frame of their own above all others, so
 * that samples with different labels stay apart.
 */
public final class SampleLog {
  /**
   * A frame.
   *
   * @param owner whom the frame stands for; null if it is a function
   */
  public record Frame(
      NodeKind kind, String name, String module, Place place, @Nullable Owner owner) {
    /** A frame of a stack that says no place and no owner. */
    public static Frame of(FoldedStack stack, int frame) {
      return new Frame(
          stack.kinds()[frame], stack.names()[frame], stack.modules()[frame], Place.NONE, null);
    }

    /** Whether the frame is inlined into the one that calls it, so that both are one location. */
    public boolean isWithin(Frame caller) {
      return kind == NodeKind.INLINED
          && caller.owner == null
          && caller.kind.isFrame()
          && (module.isEmpty() || module.equals(caller.module));
    }
  }

  /** A type of values. Values are whole numbers of parts of the unit. */
  public record Type(String name, Unit unit) {}

  /**
   * Takes samples.
   *
   * @param <E> how that may fail
   */
  @FunctionalInterface
  public interface Samples<E extends Exception> {
    /**
     * One sample.
     *
     * @param frames outermost first; the array is used again
     * @param values by type
     */
    void sample(List<StackSink.Label> labels, int[] frames, int depth, long[] values) throws E;
  }

  /** Most distinct sets of labels. */
  private static final int MOST_LABELS = 1 << 20;

  /** Memory of a frame, about, B. */
  private static final int FRAME_BYTES = 256;

  private final boolean ordered;
  private final int mostFrames =
      (int) Math.min(1 << 24, Runtime.getRuntime().maxMemory() / 10 / FRAME_BYTES);
  private final FrameTree tree;
  private final Numbering<Frame> frames = new Numbering<>();
  private final Numbering<List<StackSink.Label>> labels = new Numbering<>();
  private final List<Type> types = new ArrayList<>();
  private int preferred;
  private ProfileFacts facts = ProfileFacts.NONE;
  private int profiles;
  private boolean owned;
  private boolean overflows;

  /** Something was read that the log does not have. */
  private boolean misses;

  /** The stack that is handed on. */
  private int[] path = new int[64];

  /**
   * An empty log.
   *
   * @param ordered whether the samples of one type are kept in their order; else sums of all types
   */
  public SampleLog(boolean ordered) {
    this(
        ordered,
        (int) Math.min(1 << 26, Runtime.getRuntime().maxMemory() / 8 / 64),
        (int) Math.min(1 << 28, Runtime.getRuntime().maxMemory() / 10 / 32));
  }

  SampleLog(boolean ordered, int mostNodes, int mostSamples) {
    this.ordered = ordered;
    tree = new FrameTree(ordered, mostNodes, mostSamples);
    int unused = labels.of(List.of());
  }

  /** Says that something was read that the log does not take. */
  public void miss() {
    misses = true;
  }

  /** Whether the log has all that was read. */
  public boolean isWhole() {
    return !misses && !overflows && profiles > 0;
  }

  /** Whether there was no memory for all that was read. */
  public boolean overflows() {
    return overflows;
  }

  /** Whether the order of samples was wanted, and there was no memory for it. */
  public boolean lostOrder() {
    return ordered && !tree.isOrdered();
  }

  /** Whether the outermost frames are programs, threads or the like. */
  public boolean hasOwners() {
    return owned;
  }

  public List<Type> types() {
    return types;
  }

  /** The type to show first. */
  public int preferred() {
    return preferred;
  }

  /** What the profile says of itself; nothing of several, but for their comments. */
  public ProfileFacts facts() {
    return profiles == 1
        ? facts
        : new ProfileFacts(0, 0, facts.periodType(), facts.periodUnit(), 0, facts.comments());
  }

  /** All frames, by their numbers. */
  public List<Frame> frames() {
    return frames.all();
  }

  public Frame frame(int number) {
    return frames.get(number);
  }

  /** Goes through the samples, each with its one value; in order, if that is kept. */
  public <E extends Exception> void each(Samples<E> to) throws E {
    long[] values = new long[Math.max(1, types.size())];
    tree.each((node, measure, value) -> one(node, measure, value, values, to));
  }

  /** Goes through some samples of {@link #groups}. */
  public <E extends Exception> void each(int[] rows, Samples<E> to) throws E {
    long[] values = new long[Math.max(1, types.size())];
    for (int row : rows) {
      one(tree.rowNode(row), tree.rowMeasure(row), tree.rowValue(row), values, to);
    }
  }

  /** Goes through the stacks, each with the sums of all types. */
  public <E extends Exception> void sums(Samples<E> to) throws E {
    long[] sums = new long[Math.max(1, types.size())];
    int[] last = {-1};
    tree.each(
        (node, measure, value) -> {
          if (last[0] >= 0 && last[0] != node) {
            hand(last[0], sums, to);
            Arrays.fill(sums, 0);
          }
          last[0] = node;
          sums[measure] += value;
        });
    if (last[0] >= 0) {
      hand(last[0], sums, to);
    }
  }

  private <E extends Exception> void one(
      int node, int measure, long value, long[] values, Samples<E> to) throws E {
    values[measure] = value;
    hand(node, values, to);
    values[measure] = 0;
  }

  private <E extends Exception> void hand(int node, long[] values, Samples<E> to) throws E {
    path = tree.path(node, path);
    int depth = tree.depth(node);
    int label = depth > 0 && path[0] < 0 ? ~path[0] : 0;
    if (label > 0) {
      depth--;
      System.arraycopy(path, 1, path, 0, depth);
    }
    to.sample(labels.get(label), path, depth, values);
  }

  /**
   * The samples, in order, by what their outermost frame says.
   *
   * @param by what says so; is given null for a stack without frames
   * @return the numbers of the samples of each
   */
  public <K> Map<K, int[]> groups(Function<@Nullable Frame, K> by) {
    Map<K, IntColumn> groups = new LinkedHashMap<>();
    // By frame plus 1; the first are stacks without frames.
    IntColumn[] ofFirst = new IntColumn[frames.size() + 1];
    int rows = tree.rows();
    for (int row = 0; row < rows; row++) {
      int node = tree.rowNode(row);
      path = tree.path(node, path);
      int at = tree.depth(node) > 0 && path[0] < 0 ? 1 : 0;
      int first = at < tree.depth(node) ? path[at] + 1 : 0;
      if (ofFirst[first] == null) {
        K key = by.apply(first == 0 ? null : frames.get(first - 1));
        ofFirst[first] = groups.computeIfAbsent(key, none -> new IntColumn());
      }
      ofFirst[first].add(row);
    }
    Map<K, int[]> all = new LinkedHashMap<>();
    groups.forEach((key, members) -> all.put(key, members.toArray()));
    return all;
  }

  /** What one profile adds to the log; has the numbers of the sink that hands it on. */
  public final class Input {
    private final IntColumn ofFrames = new IntColumn();
    private final IntColumn ofTypes = new IntColumn();
    private int label;
    private int[] last = new int[64];
    private int lastDepth;
    private final IntColumn nodes = new IntColumn();

    /** Begins with a profile. */
    public Input() {
      profiles++;
    }

    /** Whether samples are kept in their order. */
    public boolean isOrdered() {
      return ordered;
    }

    /**
     * Takes a type.
     *
     * @param kept whether stacks of the type follow
     */
    public void type(String name, Unit unit, boolean kept) {
      if (!kept) {
        ofTypes.add(-1);
        return;
      }
      Type type = new Type(name, unit);
      int number = types.indexOf(type);
      if (number < 0) {
        types.add(type);
        number = types.size() - 1;
      }
      ofTypes.add(number);
    }

    /** Says which of the profile's types is shown. */
    public void prefer(int type) {
      preferred = type < ofTypes.size ? Math.max(0, ofTypes.items[type]) : preferred;
    }

    /** Takes the frame after the last one. */
    public void frame(NodeKind kind, String name, String module, Place place, @Nullable Owner of) {
      if (frames.size() >= mostFrames) {
        overflows = true;
        return;
      }
      ofFrames.add(frames.of(new Frame(kind, name, module, place, of)));
    }

    /** Says that outermost frames are no functions. */
    public void owners() {
      owned = true;
    }

    /** Takes the labels of the stacks that follow. */
    public void labels(List<StackSink.Label> of) {
      if (labels.size() >= MOST_LABELS) {
        overflows = true;
        return;
      }
      label = labels.of(of);
      lastDepth = 0;
    }

    /** Takes what the profile says of itself. */
    public void facts(ProfileFacts of) {
      facts =
          of.withComments(
              Stream.concat(facts.comments().stream(), of.comments().stream()).distinct().toList());
    }

    /** Takes a stack: see {@link StackSink#stack}. */
    public void stack(int type, int[] stack, int depth, long value) {
      if (overflows || ofTypes.items[type] < 0) {
        return;
      }
      int differs = Arrays.mismatch(last, 0, lastDepth, stack, 0, depth);
      int common = differs < 0 ? depth : Math.min(differs, lastDepth);
      int root = label == 0 ? FrameTree.ROOT : tree.child(FrameTree.ROOT, ~label);
      int node = common == 0 ? root : nodes.items[common - 1];
      for (int i = common; i < depth && node >= 0; i++) {
        node = tree.child(node, ofFrames.items[stack[i]]);
        nodes.set(i, node);
      }
      if (node < 0 || !tree.add(node, ofTypes.items[type], value)) {
        overflows = true;
        lastDepth = 0;
        return;
      }
      if (depth > last.length) {
        last = Arrays.copyOf(last, 2 * depth);
      }
      System.arraycopy(stack, common, last, common, depth - common);
      lastDepth = depth;
    }
  }
}

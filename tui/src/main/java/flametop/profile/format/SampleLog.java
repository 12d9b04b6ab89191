package flametop.profile.format;

import flametop.array.IntColumn;
import flametop.profile.answer.FoldedStack.Owner;
import flametop.profile.answer.NodeKind;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
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
      NodeKind kind, String name, String module, Place place, @Nullable Owner owner) {}

  /** A type of values. Values are whole numbers of parts of the unit. */
  public record Type(String name, Unit unit) {}

  /** Takes samples. */
  @FunctionalInterface
  public interface Samples {
    /**
     * One sample.
     *
     * @param frames outermost first; the array is used again
     * @param values by type
     */
    void sample(List<StackSink.Label> labels, int[] frames, int depth, long[] values);
  }

  /** Most distinct sets of labels. */
  private static final int MOST_LABELS = 1 << 20;

  /** Memory of a frame, about, B. */
  private static final int FRAME_BYTES = 256;

  private final boolean ordered;
  private final int mostFrames =
      (int) Math.min(1 << 24, Runtime.getRuntime().maxMemory() / 10 / FRAME_BYTES);
  private final FrameTree tree;
  private final Map<Frame, Integer> known = new HashMap<>();
  private final List<Frame> frames = new ArrayList<>();
  private final Map<List<StackSink.Label>, Integer> labelled = new LinkedHashMap<>();
  private final List<List<StackSink.Label>> labels = new ArrayList<>();
  private final List<Type> types = new ArrayList<>();
  private int preferred;
  private ProfileFacts facts = ProfileFacts.NONE;
  private int profiles;
  private boolean owned;
  private boolean overflows;

  /** Something was read that the log does not have. */
  private boolean misses;

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
    int unused = labels(List.of());
  }

  private int labels(List<StackSink.Label> of) {
    Integer number = labelled.putIfAbsent(of, labels.size());
    if (number == null) {
      labels.add(of);
      return labels.size() - 1;
    }
    return number;
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

  /** How many frames there are; they have the numbers below. */
  public int frames() {
    return frames.size();
  }

  public Frame frame(int number) {
    return frames.get(number);
  }

  /** Goes through the samples, each with its one value; in order, if that is kept. */
  public void each(Samples to) {
    long[] values = new long[Math.max(1, types.size())];
    int[][] path = {new int[64]};
    tree.each(
        (node, measure, value) -> {
          values[measure] = value;
          path[0] = hand(node, path[0], values, to);
          values[measure] = 0;
        });
  }

  /** Goes through the stacks, each with the sums of all types. */
  public void sums(Samples to) {
    long[] values = new long[Math.max(1, types.size())];
    int[][] path = {new int[64]};
    int[] last = {-1};
    tree.each(
        (node, measure, value) -> {
          if (last[0] >= 0 && last[0] != node) {
            path[0] = hand(last[0], path[0], values, to);
            Arrays.fill(values, 0);
          }
          last[0] = node;
          values[measure] += value;
        });
    if (last[0] >= 0) {
      int[] unused = hand(last[0], path[0], values, to);
    }
  }

  /**
   * The samples, in order, by what their outermost frame says.
   *
   * @param by what says so; is given null for a stack without frames
   * @return the numbers of the samples of each
   */
  public <K> Map<K, int[]> groups(Function<@Nullable Frame, K> by) {
    int rows = tree.rows();
    Map<K, Integer> numbers = new LinkedHashMap<>();
    IntColumn ofFirst = new IntColumn();
    IntColumn counts = new IntColumn();
    int[] of = new int[rows];
    int[] path = new int[64];
    for (int row = 0; row < rows; row++) {
      int node = tree.rowNode(row);
      path = tree.path(node, path);
      int at = tree.depth(node) > 0 && path[0] < 0 ? 1 : 0;
      int first = at < tree.depth(node) ? path[at] + 1 : 0;
      if (ofFirst.get(first) == 0) {
        K key = by.apply(first == 0 ? null : frames.get(first - 1));
        ofFirst.set(first, 1 + numbers.computeIfAbsent(key, none -> numbers.size()));
      }
      of[row] = ofFirst.items[first] - 1;
      counts.set(of[row], counts.get(of[row]) + 1);
    }
    Map<K, int[]> groups = new LinkedHashMap<>();
    List<int[]> byNumber = new ArrayList<>();
    numbers.forEach(
        (key, number) -> {
          int[] members = new int[counts.items[number]];
          groups.put(key, members);
          byNumber.add(members);
        });
    int[] filled = new int[byNumber.size()];
    for (int row = 0; row < rows; row++) {
      byNumber.get(of[row])[filled[of[row]]++] = row;
    }
    return groups;
  }

  /** Goes through some samples of {@link #groups}. */
  public void each(int[] rows, Samples to) {
    long[] values = new long[Math.max(1, types.size())];
    int[] path = new int[64];
    for (int row : rows) {
      values[tree.rowMeasure(row)] = tree.rowValue(row);
      path = hand(tree.rowNode(row), path, values, to);
      values[tree.rowMeasure(row)] = 0;
    }
  }

  private int[] hand(int node, int[] into, long[] values, Samples to) {
    int[] path = tree.path(node, into);
    int depth = tree.depth(node);
    int label = depth > 0 && path[0] < 0 ? ~path[0] : 0;
    if (label > 0) {
      depth--;
      System.arraycopy(path, 1, path, 0, depth);
    }
    to.sample(labels.get(label), path, depth, values);
    return path;
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
      Frame frame = new Frame(kind, name, module, place, of);
      Integer number = known.putIfAbsent(frame, frames.size());
      if (number == null) {
        frames.add(frame);
      }
      ofFrames.add(number == null ? frames.size() - 1 : number);
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
      label = SampleLog.this.labels(of);
      lastDepth = 0;
    }

    /** Takes what the profile says of itself. */
    public void facts(ProfileFacts of) {
      List<String> comments = new ArrayList<>(facts.comments());
      of.comments().stream().filter(line -> !comments.contains(line)).forEach(comments::add);
      facts =
          new ProfileFacts(
              of.beginNanos(),
              of.lengthNanos(),
              of.periodType(),
              of.periodUnit(),
              of.period(),
              List.copyOf(comments));
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

package flametop.profile.answer;

import flametop.sampler.State;
import org.jspecify.annotations.Nullable;

/**
 * The selected node in full.
 *
 * @param node where it is now: its number may change when its name comes or the shape does
 * @param path names from the root down to it
 * @param module file name of its module, or empty
 * @param guessed whether a walk found the frame only by the look of a word on the stack
 * @param processes how many processes have time in it; {@link #UNKNOWN} of one of very many that
 *     was just selected
 * @param ended how many of these have ended
 * @param pid the process, if it is only one; else 0
 * @param commandLine of that process, clean
 * @param filter what admits only what it is in; null if nothing does, as for the root
 * @param weight amount in the states shown
 * @param self amount of that in itself, in nothing that it calls
 * @param weightByState amounts by {@link flametop.sampler.State#ordinal()}, all states
 * @param certainty how sure the weight is; null if that is not known (yet), or does not apply
 * @param before what it had in the window before; null if that is not known (yet)
 */
public record Selection(
    long node,
    String[] path,
    NodeKind kind,
    String module,
    boolean guessed,
    int processes,
    int ended,
    int pid,
    String commandLine,
    Shape.@Nullable Filter filter,
    long weight,
    long self,
    long[] weightByState,
    @Nullable Certainty certainty,
    @Nullable Before before) {
  /** No node, before the first picture. */
  public static final Selection NONE =
      new Selection(-1, new String[0], NodeKind.ROOT, "", null, 0, 0);

  /** A node of a graph that knows neither processes nor states. */
  public Selection(
      long node,
      String[] path,
      NodeKind kind,
      String module,
      Shape.@Nullable Filter filter,
      long weight,
      long self) {
    this(
        node,
        path,
        kind,
        module,
        false,
        0,
        0,
        0,
        "",
        filter,
        weight,
        self,
        new long[State.values().length],
        null,
        null);
  }

  /** Not told yet: it is by the next picture of the same node. */
  public static final int UNKNOWN = -1;

  /**
   * The window before the one that is shown, as long as that.
   *
   * @param windowNanos how much of it there is
   * @param weight amount of the node then, in the states shown
   * @param total amount of the whole graph then
   */
  public record Before(long windowNanos, long weight, long total) {
    /** There is nothing to compare with: the root has no trend. */
    public static final Before NONE = new Before(0, 0, 0);
  }

  /**
   * How sure an amount is that samples placed.
   *
   * @param samples that saw the node, in the states shown
   * @param error standard error of the weight; 0 where the weight is exact
   */
  public record Certainty(long samples, long error) {}

  /** Whether no picture has told of any node. */
  @SuppressWarnings("ReferenceEquality") // the one value that stands for none
  public boolean isNone() {
    return this == NONE;
  }

  /**
   * The selection that a slice of a file's graph tells of a node that {@link GraphSlice#isWhole is
   * whole} in the slice.
   */
  public static Selection of(GraphSlice slice, int index) {
    long self = slice.weight()[index] - slice.hiddenWeight()[index];
    for (int i = index + 1; i < slice.size(); i++) {
      self -= slice.parent()[i] == index ? slice.weight()[i] : 0;
    }
    return new Selection(
        slice.node()[index],
        new String[] {slice.name()[index]},
        slice.kind()[index],
        "",
        null,
        slice.weight()[index],
        Math.max(0, self));
  }
}

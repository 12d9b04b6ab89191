package flametop.export;

import flametop.profile.answer.Extract;
import flametop.profile.answer.FoldedStack;
import flametop.profile.answer.Measure;
import flametop.profile.answer.NodeKind;
import flametop.profile.format.Numbering;
import flametop.profile.format.SampleLog.Frame;
import flametop.sampler.State;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Spliterators;
import java.util.Spliterators.AbstractSpliterator;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The stacks of an export: the same numbers in every format.
 *
 * @param measure of the values
 * @param stacks in whole units, in order of their names, no two with the same path; formats go
 *     through them as often as they need, and keep none
 * @param total sum of their values
 * @param decimals digits of the values that stand behind the point
 * @param ofFile whether the stacks were read from folded stacks: names stay as they stood there
 * @param exactTotal total that the kernel counted, in whole units; {@link Extract#NO_TOTAL} where
 *     the values are of no source of events
 */
public record StackExport(
    Provenance provenance,
    Measure measure,
    Iterable<FoldedStack> stacks,
    long total,
    int decimals,
    boolean ofFile,
    long exactTotal) {
  /** Values of no source of events. */
  public StackExport(
      Provenance provenance,
      Measure measure,
      Iterable<FoldedStack> stacks,
      long total,
      int decimals,
      boolean ofFile) {
    this(provenance, measure, stacks, total, decimals, ofFile, Extract.NO_TOTAL);
  }

  /**
   * Turns the profile's amounts into whole units. The rest of less than one goes on to the next
   * stack, so that every sum is right to one unit.
   *
   * @param measured amounts, in order of their names
   * @param exactTotal like {@link Extract#exactTotal}
   */
  public static StackExport of(
      Provenance provenance, Measure measure, Iterable<FoldedStack> measured, long exactTotal) {
    long total = 0;
    long samples = 0;
    for (FoldedStack stack : measured) {
      total += stack.value();
      for (FoldedStack.Share share : stack.shares()) {
        samples += share.samples();
      }
    }
    return new StackExport(
        samples == 0 ? provenance : provenance.withSamples(samples),
        measure,
        () -> Spliterators.iterator(new Converted(measured.iterator(), measure)),
        total / measure.parts(),
        0,
        false,
        exactTotal == Extract.NO_TOTAL ? exactTotal : exactTotal / measure.parts());
  }

  /** The same for values that no source of events counted. */
  public static StackExport of(
      Provenance provenance, Measure measure, Iterable<FoldedStack> measured) {
    return of(provenance, measure, measured, Extract.NO_TOTAL);
  }

  /** A value in the unit, as it is written. */
  String text(long value) {
    return text(value, decimals);
  }

  /**
   * {@code 12}, {@code 12.5}: as many digits behind the point as there are.
   *
   * @param value 0 or more
   * @param decimals digits of the value that stand behind the point
   */
  static String text(long value, int decimals) {
    return decimals == 0
        ? Long.toString(value)
        : BigDecimal.valueOf(value, decimals).stripTrailingZeros().toPlainString();
  }

  /**
   * Whether comms, processes or the like stand above the frames, as the first stack with a frame
   * tells. Events without a stack are of no owner: {@code [not sampled]} is all of their path.
   */
  boolean hasOwners() {
    for (FoldedStack stack : stacks) {
      NodeKind first = stack.kinds()[0];
      if (first.isOwner() || first.isFrame()) {
        return first.isOwner();
      }
    }
    return false;
  }

  /** Whose a stack is; one share of nobody's where that is not known. */
  static List<FoldedStack.Share> shares(FoldedStack stack) {
    return stack.shares().isEmpty()
        ? List.of(new FoldedStack.Share(0, "", 0, "", null, stack.value(), 0))
        : stack.shares();
  }

  /** The parts of a stack by state, each one share; first that of which no state is known. */
  static Map<@Nullable State, FoldedStack.Share> byState(FoldedStack stack) {
    Map<@Nullable State, FoldedStack.Share> parts =
        new TreeMap<>(Comparator.nullsFirst(Comparator.comparingInt(State::ordinal)));
    for (FoldedStack.Share share : shares(stack)) {
      if (share.value() > 0) {
        parts.merge(share.state(), share, FoldedStack.Share::plus);
      }
    }
    return parts;
  }

  /** The numbers of the frames of a stack, outermost first, without so many outermost ones. */
  static int[] path(FoldedStack stack, int left, Numbering<Frame> frames) {
    int[] path = new int[stack.names().length - left];
    for (int i = 0; i < path.length; i++) {
      path[i] = frames.of(Frame.of(stack, left + i));
    }
    return path;
  }

  /** A line that says what the outermost frames are. */
  static String firstFrame(boolean owners) {
    return "first frame: " + (owners ? "comm" : "function");
  }

  /** Whether there is no stack. */
  public boolean isEmpty() {
    return !stacks.iterator().hasNext();
  }

  /**
   * The size of the export, for people: {@code 1,234 stacks, 12.345 s of task time}.
   *
   * @param written how many stacks
   */
  public String describe(long written) {
    double whole = total / Math.pow(10, decimals);
    return Measure.grouped(written) + " stacks, " + measure.sum(whole, text(total));
  }

  private static final class Converted extends AbstractSpliterator<FoldedStack> {
    private final Iterator<FoldedStack> measured;
    private final long parts;
    private long rest;

    Converted(Iterator<FoldedStack> measured, Measure measure) {
      super(Long.MAX_VALUE, ORDERED);
      this.measured = measured;
      parts = measure.parts();
    }

    @Override
    public boolean tryAdvance(Consumer<? super FoldedStack> action) {
      while (measured.hasNext()) {
        FoldedStack stack = measured.next();
        List<FoldedStack.Share> shares = new ArrayList<>(stack.shares().size());
        long value = 0;
        if (stack.shares().isEmpty()) {
          value = whole(stack.value());
        }
        for (FoldedStack.Share share : stack.shares()) {
          long part = whole(share.value());
          if (part > 0) {
            shares.add(share.withValue(part));
            value += part;
          }
        }
        if (value > 0) {
          action.accept(
              new FoldedStack(stack.names(), stack.kinds(), stack.modules(), value, shares));
          return true;
        }
      }
      return false;
    }

    private long whole(long value) {
      rest += value;
      long whole = rest / parts;
      rest -= whole * parts;
      return whole;
    }
  }
}

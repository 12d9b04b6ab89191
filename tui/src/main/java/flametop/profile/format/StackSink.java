package flametop.profile.format;

import flametop.profile.answer.FoldedStack.Owner;
import flametop.profile.answer.NodeKind;
import java.util.List;

/**
 * Takes the stacks of a profile in the order in which a reader finds them. Measures and frames have
 * numbers, from 0 on, which the sink gives; a stack is made of such numbers.
 */
public interface StackSink {
  /**
   * A label of a sample.
   *
   * @param text empty if the value is a number
   * @param number 0 if the value is a text
   * @param unit of the number; empty if none is said
   */
  record Label(String key, String text, long number, String unit) {}

  /** No frame: there is no room for another. */
  int NO_FRAME = -1;

  /**
   * A type of values, by which the stacks of a profile count.
   *
   * @param name by which a user chooses the type
   * @param preferred whether the profile names this type as the one to show first
   * @return its number
   */
  int measure(String name, Unit unit, boolean preferred);

  /** Whether anybody looks at the stacks of a measure; else a reader need not make them. */
  boolean wants(int measure);

  /**
   * A frame.
   *
   * @param name as the profile has it, of any length
   * @param module of the frame: file name, or empty
   * @return its number; {@link #NO_FRAME} if there is no room
   */
  default int frame(NodeKind kind, String name, String module) {
    return frame(kind, name, module, Place.NONE);
  }

  /**
   * A frame of which the place in sources may be known. Frames that differ only there are one in a
   * graph.
   */
  int frame(NodeKind kind, String name, String module, Place place);

  /**
   * A frame that stands for an owner of stacks, outermost in each of these.
   *
   * @return its number; {@link #NO_FRAME} if there is no room
   */
  int owner(Owner of);

  /** Whether single samples count in their order: a reader that would hand on sums keeps them. */
  default boolean wantsOrder() {
    return false;
  }

  /** Whether anybody looks at {@link #labels} and {@link #facts}. */
  default boolean wantsLabels() {
    return false;
  }

  /** The labels of the stacks that follow, beside those that say an owner. */
  default void labels(List<Label> of) {}

  /** What the profile says of itself. */
  default void facts(ProfileFacts of) {}

  /** Says that the outermost frames are programs, threads or the like, and no functions. */
  void owners();

  /**
   * One stack.
   *
   * @param frames outermost first; a stack with {@link #NO_FRAME} is left out
   * @param shared at least so many first frames are those of the call before, for whatever measure
   * @param depth number of the frames
   * @param value in parts of the unit of the measure; a stack with one below 0 is left out
   */
  void stack(int measure, int[] frames, int shared, int depth, long value);

  /** Counts a stack that the reader left out. */
  void leaveOut(String reason);

  /** Says something about the profile that its reader should know; each text once. */
  void note(String text);

  /** Says how many there are of something, if there are any. */
  default void note(long count, String what) {
    if (count > 0) {
      note(count + " " + what);
    }
  }
}

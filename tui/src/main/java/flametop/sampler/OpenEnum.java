package flametop.sampler;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;

/**
 * A value that the stream gives as a number from 0 to 255. A later version of flametop may give a
 * number that this one does not know: that value is known by its number only, and all such values
 * share one {@link #ordinal()}.
 */
public abstract sealed class OpenEnum
    permits ModuleKind, NameSource, SourceState, SourceUnit, State, WalkEnd {
  private static final int NUMBERS = 256;

  private final int number;
  private final int known;
  private final String word;

  /**
   * A value.
   *
   * @param known how many numbers have a name: those below
   * @param word what people read
   */
  OpenEnum(int number, int known, String word) {
    this.number = number;
    this.known = known;
    this.word = word;
  }

  /** The values of all numbers: first the known ones, in their order, then others. */
  @SafeVarargs
  static <E extends OpenEnum> List<E> byNumber(IntFunction<E> other, E... known) {
    List<E> all = new ArrayList<>(NUMBERS);
    for (E value : known) {
      all.add(value);
    }
    while (all.size() < NUMBERS) {
      all.add(other.apply(all.size()));
    }
    return List.copyOf(all);
  }

  /**
   * The number in the stream; of a value that stands for all unknown ones, none of the stream's.
   */
  public final int number() {
    return number;
  }

  public final boolean isKnown() {
    return number < known;
  }

  /** The number of a known value; of all others, how many known ones there are. */
  public final int ordinal() {
    return Math.min(number, known);
  }

  final String word() {
    return word;
  }

  @Override
  public String toString() {
    return word;
  }
}

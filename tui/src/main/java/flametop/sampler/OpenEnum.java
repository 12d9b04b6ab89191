package flametop.sampler;

import java.util.ArrayList;
import java.util.List;

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

  /** What people read. */
  final String word;

  /**
   * A value.
   *
   * @param known numbers below have a name; as many as there may be while that is not known
   */
  OpenEnum(int number, int known, String word) {
    this.number = number;
    this.known = known;
    this.word = word;
  }

  /** Makes the values of a class, those that have a name first and in the order of the stream. */
  static final class Maker<E extends OpenEnum> {
    /** The constructor of a class. */
    interface Constructor<E> {
      E make(int number, int known, String word);
    }

    private final Constructor<E> constructor;
    private final List<E> all = new ArrayList<>(NUMBERS);

    Maker(Constructor<E> constructor) {
      this.constructor = constructor;
    }

    /** The value of the next number. */
    E next(String word) {
      E value = constructor.make(all.size(), NUMBERS, word);
      all.add(value);
      return value;
    }

    /** A value that stands for all numbers without a name; behind all that have one. */
    E other() {
      return constructor.make(NUMBERS, all.size(), "other");
    }

    /** The values of all numbers; those without a name have this word, and their number. */
    List<E> byNumber(String word) {
      int known = all.size();
      while (all.size() < NUMBERS) {
        all.add(constructor.make(all.size(), known, word + " " + all.size()));
      }
      return List.copyOf(all);
    }
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

  @Override
  public String toString() {
    return word;
  }
}

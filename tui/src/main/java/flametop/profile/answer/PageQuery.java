package flametop.profile.answer;

import org.jspecify.annotations.Nullable;

/** Asks for a {@link Page}; two that are equal ask for the same. */
public interface PageQuery {
  /** Whether the page, null if there is none, is of the kind that is asked for. */
  boolean isAnsweredBy(@Nullable Page page);

  /**
   * An order of the rows of a page.
   *
   * @param <O> the orders of that page
   */
  interface RowOrder<O> {
    /**
     * Returns this order if this order means something there, and else the order that the page
     * begins with.
     *
     * @param compared whether the rows are compared
     * @param states whether amounts are known by state
     */
    O in(boolean compared, boolean states);
  }
}

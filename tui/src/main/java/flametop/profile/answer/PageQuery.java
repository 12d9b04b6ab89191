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
    /** The same order; without a comparison, an order that means something without one. */
    O in(boolean compared);
  }
}

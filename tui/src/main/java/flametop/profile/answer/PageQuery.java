package flametop.profile.answer;

import org.jspecify.annotations.Nullable;

/** Asks for a {@link Page}; two that are equal ask for the same. */
public interface PageQuery {
  /** Whether the page, null if there is none, is of the kind that is asked for. */
  boolean isAnsweredBy(@Nullable Page page);
}

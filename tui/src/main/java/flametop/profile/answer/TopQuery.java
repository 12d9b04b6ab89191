package flametop.profile.answer;

import flametop.sampler.State;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Which functions a {@link TopReport} is to list.
 *
 * @param states whose time counts
 * @param order what comes first
 * @param rows so many, and if need be more, as far as {@code to}
 * @param to the row of this function is to be among them; null: no matter which
 * @param search only functions whose name matches; null for all
 */
public record TopQuery(
    StateSet states, Order order, int rows, @Nullable Function to, @Nullable Pattern search)
    implements PageQuery {
  @Override
  public boolean isAnsweredBy(@Nullable Page page) {
    return page instanceof TopReport;
  }

  /** The order of functions; all orders but the name begin with the largest amount. */
  public enum Order implements PageQuery.RowOrder<Order> {
    /** By the time on a CPU in the function itself. */
    CPU,
    /** By the amount in the function itself. */
    SELF,
    /** By the amount in the function and in its callees. */
    TOTAL,
    /** By the difference of {@link #SELF} from the baseline. */
    SELF_CHANGE,
    /** The same of {@link #TOTAL}. */
    TOTAL_CHANGE,
    /** By the part of the total that was in one state. */
    RUN,
    QUEUED,
    DISK,
    SLEEP,
    NAME;

    @Override
    public Order in(boolean compared, boolean states) {
      boolean means =
          switch (this) {
            // Compared are self and total.
            case CPU -> states && !compared;
            case SELF, TOTAL, NAME -> true;
            case SELF_CHANGE, TOTAL_CHANGE -> compared;
            case RUN, QUEUED, DISK, SLEEP -> states;
          };
      return means ? this : states && !compared ? CPU : SELF;
    }

    /** Whether rows are ordered by a change. */
    public boolean isOfChange() {
      return this == SELF_CHANGE || this == TOTAL_CHANGE;
    }

    /** The states of a total that is of one state only; null of the other orders. */
    public @Nullable StateSet states() {
      return switch (this) {
        case RUN -> StateSet.of(State.RUN);
        case QUEUED -> StateSet.of(State.QUEUED);
        case DISK -> StateSet.of(State.DISK);
        case SLEEP -> StateSet.of(State.SLEEP);
        case CPU, SELF, TOTAL, SELF_CHANGE, TOTAL_CHANGE, NAME -> null;
      };
    }
  }
}

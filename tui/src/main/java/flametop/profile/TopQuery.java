package flametop.profile;

import flametop.sampler.State;
import java.util.regex.Pattern;

/**
 * Which functions a {@link TopReport} is to list.
 *
 * @param windowNanos the last so many ns; {@link Long#MAX_VALUE}: all since the start
 * @param states whose time counts
 * @param order what comes first
 * @param rows at most so many
 * @param search only functions whose name matches; null for all
 */
public record TopQuery(long windowNanos, StateSet states, Order order, int rows, Pattern search)
    implements PageQuery {
  /** What functions are ordered by; all but the name begin with the most. */
  public enum Order {
    /** What is spent in the function itself. */
    SELF,
    /** Also in what it calls. */
    TOTAL,
    /** Of that, what was in one state. */
    RUN,
    QUEUED,
    DISK,
    SLEEP,
    NAME;

    /** The states of a total that is of one state only; null of the other orders. */
    StateSet states() {
      return switch (this) {
        case RUN -> StateSet.of(State.RUN);
        case QUEUED -> StateSet.of(State.QUEUED);
        case DISK -> StateSet.of(State.DISK);
        case SLEEP -> StateSet.of(State.SLEEP);
        case SELF, TOTAL, NAME -> null;
      };
    }
  }
}

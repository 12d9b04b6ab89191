package flametop.profile.answer;

import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Which tasks a {@link TasksReport} is to list.
 *
 * @param threads a row for each thread; else for each process
 * @param order heaviest first, or longest
 * @param rows at most so many
 * @param search only those whose comm or command line matches; null for all
 */
public record TasksQuery(boolean threads, Order order, int rows, @Nullable Pattern search)
    implements PageQuery {
  @Override
  public boolean isAnsweredBy(@Nullable Page page) {
    return page instanceof TasksReport;
  }

  /** The order of rows. */
  public enum Order implements PageQuery.RowOrder<Order> {
    CPU,
    /** By the difference of {@link #CPU} from the baseline. */
    CHANGE,
    QUEUED,
    AGE,
    PID;

    @Override
    public Order in(boolean compared) {
      return !compared && this == CHANGE ? CPU : this;
    }
  }
}

package flametop.profile.answer;

import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Which tasks a {@link TasksReport} is to list.
 *
 * @param threads a row for each thread; else for each process
 * @param ended those that ended within the window, too; a comparison has them always
 * @param order heaviest first, or longest
 * @param rows at most so many
 * @param search only those whose comm or command line matches; null for all
 */
public record TasksQuery(
    boolean threads, boolean ended, Order order, int rows, @Nullable Pattern search)
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
    /** By time in D. */
    DISK,
    AGE,
    PID;

    @Override
    public Order in(boolean compared, boolean states) {
      boolean means =
          switch (this) {
            case CHANGE -> compared;
            case QUEUED, DISK -> states;
            case CPU, AGE, PID -> true;
          };
      return means ? this : CPU;
    }
  }
}

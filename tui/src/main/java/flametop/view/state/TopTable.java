package flametop.view.state;

import flametop.profile.answer.Function;
import flametop.profile.answer.TopQuery;
import flametop.profile.answer.TopReport;
import java.util.List;

/**
 * The table of functions. Immutable.
 *
 * @param order what comes first
 * @param marked the function whose row is marked; null: it is marked by its place
 * @param place where that row was when it was marked
 * @param filter null if all are shown
 */
public record TopTable(TopQuery.Order order, Function marked, int place, Search filter) {
  static final TopTable FIRST = new TopTable(TopQuery.Order.SELF, null, 0, null);

  private static final TopQuery.Order[] ORDERS = TopQuery.Order.values();

  /**
   * The order after this one.
   *
   * @param states whether states are known
   * @param compared whether there is something to compare with
   */
  public TopQuery.Order next(boolean states, boolean compared) {
    TopQuery.Order next = order.in(compared);
    do {
      next = ORDERS[(next.ordinal() + 1) % ORDERS.length];
    } while (next != next.in(compared) || next.states() != null && !states);
    return next;
  }

  public TopTable by(TopQuery.Order value) {
    return new TopTable(value, marked, place, filter);
  }

  public TopTable withMarked(Function function, int at) {
    return new TopTable(order, function, at, filter);
  }

  TopTable withFilter(Search value) {
    return new TopTable(order, marked, place, value);
  }

  /** What the order is called. */
  public static String label(TopQuery.Order order) {
    return switch (order) {
      case SELF -> "self";
      case TOTAL -> "total";
      case RUN -> "time on a CPU";
      case QUEUED -> "time queued";
      case DISK -> "time in D";
      case SLEEP -> "time asleep";
      case SELF_CHANGE -> "change of self";
      case TOTAL_CHANGE -> "change of total";
      case NAME -> "name";
    };
  }

  /** Index of the marked row; what is gone leaves the mark where it was. */
  public int index(List<TopReport.Row> rows) {
    for (int i = 0; marked != null && i < rows.size(); i++) {
      if (rows.get(i).function().equals(marked)) {
        return i;
      }
    }
    return Math.min(place, rows.size() - 1);
  }
}

package flametop.view.state;

import flametop.profile.answer.ProcessRow;
import org.jspecify.annotations.Nullable;

/**
 * A row of a pick list.
 *
 * @param id number of the process, state or CPU
 * @param share of all; NaN if a share means nothing
 * @param about more words about the row
 * @param process the process or comm of the row; null for another kind of row
 */
public record PickRow(
    int id, String name, double share, String about, @Nullable ProcessRow process) {
  static PickRow of(ProcessRow row) {
    double share =
        row.total() < 0 ? Double.NaN : row.total() == 0 ? 0 : (double) row.weight() / row.total();
    return new PickRow(row.pid(), row.comm(), share, row.commandLine(), row);
  }
}

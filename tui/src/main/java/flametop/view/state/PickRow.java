package flametop.view.state;

import flametop.profile.answer.ProcessRow;

/**
 * A row of a pick list.
 *
 * @param id number of the process, state or CPU
 * @param share of all; NaN if that means nothing
 * @param about what else is said of it
 * @param process what it is made of; null if it is no process and no comm
 */
public record PickRow(int id, String name, double share, String about, ProcessRow process) {
  static PickRow of(ProcessRow row) {
    double share = row.total() <= 0 ? 0 : (double) row.weight() / row.total();
    return new PickRow(row.pid(), row.comm(), share, row.commandLine(), row);
  }
}

package flametop.profile;

import java.util.List;

/**
 * One CPU over the last refresh. Shares are of the elapsed time, 0 to 1; NaN where the kernel does
 * not count it.
 *
 * @param busy exact, by the idle tracepoint
 * @param user part of busy, by the CPU clock's samples
 * @param system part of busy
 * @param softirq part of busy
 * @param irq hard interrupts, by /proc/stat
 * @param steal by /proc/stat
 * @param waiting ns that tasks waited for this CPU, per second
 * @param wakeups idle exits per second
 * @param ownWakeups of them by flametop's CPU clock
 */
public record CpuRow(
    int cpu,
    double busy,
    double user,
    double system,
    double softirq,
    double irq,
    double steal,
    double waiting,
    double wakeups,
    double ownWakeups,
    List<IdleRow> idle) {
  /**
   * One idle state.
   *
   * @param residency requested, share of the elapsed time
   * @param entries per second
   * @param tooShort share of the stays that were shorter than the target residency; NaN if there
   *     was no stay
   * @param tooLong share of the stays for which a deeper state would have fitted; NaN if there was
   *     no stay
   */
  public record IdleRow(
      String name, double residency, double entries, double tooShort, double tooLong) {}
}

package flametop.profile.answer;

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
 * @param frequency mean, Hz
 * @param utilisation cycles that it ran, of those that passed at its frequency: above 1 where it
 *     ran faster than it says
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
    double frequency,
    double utilisation,
    List<IdleRow> idle) {
  /** Mean length of an idle stay, ns, in whatever state; NaN if none ended. */
  public double meanStay() {
    return wakeups > 0 ? (1 - busy) * 1e9 / wakeups : Double.NaN;
  }

  /**
   * One idle state.
   *
   * @param exitLatencyMicros µs to leave it
   * @param targetMicros shortest stay that pays, µs
   * @param residency requested, share of the elapsed time
   * @param entries per second
   * @param tooShort share of the stays that were shorter than the target residency; NaN if there
   *     was no stay
   * @param tooLong share of the stays for which a deeper state would have fitted; NaN if there was
   *     no stay
   */
  public record IdleRow(
      String name,
      long exitLatencyMicros,
      long targetMicros,
      double residency,
      double entries,
      double tooShort,
      double tooLong) {
    /** Mean length of a stay, ns; NaN if none ended. */
    public double meanStay() {
      return entries > 0 ? residency * 1e9 / entries : Double.NaN;
    }
  }
}

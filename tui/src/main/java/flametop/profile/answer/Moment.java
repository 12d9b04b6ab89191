package flametop.profile.answer;

/**
 * What bounds that which is shown.
 *
 * @param time ns, CLOCK_MONOTONIC: its end
 * @param coveredNanos how much before that it covers
 * @param agoNanos how long ago that was, of a range of the past; 0 of the present
 * @param baseline what the screen compares it with; null: nothing, or these are stacks alone
 * @param zoom names from the root to the zoomed node; the root alone for all
 * @param shape in force
 * @param passHz rate of passes
 * @param cpuHz rate of the CPU clock
 * @param losses until then
 * @param ended no more will come
 */
public record Moment(
    long time,
    long coveredNanos,
    long agoNanos,
    Snapshot.Baseline baseline,
    String[] zoom,
    Shape shape,
    int passHz,
    int cpuHz,
    Snapshot.Losses losses,
    boolean ended) {
  Moment withShape(Shape other) {
    return new Moment(
        time, coveredNanos, agoNanos, baseline, zoom, other, passHz, cpuHz, losses, ended);
  }
}

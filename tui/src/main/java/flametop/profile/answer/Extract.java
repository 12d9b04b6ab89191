package flametop.profile.answer;

import java.util.Optional;
import java.util.stream.StreamSupport;

/**
 * Stacks taken out of the profile, and what bounds them.
 *
 * @param measure of their values
 * @param stacks in order of their names; no two have the same path
 * @param exactTotal what the kernel counted, in parts of the measure; {@link #NO_TOTAL} where the
 *     values are of no source of events, or of a part of its time
 */
public record Extract(Scope scope, Measure measure, Iterable<FoldedStack> stacks, long exactTotal) {
  /** The values are of no source of events. */
  public static final long NO_TOTAL = -1;

  /**
   * The bounds of an export.
   *
   * @param time what it covers
   * @param agoNanos how long ago that was, of a range of the past; 0 of the present
   * @param baseline what the screen compares it with; empty: nothing, or these are stacks alone
   * @param zoom names from the root to the zoomed node; the root alone for all
   * @param shape in force
   * @param passHz rate of passes
   * @param cpuHz rate of the CPU clock
   * @param losses until then
   * @param source of events whose weights these are; empty: they are times of tasks
   * @param ended no more will come
   */
  public record Scope(
      TimeRange time,
      long agoNanos,
      Optional<TimeRange> baseline,
      String[] zoom,
      Shape shape,
      int passHz,
      int cpuHz,
      Snapshot.Losses losses,
      Optional<EventsReport.Row> source,
      boolean ended) {
    Scope withShape(Shape other) {
      return new Scope(time, agoNanos, baseline, zoom, other, passHz, cpuHz, losses, source, ended);
    }
  }

  /** The stacks of this extract that pass through a function. */
  public Extract through(Function function) {
    Shape shape = scope.shape().plus(new Shape.Through(function, false));
    return new Extract(
        scope.withShape(shape),
        measure,
        () ->
            StreamSupport.stream(stacks.spliterator(), false)
                .filter(stack -> stack.passesThrough(function))
                .iterator(),
        exactTotal);
  }
}

package flametop.profile.log;

/**
 * Two moments between which sums are read.
 *
 * @param headTime ns
 * @param tailTime ns
 * @param headTold the time up to which stays are told at the head, ns; before {@code headTime}
 *     where the head stands within a batch
 * @param tailTold like {@code headTold}, at the tail
 * @param headPass passes completed by then
 * @param tailPass passes completed by then
 * @param whole whether it is all since the start, so that the tail does not count
 */
public record Window(
    long headTime,
    long tailTime,
    long headTold,
    long tailTold,
    long headPass,
    long tailPass,
    boolean whole) {
  // A record's own are made when they are first used, which costs the first paint 20 ms.
  @Override
  public boolean equals(Object other) {
    return other == this
        || other instanceof Window w
            && headTime == w.headTime
            && tailTime == w.tailTime
            && headTold == w.headTold
            && tailTold == w.tailTold
            && headPass == w.headPass
            && tailPass == w.tailPass
            && whole == w.whole;
  }

  @Override
  public int hashCode() {
    return Long.hashCode(headTime + 31 * tailTime);
  }
}

package flametop.profile;

/**
 * What sums are read between.
 *
 * @param headTime ns
 * @param tailTime ns
 * @param headPass passes completed by then
 * @param tailPass passes completed by then
 * @param whole whether it is all since the start, so that the tail does not count
 */
record Window(long headTime, long tailTime, long headPass, long tailPass, boolean whole) {}

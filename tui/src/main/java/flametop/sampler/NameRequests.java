package flametop.sampler;

/**
 * Takes requests for names of frames; answers come as <i>name</i> and <i>place</i> records in a
 * later batch. Safe for any thread; never waits.
 */
@FunctionalInterface
public interface NameRequests {
  /**
   * Asks for the names of the first {@code count} frame ids of {@code frames}. The array is the
   * caller's again afterwards.
   */
  void ask(int[] frames, int count);

  /**
   * Asks for inlined functions and source lines, likewise: a process of its own reads debug
   * information for it. A recorded stream has what was asked for while it was made, and answers
   * nothing more.
   */
  default void askPlaces(int[] frames, int count) {}
}

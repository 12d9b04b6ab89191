package flametop.sampler;

/**
 * Takes requests for names of frames; answers come as <i>name</i> records in a later batch. Safe
 * for any thread; never waits.
 */
@FunctionalInterface
public interface NameRequests {
  /**
   * Asks for the names of the first {@code count} frame ids of {@code frames}. The array is the
   * caller's again afterwards.
   */
  void ask(int[] frames, int count);
}

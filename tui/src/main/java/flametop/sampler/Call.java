package flametop.sampler;

/**
 * One function at a place in the source. All text is clean.
 *
 * @param function empty where it is not known
 * @param file as the compiler was told; empty where it is not known
 * @param line that runs, or where the next function was called that is inlined here; 0: not known
 */
public record Call(String function, String file, int line) {}

package flametop.sampler;

import java.util.Locale;

/**
 * How far the debug files are that are looked for by build id.
 *
 * @param wanted all; without a server only those that are in the cache
 * @param cached those in the cache
 * @param fetched from a server
 * @param absent on all servers
 * @param failed not to be had: too large, too slow, not what was asked for
 * @param bytes that came over the network
 */
public record DebugFiles(
    long wanted, long cached, long fetched, long absent, long failed, long bytes) {
  /**
   * @param counters totals by {@link Counter#ordinal()}
   */
  public static DebugFiles of(long[] counters) {
    return new DebugFiles(
        counters[Counter.DEBUG_WANTED.ordinal()],
        counters[Counter.DEBUG_CACHED.ordinal()],
        counters[Counter.DEBUG_FETCHED.ordinal()],
        counters[Counter.DEBUG_ABSENT.ordinal()],
        counters[Counter.DEBUG_FAILED.ordinal()],
        counters[Counter.DEBUG_BYTES.ordinal()]);
  }

  /** How many are on their way, or their names are. */
  public long awaited() {
    return Math.max(0, wanted - cached - fetched - absent - failed);
  }

  /** The counts in a line; empty if no debug file was looked for. */
  @Override
  public String toString() {
    if (wanted == 0) {
      return "";
    }
    StringBuilder text = new StringBuilder();
    text.append(
        String.format(Locale.ROOT, "debuginfod: %,d of %,d fetched", fetched, wanted - cached));
    if (wanted == cached) {
      text.setLength("debuginfod:".length());
    }
    add(text, bytes >> 20, "%s %,d MiB");
    add(text, cached, "%s %,d from the cache");
    add(text, absent, "%s %,d not there");
    add(text, failed, "%s %,d failed");
    return text.toString();
  }

  private static void add(StringBuilder text, long count, String what) {
    if (count > 0) {
      String before = text.charAt(text.length() - 1) == ':' ? "" : ",";
      text.append(String.format(Locale.ROOT, what, before, count));
    }
  }
}

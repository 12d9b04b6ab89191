package flametop.sampler;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The facts in the header of the stream: about the host, about how sampling was started, and which
 * clocks the times are of. All text is clean. A fact that the stream does not give is empty or 0.
 */
public final class StreamFacts {
  /**
   * One idle state of a CPU.
   *
   * @param state its number
   * @param name as the driver names it
   * @param exitLatencyMicros µs to leave it
   * @param targetResidencyMicros shortest stay that pays, µs
   */
  public record IdleState(
      int state, String name, long exitLatencyMicros, long targetResidencyMicros) {}

  private static final int MAX_TEXT = 200;

  private final Map<String, String> values = new TreeMap<>();
  private final Map<Integer, List<IdleState>> idleStates = new TreeMap<>();
  private final int[] cpus;

  private StreamFacts(String text) {
    for (String line : text.split("\n")) {
      int equals = line.indexOf('=');
      if (equals > 0) {
        values.put(line.substring(0, equals), line.substring(equals + 1));
      }
    }
    values.forEach(this::idleState);
    idleStates.values().forEach(states -> states.sort((a, b) -> Integer.compare(a.state, b.state)));
    cpus =
        Arrays.stream(values.getOrDefault("cpus", "").split(","))
            .mapToLong(cpu -> number(cpu, -1))
            .filter(cpu -> cpu >= 0 && cpu <= Integer.MAX_VALUE)
            .mapToInt(cpu -> (int) cpu)
            .sorted()
            .toArray();
  }

  /**
   * Reads lines of {@code key=value}; ignores unknown facts and values that are not well-formed.
   */
  public static StreamFacts parse(String text) {
    return new StreamFacts(text);
  }

  /** Name of the host. */
  public String host() {
    return text("host");
  }

  /** Release of the kernel. */
  public String kernel() {
    return text("kernel");
  }

  public String arch() {
    return text("arch");
  }

  /** Numbers of the CPUs, ascending. */
  public int[] cpus() {
    return cpus.clone();
  }

  /** Passes a second, as started. */
  public int passHz() {
    return (int) number("hz.pass");
  }

  /** CPU clock, samples a second, as started; 0: off. */
  public int cpuHz() {
    return (int) number("hz.cpu");
  }

  /** {@code all}, {@code pid 1,2} or {@code tid 3}. */
  public String target() {
    return text("target");
  }

  /** Whether the target is all tasks. */
  public boolean wholeHost() {
    return target().isEmpty() || target().equals("all");
  }

  /** ns, CLOCK_MONOTONIC, at the same moment as {@link #wallNanos()}. */
  public long monotonicNanos() {
    return number("time.monotonic");
  }

  /** ns since 1970. */
  public long wallNanos() {
    return number("time.wall");
  }

  /** Idle states of a CPU, shallowest first; empty if it has none. */
  public List<IdleState> idleStates(int cpu) {
    return Collections.unmodifiableList(idleStates.getOrDefault(cpu, List.of()));
  }

  /** Why there are no idle states; empty if there are. */
  public String idleMissing() {
    return text("idle.missing");
  }

  /** Why there are no frequencies; empty if there are, or if the stream does not say. */
  public String frequencyMissing() {
    return text("frequency.missing");
  }

  /** Why no cycles are counted; empty if they are, or if the stream does not say. */
  public String cyclesMissing() {
    return text("cycles.missing");
  }

  /** Why time in D is not counted; empty if it is, or if the stream does not say. */
  public String blockedMissing() {
    return text("blocked.missing");
  }

  private void idleState(String key, String value) {
    String[] place = key.split("\\.");
    String[] fields = value.split("\\|");
    if (place.length == 3 && place[0].equals("idle") && fields.length == 3) {
      long cpu = number(place[1], -1);
      long state = number(place[2], -1);
      if (cpu >= 0
          && cpu < StreamReader.MAX_CPUS
          && state >= 0
          && state < StreamReader.MAX_IDLE_STATES) {
        idleStates
            .computeIfAbsent((int) cpu, c -> new ArrayList<>())
            .add(
                new IdleState(
                    (int) state,
                    CleanText.clean(fields[0], MAX_TEXT),
                    number(fields[1], 0),
                    number(fields[2], 0)));
      }
    }
  }

  private String text(String key) {
    return CleanText.clean(values.getOrDefault(key, ""), MAX_TEXT);
  }

  private long number(String key) {
    return number(values.getOrDefault(key, ""), 0);
  }

  private static long number(String text, long otherwise) {
    try {
      return Long.parseLong(text.trim());
    } catch (NumberFormatException e) {
      return otherwise;
    }
  }
}

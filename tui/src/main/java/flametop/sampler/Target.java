package flametop.sampler;

import java.util.List;
import java.util.stream.Collectors;

/**
 * What is sampled; fixed at the start.
 *
 * @param kind of the ids
 * @param ids processes or threads, as this process's pid namespace numbers them; empty for all
 *     tasks
 */
public record Target(Kind kind, List<Integer> ids) {
  /** An id that is given twice is one: each has a walk of its own, and would count twice. */
  public Target {
    ids = ids.stream().distinct().toList();
  }

  /** What is named by the ids. */
  public enum Kind {
    ALL,
    PROCESSES,
    THREADS
  }

  /** All tasks of the host. */
  public static final Target ALL = new Target(Kind.ALL, List.of());

  /** All tasks of these processes. */
  public static Target processes(List<Integer> tgids) {
    return new Target(Kind.PROCESSES, tgids);
  }

  /** These threads. */
  public static Target threads(List<Integer> tids) {
    return new Target(Kind.THREADS, tids);
  }

  /** As the stream's facts have it: {@code all}, {@code pid 1,2} or {@code tid 3}. */
  public String fact() {
    String list = ids.stream().map(String::valueOf).collect(Collectors.joining(","));
    return switch (kind) {
      case ALL -> "all";
      case PROCESSES -> "pid " + list;
      case THREADS -> "tid " + list;
    };
  }
}

package flametop.sampler;

import java.util.List;
import java.util.stream.Collectors;

/**
 * What is sampled; fixed at the start.
 *
 * @param kind of the ids
 * @param ids processes or threads, as this process's pid namespace numbers them; else empty
 * @param cgroup id of a control group in the default hierarchy, or 0
 */
public record Target(Kind kind, List<Integer> ids, long cgroup) {
  /** An id that is given twice is one: each has a walk of its own, and would count twice. */
  public Target {
    ids = ids.stream().distinct().toList();
  }

  /** What is named by the ids. */
  public enum Kind {
    ALL,
    PROCESSES,
    THREADS,
    CGROUP
  }

  /** All tasks of the host. */
  public static final Target ALL = new Target(Kind.ALL, List.of(), 0);

  /** All tasks of these processes. */
  public static Target processes(List<Integer> tgids) {
    return new Target(Kind.PROCESSES, tgids, 0);
  }

  /** These threads. */
  public static Target threads(List<Integer> tids) {
    return new Target(Kind.THREADS, tids, 0);
  }

  /** All tasks of this control group; not those of groups below it. */
  public static Target cgroup(long id) {
    return new Target(Kind.CGROUP, List.of(), id);
  }

  /**
   * As the stream's facts have it: {@code all}, {@code pid 1,2}, {@code tid 3} or {@code cgroup 4}.
   */
  public String fact() {
    String list = ids.stream().map(String::valueOf).collect(Collectors.joining(","));
    return switch (kind) {
      case ALL -> "all";
      case PROCESSES -> "pid " + list;
      case THREADS -> "tid " + list;
      case CGROUP -> "cgroup " + cgroup;
    };
  }
}

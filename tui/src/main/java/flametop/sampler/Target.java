package flametop.sampler;

import java.util.List;
import java.util.stream.Collectors;

/**
 * The target of sampling, fixed at the start.
 *
 * @param kind of the ids
 * @param ids processes or threads, as this process's pid namespace numbers them; else empty
 * @param cgroup id of a control group in the default hierarchy, or 0
 * @param path of that group from the root of the hierarchy, as the kernel names it; else empty
 */
public record Target(Kind kind, List<Integer> ids, long cgroup, String path) {
  private static final int MAX_PATH = 200;

  /** An id that is given twice is one: each has a walk of its own, and would count twice. */
  public Target {
    ids = ids.stream().distinct().toList();
  }

  /** The kind of things that the ids name. */
  public enum Kind {
    ALL,
    PROCESSES,
    THREADS,
    CGROUP
  }

  /** All tasks of the host. */
  public static final Target ALL = new Target(Kind.ALL, List.of(), 0, "");

  /** All tasks of these processes. */
  public static Target processes(List<Integer> tgids) {
    return new Target(Kind.PROCESSES, tgids, 0, "");
  }

  /** These threads. */
  public static Target threads(List<Integer> tids) {
    return new Target(Kind.THREADS, tids, 0, "");
  }

  /** All tasks of this control group and of groups below it. */
  public static Target cgroup(long id, String path) {
    return new Target(Kind.CGROUP, List.of(), id, path);
  }

  /**
   * The target in the facts of the stream, and for people: {@code all}, {@code pid 1,2}, {@code tid
   * 3} or {@code cgroup /a/b}.
   */
  public String fact() {
    return switch (kind) {
      case ALL -> "all";
      case PROCESSES -> "pid " + list();
      case THREADS -> "tid " + list();
      case CGROUP -> "cgroup " + CleanText.clean(path, MAX_PATH);
    };
  }

  /** The target for the native side: with the id of a control group. */
  String setting() {
    return kind == Kind.CGROUP
        ? "cgroup " + cgroup + " " + CleanText.clean(path, MAX_PATH)
        : fact();
  }

  private String list() {
    return ids.stream().map(String::valueOf).collect(Collectors.joining(","));
  }
}

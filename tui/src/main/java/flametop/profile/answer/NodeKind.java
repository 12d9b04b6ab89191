package flametop.profile.answer;

/**
 * The kind of thing that a node of the graph stands for; the kind decides the colour of the node.
 */
public enum NodeKind {
  ROOT,
  /** A process, or the processes of one comm. */
  PROCESS,
  /** A thread, or a CPU. */
  THREAD,
  /**
   * A control group by the last name of its path, below those that it is in; {@code /} is the root.
   */
  CGROUP,
  USER,
  KERNEL,
  JIT,
  INLINED,
  /** A frame without a name. */
  UNKNOWN,
  /**
   * Says why a stack is short, or that its pool has no sample: {@code [truncated]}, {@code [not
   * sampled]}, {@code [naming]}.
   */
  REASON,
  /** Stands for the stacks of threads that wait for work: {@code [idle]}. */
  IDLE;

  /** Whether it stands above the frames, and tells whose they are. */
  public boolean isOwner() {
    return this == PROCESS || this == THREAD || this == CGROUP;
  }

  /**
   * Whether the name of such a node is the name of a function, of which more than the end can be
   * left out.
   */
  public boolean isFrame() {
    return switch (this) {
      case USER, KERNEL, JIT, INLINED, UNKNOWN -> true;
      case ROOT, PROCESS, THREAD, CGROUP, REASON, IDLE -> false;
    };
  }
}

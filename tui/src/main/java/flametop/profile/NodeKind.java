package flametop.profile;

/** What a node of the graph stands for; decides its colour. */
public enum NodeKind {
  ROOT,
  /** A process, or the processes of one comm. */
  PROCESS,
  THREAD,
  USER,
  KERNEL,
  JIT,
  INLINED,
  /** A frame without a name. */
  UNKNOWN,
  /**
   * Says why a stack is short, or that it is not sampled yet: {@code [truncated]}, {@code [not
   * sampled]}, {@code [naming]}.
   */
  REASON
}

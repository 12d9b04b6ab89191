package flametop.profile.answer;

/** The nodes that stand between the root of a graph and its frames. */
public enum RootOrder {
  NONE,
  /** What the process runs: its comm, or for an interpreter its script or class. */
  SERVICE,
  PROCESS,
  /** The process that started it, as far up as it is a service of its own; then the service. */
  ANCESTOR,
  THREAD,
  /** The CPU that it ran on, as far as that is known. */
  CPU,
  /** The control groups from the outermost to the group of the process, then the service. */
  CGROUP,
  COMM
}

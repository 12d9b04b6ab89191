package flametop.profile;

/** What stands between the root of a graph and its frames. */
public enum RootOrder {
  NONE,
  COMM,
  PROCESS,
  THREAD,
  /** The CPU that it ran on, as far as that is known. */
  CPU
}

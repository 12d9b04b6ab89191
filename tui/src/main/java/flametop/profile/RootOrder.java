package flametop.profile;

/** What stands between the root of a graph and its frames. */
public enum RootOrder {
  NONE,
  COMM,
  PROCESS,
  THREAD
}

package flametop.profile;

/** What the nodes of call trees stand for, by number. */
interface Functions {
  /** All numbers are below this. */
  int functions();

  /** Clean, whole. */
  String name(int function);

  NodeKind kind(int function);

  /** File name of its module, or empty. */
  String module(int function);
}

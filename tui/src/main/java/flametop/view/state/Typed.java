package flametop.view.state;

/** The kinds of line that the user types, each with past lines of its own. */
public enum Typed {
  /** The texts of searches. */
  SEARCH,

  /** The texts that were typed into pick lists. */
  PICK,

  /** The specs of sources of events. */
  SPEC
}

package flametop.profile.tree;

import flametop.profile.answer.FoldedStack.Owner;
import flametop.profile.answer.Function;
import flametop.profile.answer.NodeKind;

/** The functions that the nodes of call trees stand for, by number. */
public interface Functions {
  /** All numbers are below this. */
  int functions();

  /** Clean, whole. */
  String name(int function);

  NodeKind kind(int function);

  /** File name of its module, or empty. */
  String module(int function);

  /** Whose stacks begin with a function, as far as its name says it. */
  default Owner owner(int function) {
    return Owner.of(name(function));
  }

  /** Whether a number is of this function. */
  default boolean is(int function, Function of) {
    return kind(function) == of.kind()
        && name(function).equals(of.name())
        && module(function).equals(of.module());
  }

  /** The number of a function; a new number for a new function. */
  int function(NodeKind kind, String module, String name);

  /** By name, then kind, then module. */
  default int compare(int a, int b) {
    if (a == b) {
      return 0;
    }
    int byName = name(a).compareTo(name(b));
    if (byName != 0) {
      return byName;
    }
    int byKind = kind(a).compareTo(kind(b));
    return byKind != 0 ? byKind : module(a).compareTo(module(b));
  }
}

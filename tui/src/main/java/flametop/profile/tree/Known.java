package flametop.profile.tree;

import java.util.BitSet;
import java.util.function.IntPredicate;

/** A question about functions, which is asked once of each number. */
abstract class Known implements IntPredicate {
  private final BitSet asked = new BitSet();
  private final BitSet yes = new BitSet();

  abstract boolean ask(int function);

  @Override
  public final boolean test(int function) {
    if (!asked.get(function)) {
      yes.set(function, ask(function));
      asked.set(function);
    }
    return yes.get(function);
  }

  /** Numbers of functions may mean others from now on. */
  void forget() {
    asked.clear();
  }
}

package flametop.profile.tree;

import flametop.array.IntColumn;
import java.util.function.IntPredicate;

/** A question about functions, which is asked once of each number. */
abstract class Known implements IntPredicate {
  private static final int NO = 1;
  private static final int YES = 2;

  /** By number of a function; 0 is not asked yet. */
  private final IntColumn answers = new IntColumn();

  abstract boolean ask(int function);

  @Override
  public final boolean test(int function) {
    int answer = answers.get(function);
    if (answer == 0) {
      answer = ask(function) ? YES : NO;
      answers.set(function, answer);
    }
    return answer == YES;
  }

  /** Numbers of functions may mean others from now on. */
  void forget() {
    answers.empty();
  }
}

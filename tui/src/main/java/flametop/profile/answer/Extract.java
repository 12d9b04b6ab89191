package flametop.profile.answer;

import java.util.ArrayList;
import java.util.List;

/**
 * Stacks taken out of the profile at a moment.
 *
 * @param stacks in order of their names; no two have the same path
 */
public record Extract(Moment moment, List<FoldedStack> stacks) {
  /** Of these stacks those that pass through a function. */
  public Extract through(Function function) {
    List<FoldedStack> kept = new ArrayList<>();
    for (FoldedStack stack : stacks) {
      for (int i = 0; i < stack.names().length; i++) {
        if (stack.names()[i].equals(function.name())
            && stack.modules()[i].equals(function.module())
            && stack.kinds()[i] == function.kind()) {
          kept.add(stack);
          break;
        }
      }
    }
    Shape shape = moment.shape().plus(new Shape.Through(function, false));
    return new Extract(moment.withShape(shape), List.copyOf(kept));
  }
}

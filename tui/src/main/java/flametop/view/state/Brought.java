package flametop.view.state;

import flametop.profile.answer.Function;
import org.jspecify.annotations.Nullable;

/**
 * The selected functions of the graph that went along to other views. A view that is shown once
 * more keeps its own selection, unless another function goes along. Immutable.
 *
 * @param toCallers the function that went to the view of callers last; null for none
 * @param toTop the function that went to the table of functions last; null for none
 * @param waits whether the table of functions waits for the name of a function
 */
record Brought(@Nullable Function toCallers, @Nullable Function toTop, boolean waits) {
  static final Brought NOTHING = new Brought(null, null, false);

  Brought toCallers(@Nullable Function function) {
    return new Brought(function, toTop, waits);
  }

  Brought toTop(Function function) {
    return new Brought(toCallers, function, false);
  }

  Brought waiting(boolean value) {
    return new Brought(toCallers, toTop, value);
  }
}

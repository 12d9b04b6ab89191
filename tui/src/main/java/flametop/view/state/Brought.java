package flametop.view.state;

import flametop.profile.answer.Function;
import org.jspecify.annotations.Nullable;

/**
 * The selected functions of the graph that went along to other views. A view that is shown once
 * more keeps its own selection, unless another function goes along. Immutable.
 *
 * @param toCallers the function that went to the view of callers last; null for none
 * @param toTop the function that went to the table of functions last; null for none
 * @param waits whether a function is to go to the table of functions when the table has its rows
 * @param next that function; null as long as its name is not known
 */
record Brought(
    @Nullable Function toCallers,
    @Nullable Function toTop,
    boolean waits,
    @Nullable Function next) {
  static final Brought NOTHING = new Brought(null, null, false, null);

  Brought toCallers(@Nullable Function function) {
    return new Brought(function, toTop, waits, next);
  }

  Brought toTop(Function function) {
    return new Brought(toCallers, function, false, null);
  }

  Brought bringing(@Nullable Function function) {
    return new Brought(toCallers, toTop, true, function);
  }

  Brought notBringing() {
    return new Brought(toCallers, toTop, false, null);
  }
}

package flametop.export;

import flametop.profile.answer.FoldedStack;
import flametop.profile.answer.NodeKind;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Numbers functions from 0 on, in the order in which they come. */
final class FunctionTable {
  /** The function that frames of one kind, module and name share. */
  record Function(NodeKind kind, String module, String name) {}

  private final Map<Function, Integer> known = new HashMap<>();
  private final List<Function> functions = new ArrayList<>();

  /** The number of a frame's function. */
  int of(FoldedStack stack, int frame) {
    Function function =
        new Function(stack.kinds()[frame], stack.modules()[frame], stack.names()[frame]);
    Integer number = known.putIfAbsent(function, functions.size());
    if (number == null) {
      functions.add(function);
      return functions.size() - 1;
    }
    return number;
  }

  /** Whether a frame is inlined into the one before, so that both are one location. */
  boolean isInlinedAt(FoldedStack stack, int frame) {
    return stack.kinds()[frame] == NodeKind.INLINED
        && frame > 0
        && stack.kinds()[frame - 1].isFrame()
        && (stack.modules()[frame].isEmpty()
            || stack.modules()[frame].equals(stack.modules()[frame - 1]));
  }

  int size() {
    return functions.size();
  }

  Function get(int number) {
    return functions.get(number);
  }
}

package flametop.profile.log;

import flametop.array.IntColumn;
import flametop.profile.answer.Function;
import flametop.profile.answer.NodeKind;
import flametop.profile.tree.Functions;
import flametop.profile.tree.Slots;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Functions by number, each distinct one once. A number is given anew once nothing refers to it.
 */
abstract class InternedFunctions implements Functions {
  /** By number; null of a number that is free. */
  private final List<Function> functions = new ArrayList<>();

  private final IntColumn free = new IntColumn();
  private final Map<Function, Integer> known = new HashMap<>();
  private long made;

  @Override
  public final int function(NodeKind kind, String module, String name) {
    Function function = new Function(kind, module, name);
    Integer found = known.get(function);
    if (found != null) {
      return found;
    }
    int number = free.size > 0 ? free.pop() : functions.size();
    Slots.put(functions, number, function);
    made++;
    known.put(function, number);
    return number;
  }

  @Override
  public final int functions() {
    return functions.size();
  }

  /** The functions that there are now, for another thread. */
  public final Functions held() {
    InternedFunctions held = new InternedFunctions() {};
    held.functions.addAll(functions);
    return held;
  }

  final Function get(int number) {
    return functions.get(number);
  }

  @Override
  public final NodeKind kind(int function) {
    return get(function).kind();
  }

  @Override
  public final String module(int function) {
    return get(function).module();
  }

  @Override
  public final String name(int function) {
    return get(function).name();
  }

  /** How many functions are kept. */
  final int kept() {
    return known.size();
  }

  /** How many functions there ever were. */
  final long functionsMade() {
    return made;
  }

  /** Frees the numbers of all functions but some. */
  final void free(BitSet kept) {
    for (int number = 0; number < functions.size(); number++) {
      if (get(number) != null && !kept.get(number)) {
        known.remove(get(number));
        functions.set(number, null);
        free.add(number);
      }
    }
  }
}

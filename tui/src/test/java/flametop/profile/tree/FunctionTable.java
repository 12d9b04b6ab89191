package flametop.profile.tree;

import flametop.profile.answer.Function;
import flametop.profile.answer.NodeKind;
import java.util.ArrayList;
import java.util.List;

/** Functions by number, in the order in which they came. */
final class FunctionTable implements Functions {
  final List<Function> functions = new ArrayList<>();

  @Override
  public int functions() {
    return functions.size();
  }

  @Override
  public String name(int function) {
    return functions.get(function).name();
  }

  @Override
  public NodeKind kind(int function) {
    return functions.get(function).kind();
  }

  @Override
  public String module(int function) {
    return functions.get(function).module();
  }

  @Override
  public int function(NodeKind kind, String module, String name) {
    Function function = new Function(kind, module, name);
    if (!functions.contains(function)) {
      functions.add(function);
    }
    return functions.indexOf(function);
  }
}

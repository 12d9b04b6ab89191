package flametop.profile.live;

import flametop.profile.answer.Function;
import flametop.profile.answer.NodeKind;
import flametop.profile.log.Stacks;
import flametop.profile.tree.Functions;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The names that some functions have now, for another thread. */
final class HeldNames implements Functions {
  private final Functions from;
  private @Nullable Function[] held;

  HeldNames(Stacks from) {
    this.from = from;
    held = new Function[from.functions()];
  }

  /** Takes the names of a function. */
  void hold(int function) {
    if (function >= held.length) {
      held = Arrays.copyOf(held, from.functions());
    }
    if (held[function] == null) {
      held[function] =
          new Function(from.kind(function), from.module(function), from.name(function));
    }
  }

  private Function of(int function) {
    return Objects.requireNonNull(held[function]);
  }

  @Override
  public int functions() {
    return held.length;
  }

  @Override
  public String name(int function) {
    return of(function).name();
  }

  @Override
  public NodeKind kind(int function) {
    return of(function).kind();
  }

  @Override
  public String module(int function) {
    return of(function).module();
  }

  @Override
  public int function(NodeKind kind, String module, String name) {
    throw new UnsupportedOperationException();
  }
}

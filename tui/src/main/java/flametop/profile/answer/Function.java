package flametop.profile.answer;

/**
 * The function that a node of a graph stands for.
 *
 * @param module file name of its module, or empty
 * @param name clean, whole
 */
public record Function(NodeKind kind, String module, String name) {
  // A record's own are made when they are first used, which costs the first paint 20 ms.
  @Override
  public boolean equals(Object other) {
    return other instanceof Function f
        && f.kind == kind
        && f.name.equals(name)
        && f.module.equals(module);
  }

  @Override
  public int hashCode() {
    return (name.hashCode() * 31 + module.hashCode()) * 31 + kind.ordinal();
  }
}

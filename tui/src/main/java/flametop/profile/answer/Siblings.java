package flametop.profile.answer;

/**
 * Neighbours on one node, in the order of their names.
 *
 * @param first number of the first of them
 * @param last of the last of them
 */
public record Siblings(long first, long last) {
  // A record's own are made when they are first used, which costs a key.
  @Override
  public boolean equals(Object other) {
    return other instanceof Siblings s && first == s.first && last == s.last;
  }

  @Override
  public int hashCode() {
    return Long.hashCode(first) ^ Long.hashCode(31 * last);
  }
}

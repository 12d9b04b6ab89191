package flametop.profile.log;

import java.util.Set;

/** Sets of names, each told as a text. */
final class Words {
  private Words() {}

  /** The words of a text; none of an empty one. */
  static Set<String> of(String text) {
    return text.isEmpty() ? Set.of() : Set.of(text.strip().split("\\s+"));
  }

  /** The names of a text, which may hold spaces, with a comma between two of them. */
  static Set<String> listed(String text) {
    return Set.of(text.strip().split(",\\s+"));
  }
}

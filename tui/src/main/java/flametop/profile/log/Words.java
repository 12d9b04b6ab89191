package flametop.profile.log;

import java.util.Set;

/** Sets of names, each told as a text. */
final class Words {
  private Words() {}

  /** The words of a text. */
  static Set<String> of(String text) {
    return Set.of(text.strip().split("\\s+"));
  }

  /** The names of a text, which may hold spaces, with a comma between two of them. */
  static Set<String> listed(String text) {
    return Set.of(text.strip().split(",\\s+"));
  }
}

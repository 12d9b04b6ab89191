package flametop.profile.format;

import flametop.profile.answer.NodeKind;

/**
 * The kind of a frame in formats that have no word for it: flametop writes the kind as a mark
 * behind a second name of the frame, which other programs do not show.
 */
public final class FrameMark {
  private FrameMark() {}

  /** The mark of a kind; empty if the kind needs none. */
  public static String of(NodeKind kind) {
    return switch (kind) {
      case KERNEL -> "_[k]";
      case JIT -> "_[j]";
      case INLINED -> "_[i]";
      case PYTHON -> "_[p]";
      case PHP -> "_[h]";
      case RUBY -> "_[r]";
      default -> "";
    };
  }

  /** The kind that a marked name says; {@link NodeKind#USER} if it says none. */
  static NodeKind kind(String marked, String name) {
    if (marked.length() == name.length() + 4 && marked.startsWith(name)) {
      for (NodeKind kind : NodeKind.values()) {
        if (!of(kind).isEmpty() && marked.endsWith(of(kind))) {
          return kind;
        }
      }
    }
    return NodeKind.USER;
  }
}

package flametop.profile.file;

/** Lines of stacks, in pieces. */
public final class StackLinesFuzz {
  private static final int MOST_NAMES = 1 << 10;

  private StackLinesFuzz() {}

  /** The first byte says how long the pieces are. */
  public static void fuzzerTestOneInput(byte[] bytes) {
    if (bytes.length == 0) {
      return;
    }
    int piece = 1 + Byte.toUnsignedInt(bytes[0]);
    StackTree tree = new StackTree(null, MOST_NAMES);
    StackLines lines =
        new StackLines(new StackNames(1 << 16, MOST_NAMES), tree, StackTree.NOW, piece % 2 == 0);
    for (int from = 1; from < bytes.length; from += piece) {
      lines.fold(bytes, from, Math.min(bytes.length, from + piece));
    }
    tree.sumUp();
    if (lines.stacks() > lines.lines() || lines.bad() > lines.lines()) {
      throw new IllegalStateException(lines.stacks() + " of " + lines.lines());
    }
  }
}

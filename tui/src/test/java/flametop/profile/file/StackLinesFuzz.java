package flametop.profile.file;

import java.util.Arrays;

/** Lines of stacks, a few at a time. */
public final class StackLinesFuzz {
  private static final int MOST_NAMES = 1 << 10;

  private StackLinesFuzz() {}

  /** The first byte says how long the pieces are at least, which are of whole lines. */
  public static void fuzzerTestOneInput(byte[] bytes) {
    if (bytes.length == 0) {
      return;
    }
    byte[] text = Arrays.copyOf(bytes, bytes.length + 1);
    text[bytes.length] = '\n';
    int piece = Byte.toUnsignedInt(bytes[0]);
    StackTree tree = new StackTree(null, MOST_NAMES);
    StackLines lines =
        new StackLines(new StackNames(1 << 16, MOST_NAMES), tree, StackTree.NOW, piece % 2 == 0);
    for (int from = 1; from < text.length; ) {
      int to = Math.min(text.length - 1, from + piece);
      while (text[to] != '\n') {
        to++;
      }
      lines.fold(text, from, to + 1);
      from = to + 1;
    }
    tree.sumUp();
    if (lines.tally().stacks() > lines.tally().lines()
        || lines.tally().bad() > lines.tally().lines()) {
      throw new IllegalStateException(lines.tally().stacks() + " of " + lines.tally().lines());
    }
  }
}

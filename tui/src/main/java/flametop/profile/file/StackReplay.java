package flametop.profile.file;

import flametop.profile.answer.FoldedStack;
import java.io.Closeable;
import java.io.IOException;
import java.util.function.Consumer;

/** Makes stacks of a file of another format. Their values count µs. */
public interface StackReplay extends Closeable {
  /**
   * Makes the stacks, and hands them on in the order of their names; waits as long as that takes.
   *
   * @throws IOException with a line for people, after those stacks that could be made
   */
  void read(Consumer<FoldedStack> to) throws IOException;

  @Override
  void close();
}

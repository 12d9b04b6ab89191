package flametop.export;

import flametop.profile.ComparedStack;
import flametop.profile.FoldedStack;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;

/**
 * Writes the stacks of files as folded stacks again: {@code frame;frame 12}, or with two numbers,
 * before and now, as those who draw differences read them.
 */
public final class ComparedStacks {
  private ComparedStacks() {}

  /** Writes what is now, and flushes it. */
  public static FoldedStacks.Written writeNow(OutputStream out, Iterable<ComparedStack> stacks)
      throws IOException {
    return write(out, stacks, false, 1);
  }

  /**
   * Writes both, and flushes them.
   *
   * @param scale what the first number is multiplied by
   */
  public static FoldedStacks.Written writeBoth(
      OutputStream out, Iterable<ComparedStack> stacks, double scale) throws IOException {
    return write(out, stacks, true, scale);
  }

  private static FoldedStacks.Written write(
      OutputStream out, Iterable<ComparedStack> stacks, boolean both, double scale)
      throws IOException {
    Writer writer =
        new BufferedWriter(new OutputStreamWriter(out, StandardCharsets.UTF_8), 1 << 16);
    long lines = 0;
    long total = 0;
    for (ComparedStack stack : stacks) {
      if (!both && stack.now() == 0) {
        continue;
      }
      FoldedStacks.line(writer, new FoldedStack(stack.names(), stack.kinds(), stack.now()));
      if (both) {
        writer.append(' ').append(Long.toString(Math.round(stack.before() * scale)));
      }
      writer.append(' ').append(Long.toString(stack.now())).append('\n');
      lines++;
      total += stack.now();
    }
    writer.flush();
    return new FoldedStacks.Written(lines, total);
  }
}

package flametop.export;

import flametop.profile.ComparedStack;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;

/**
 * Writes compared stacks as folded stacks with two numbers, before and now, as those who draw
 * differences read them.
 */
public final class ComparedStacks {
  private ComparedStacks() {}

  /**
   * Writes them, and flushes.
   *
   * @param scale what the first number is multiplied by
   * @return how many
   */
  public static long write(OutputStream out, Iterable<ComparedStack> stacks, double scale)
      throws IOException {
    Writer writer =
        new BufferedWriter(new OutputStreamWriter(out, StandardCharsets.UTF_8), 1 << 16);
    long lines = 0;
    for (ComparedStack stack : stacks) {
      FoldedWriter.line(writer, stack.names(), stack.kinds());
      writer.append(' ').append(Long.toString(Math.round(stack.before() * scale)));
      writer.append(' ').append(Long.toString(stack.now())).append('\n');
      lines++;
    }
    writer.flush();
    return lines;
  }
}

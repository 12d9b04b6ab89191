package flametop.export;

import flametop.profile.answer.FoldedStack;
import flametop.profile.tree.HeldStacks;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;

/**
 * Writes compared stacks as folded stacks with two numbers, before and now, as programs that draw
 * differences read them.
 */
public final class ComparedStacks {
  private ComparedStacks() {}

  /**
   * Writes the stacks, and flushes.
   *
   * @param scale of the first numbers
   * @return how many stacks
   */
  public static long write(OutputStream out, HeldStacks stacks, Scale scale) throws IOException {
    int decimals = stacks.decimals();
    boolean brought = scale.from != scale.to && scale.from > 0;
    long parts = BigInteger.TEN.pow(decimals).longValueExact();
    Writer writer =
        new BufferedWriter(new OutputStreamWriter(out, StandardCharsets.UTF_8), 1 << 16);
    long lines = 0;
    for (FoldedStack stack : stacks) {
      FoldedWriter.line(writer, stack.names(), stack.kinds(), false);
      String before =
          brought
              ? Long.toString(scale.bring(stack.before()) / parts)
              : StackExport.text(stack.before(), decimals);
      writer.append(' ').append(before);
      writer.append(' ').append(StackExport.text(stack.value(), decimals)).append('\n');
      lines++;
    }
    writer.flush();
    return lines;
  }

  /**
   * The factor {@code to / from} of the first numbers. A number that is brought to another total
   * loses its decimals, as with difffolded.pl; where the totals are equal, or nothing was counted
   * before, all numbers stay as they are.
   */
  public record Scale(long from, long to) {
    /** Leaves all numbers as they are. */
    public static final Scale NONE = new Scale(1, 1);

    /** Scales one number exactly, also where the product has more digits than a long. */
    private long bring(long before) {
      return Math.multiplyHigh(before, to) == 0 && before * to >= 0
          ? before * to / from
          : BigInteger.valueOf(before)
              .multiply(BigInteger.valueOf(to))
              .divide(BigInteger.valueOf(from))
              .longValueExact();
    }
  }
}

package flametop.export;

import flametop.profile.answer.FoldedStack;
import flametop.profile.file.HeldStacks;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.math.BigInteger;
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
   * @param totals of before and now, to the second of which the first numbers are brought, each
   *     without what is less than one, as difffolded.pl does; null: they stay
   * @return how many
   */
  public static long write(OutputStream out, HeldStacks stacks, long[] totals) throws IOException {
    int decimals = stacks.decimals();
    boolean brought = totals != null && totals[0] != totals[1] && totals[0] > 0;
    long parts = BigInteger.TEN.pow(decimals).longValueExact();
    Writer writer =
        new BufferedWriter(new OutputStreamWriter(out, StandardCharsets.UTF_8), 1 << 16);
    long lines = 0;
    for (FoldedStack stack : stacks) {
      FoldedWriter.line(writer, stack.names(), stack.kinds(), false);
      String before =
          brought
              ? Long.toString(brought(stack.before(), totals) / parts)
              : Decimal.text(stack.before(), decimals);
      writer.append(' ').append(before);
      writer.append(' ').append(Decimal.text(stack.value(), decimals)).append('\n');
      lines++;
    }
    writer.flush();
    return lines;
  }

  /** Exactly, also where the product has more digits than a number. */
  private static long brought(long before, long[] totals) {
    return Math.multiplyHigh(before, totals[1]) == 0 && before * totals[1] >= 0
        ? before * totals[1] / totals[0]
        : BigInteger.valueOf(before)
            .multiply(BigInteger.valueOf(totals[1]))
            .divide(BigInteger.valueOf(totals[0]))
            .longValueExact();
  }
}

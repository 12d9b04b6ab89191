package flametop.export;

import flametop.profile.format.SampleLog;
import flametop.profile.format.Unit;
import java.io.BufferedOutputStream;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;

/**
 * The samples of profiles of other programs, with what a graph of them does not show, for the
 * formats that can hold that.
 *
 * @param by the profiles of a file of speedscope
 */
public record SampleExport(Provenance provenance, SampleLog log, By by) {
  /** For what a file of speedscope has a profile each. */
  public enum By {
    /** Each thread; the time of all its states. */
    THREAD,
    /** Each thread in one state. */
    STATE,
    /** Each process. */
    PROCESS,
    /** All: one profile, in which owners are the outermost frames. */
    NONE
  }

  /** Whether a format can hold more than {@link StackExport} has. */
  public static boolean suits(StackFormat format) {
    return format == StackFormat.PPROF || format == StackFormat.SPEEDSCOPE;
  }

  /**
   * Writes the samples to a stream, and flushes the stream.
   *
   * @return how many there are
   */
  public long write(StackFormat format, OutputStream out) throws IOException {
    BufferedOutputStream bytes = new BufferedOutputStream(out, 1 << 16);
    Writer text = new BufferedWriter(new OutputStreamWriter(bytes, StandardCharsets.UTF_8));
    long samples =
        switch (format) {
          case PPROF -> PprofSamples.write(this, bytes);
          case SPEEDSCOPE -> SpeedscopeSamples.write(this, text);
          default -> throw new IllegalArgumentException(format + " holds stacks only");
        };
    text.flush();
    return samples;
  }

  /** By type: how many digits of its unit stand behind the point in any value. */
  int[] decimals() {
    int[] decimals = new int[log.types().size()];
    log.each(
        (labels, frames, depth, values) -> {
          for (int i = 0; i < decimals.length; i++) {
            int digits = log.types().get(i).unit().digits();
            long rest = values[i];
            while (digits > decimals[i] && rest % 10 == 0) {
              rest /= 10;
              digits--;
            }
            decimals[i] = Math.max(decimals[i], rest == 0 ? 0 : digits);
          }
        });
    return decimals;
  }

  /** A value with so many digits behind the point, as a whole number. */
  static long whole(Unit unit, long value, int decimals) {
    return value / (long) Math.pow(10, unit.digits() - decimals);
  }

  /** The unit as pprof and speedscope name it. */
  static String unit(Unit of, String countName) {
    return switch (of.name()) {
      case "us" -> "microseconds";
      case "ns" -> "nanoseconds";
      case "bytes" -> "bytes";
      default -> countName;
    };
  }
}

package flametop.export;

import flametop.profile.FoldedStack;
import flametop.profile.NodeKind;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

/**
 * Writes folded stacks, one a line: {@code comm;frame;frame count}, outermost first. Spaces of a
 * comm become {@code _}, a {@code ;} within a name {@code :}; kernel frames end in {@code _[k]},
 * JIT frames in {@code _[j]}, inlined ones in {@code _[i]}.
 */
public final class FoldedStacks {
  /**
   * What was written.
   *
   * @param stacks lines of stacks
   * @param total sum of their numbers
   */
  public record Written(long stacks, long total) {}

  private FoldedStacks() {}

  /**
   * Writes a file, whole or not at all; see {@link OutputFile}.
   *
   * @return what is in it, and its size
   */
  public static FoldedFile write(Path path, boolean replace, List<FoldedStack> stacks, Unit unit)
      throws ExportException {
    try (OutputFile file = OutputFile.create(path, replace)) {
      return write(file, stacks, unit);
    }
  }

  /** Like {@link #write(Path, boolean, List, Unit)}, to a file made before. */
  public static FoldedFile write(OutputFile file, List<FoldedStack> stacks, Unit unit)
      throws ExportException {
    try {
      Written written = write(file.stream(), stacks, unit);
      return new FoldedFile(file.path(), file.commit(), written.stacks(), written.total());
    } catch (ExportException e) {
      throw e;
    } catch (IOException e) {
      file.close();
      throw OutputFile.cannotWrite(file.path(), e, "; nothing is left of it");
    }
  }

  /** Writes to a stream, and flushes it. */
  public static Written write(OutputStream out, List<FoldedStack> stacks, Unit unit)
      throws IOException {
    Writer writer =
        new BufferedWriter(new OutputStreamWriter(out, StandardCharsets.UTF_8), 1 << 16);
    long lines = 0;
    long total = 0;
    // What is less than one goes on to the next line, so that the sum is right.
    long rest = 0;
    for (FoldedStack stack : stacks) {
      rest += stack.value();
      long count = rest / unit.parts();
      if (count > 0) {
        rest -= count * unit.parts();
        line(writer, stack);
        writer.append(' ').append(Long.toString(count)).append('\n');
        lines++;
        total += count;
      }
    }
    writer.flush();
    return new Written(lines, total);
  }

  static void line(Writer writer, FoldedStack stack) throws IOException {
    String[] names = stack.names();
    for (int i = 0; i < names.length; i++) {
      if (i > 0) {
        writer.append(';');
      }
      NodeKind kind = stack.kinds()[i];
      String name =
          names[i].isEmpty()
              ? "-"
              : names[i].replace(';', ':').replace('\n', ' ').replace('\r', ' ');
      boolean task = kind == NodeKind.PROCESS || kind == NodeKind.THREAD;
      writer.append(task ? name.replace(' ', '_') : name).append(suffix(kind));
    }
  }

  private static String suffix(NodeKind kind) {
    return switch (kind) {
      case KERNEL -> "_[k]";
      case JIT -> "_[j]";
      case INLINED -> "_[i]";
      default -> "";
    };
  }
}

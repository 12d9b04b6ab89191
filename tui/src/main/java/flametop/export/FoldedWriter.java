package flametop.export;

import flametop.profile.answer.Extract;
import flametop.profile.answer.FoldedStack;
import flametop.profile.answer.NodeKind;
import flametop.profile.file.FoldedName;
import java.io.IOException;
import java.io.Writer;
import java.util.regex.Pattern;

/**
 * Writes folded stacks, one a line: {@code comm;frame;frame count}, outermost first. {@link
 * FoldedName} says how names are written. Before them are lines {@code # key: value} with the unit
 * and the provenance, which no reader can take for a stack: none but the exact total of a source of
 * events ends in a number.
 */
final class FoldedWriter {
  private static final Pattern NUMBER_LAST = Pattern.compile("[0-9][0-9.]*$");

  private FoldedWriter() {}

  /** Returns how many stacks. */
  static long write(StackExport export, Writer writer) throws IOException {
    writer.append("# unit: ").append(export.measure().unit()).append('\n');
    writer.append("# ").append(StackExport.firstFrame(export.hasOwners())).append('\n');
    if (export.exactTotal() != Extract.NO_TOTAL) {
      writer.append("# exact total: ").append(Long.toString(export.exactTotal())).append('\n');
    }
    for (String line : export.provenance().lines()) {
      String text = FoldedName.oneLine(line);
      writer.append("# ").append(text);
      writer.append(NUMBER_LAST.matcher(text).find() ? ";\n" : "\n");
    }
    long stacks = 0;
    for (FoldedStack stack : export.stacks()) {
      stacks++;
      line(writer, stack.names(), stack.kinds(), !export.ofFile());
      writer.append(' ').append(export.text(stack.value())).append('\n');
    }
    return stacks;
  }

  /**
   * Appends a path, without its number.
   *
   * @param joins whether the spaces of a comm become {@code _}
   */
  static void line(Writer writer, String[] names, NodeKind[] kinds, boolean joins)
      throws IOException {
    for (int i = 0; i < names.length; i++) {
      if (i > 0) {
        writer.append(';');
      }
      writer.append(FoldedName.written(kinds[i], names[i], i == 0, joins));
    }
  }
}

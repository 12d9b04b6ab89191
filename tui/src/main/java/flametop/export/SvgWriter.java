package flametop.export;

import flametop.profile.answer.FoldedStack;
import flametop.profile.answer.NodeKind;
import java.io.IOException;
import java.io.Writer;
import java.util.Arrays;
import java.util.Locale;

/**
 * Writes an icicle graph as a picture: no script in it, the root at the top, a tooltip for each
 * box. Boxes too narrow to be seen are left out; what is below them is narrower still.
 */
final class SvgWriter {
  private static final int WIDTH = 1_600;
  private static final int ROW = 17;
  private static final int TOP = 28;

  /** Of a letter of the font, which has letters of one width. */
  private static final double LETTER = 7.3;

  private static final double NARROWEST = 0.25;

  /** Rows behind these have no boxes: a picture of more has no reader. */
  private static final int MOST_ROWS = 2_000;

  private final Writer svg;
  private final StackExport export;

  /** What is open: the path of the last stack, and where each of its boxes begins. */
  private String[] names = new String[0];

  private NodeKind[] kinds = new NodeKind[0];
  private String[] modules = new String[0];
  private long[] begins = new long[64];
  private int open;
  private long at;

  private SvgWriter(Writer svg, StackExport export) {
    this.svg = svg;
    this.export = export;
  }

  /** Returns how many stacks. */
  static long write(StackExport export, Writer svg) throws IOException {
    int rows = 0;
    long stacks = 0;
    for (FoldedStack stack : export.stacks()) {
      rows = Math.max(rows, Math.min(stack.names().length, MOST_ROWS));
      stacks++;
    }
    int height = TOP + (rows + 1) * ROW + 8;
    svg.append("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + WIDTH + "\" height=\"")
        .append(height + "\" viewBox=\"0 0 " + WIDTH + " " + height + "\">\n<title>");
    svg.append(XmlText.escaped(export.provenance().title()));
    svg.append("</title>\n<desc>");
    for (Provenance.Fact fact : export.provenance().facts()) {
      svg.append(XmlText.escaped(fact.key() + ": " + fact.value()));
      svg.append('\n');
    }
    svg.append("</desc>\n<style>\nrect{stroke:#fbfaf8;stroke-width:.5}\n")
        .append("text{font:12px \"DejaVu Sans Mono\",Menlo,Consolas,monospace;fill:#fff}\n")
        .append(".head{fill:#23272e}.ink{fill:#14181d}\n</style>\n")
        .append("<rect width=\"100%\" height=\"100%\" fill=\"#fbfaf8\"/>\n")
        .append("<text class=\"head\" x=\"6\" y=\"18\">");
    svg.append(XmlText.escaped(export.provenance().title()));
    svg.append("</text>\n");
    new SvgWriter(svg, export).boxes();
    svg.append("</svg>\n");
    return stacks;
  }

  private void boxes() throws IOException {
    for (FoldedStack stack : export.stacks()) {
      int depth = Math.min(stack.names().length, MOST_ROWS);
      close(common(stack, depth));
      names = stack.names();
      kinds = stack.kinds();
      modules = stack.modules();
      if (depth > begins.length) {
        begins = Arrays.copyOf(begins, MOST_ROWS);
      }
      while (open < depth) {
        begins[open++] = at;
      }
      at += stack.value();
    }
    close(0);
    box(NodeKind.ROOT, "all", "", 0, 0);
  }

  /** How many first frames a stack has in common with what is open. */
  private int common(FoldedStack stack, int depth) {
    int frame = 0;
    while (frame < Math.min(open, depth)
        && names[frame].equals(stack.names()[frame])
        && kinds[frame] == stack.kinds()[frame]
        && modules[frame].equals(stack.modules()[frame])) {
      frame++;
    }
    return frame;
  }

  private void close(int to) throws IOException {
    while (open > to) {
      open--;
      box(kinds[open], names[open], modules[open], begins[open], open + 1);
    }
  }

  private void box(NodeKind kind, String name, String module, long begin, int row)
      throws IOException {
    double x = place(begin);
    double width = place(at) - x;
    if (width < NARROWEST) {
      return;
    }
    int y = TOP + row * ROW;
    svg.append("<g><title>");
    svg.append(XmlText.escaped(module.isEmpty() ? name : name + " [" + module + "]"));
    svg.append(", ").append(export.text(at - begin)).append(' ');
    svg.append(XmlText.escaped(export.measure().unit()));
    svg.append(
        String.format(Locale.ROOT, ", %.2f %%</title>", 100.0 * (at - begin) / export.total()));
    svg.append(
        String.format(
            Locale.ROOT,
            "<rect x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\" fill=\"%s\"/>",
            x,
            y,
            width,
            ROW,
            colour(kind)));
    int letters = (int) ((width - 6) / LETTER);
    if (letters >= 3) {
      svg.append(
          String.format(
              Locale.ROOT,
              "<text%s x=\"%.2f\" y=\"%d\">",
              isLight(kind) ? " class=\"ink\"" : "",
              x + 3,
              y + 13));
      svg.append(XmlText.escaped(cut(name, letters)));
      svg.append("</text>");
    }
    svg.append("</g>\n");
  }

  private double place(long value) {
    return export.total() == 0 ? 0 : (double) WIDTH * value / export.total();
  }

  private static String cut(String name, int letters) {
    if (name.codePointCount(0, name.length()) <= letters) {
      return name;
    }
    return name.substring(0, name.offsetByCodePoints(0, letters - 1)) + "…";
  }

  /** The colours of the page of HTML. */
  private static String colour(NodeKind kind) {
    return switch (kind) {
      case ROOT -> "#4b535d";
      case PROCESS, THREAD, CGROUP -> "#31618a";
      case USER -> "#e5a53c";
      case KERNEL -> "#7f58c4";
      case JIT -> "#59b065";
      case INLINED -> "#cdb660";
      case PYTHON -> "#52c1c9";
      case PHP -> "#d987b8";
      case RUBY -> "#e58f8f";
      case UNKNOWN -> "#6b6f76";
      case REASON -> "#7a3b43";
      case IDLE -> "#9aa3ad";
    };
  }

  private static boolean isLight(NodeKind kind) {
    return switch (kind) {
      case USER, JIT, INLINED, PYTHON, PHP, RUBY, IDLE -> true;
      case ROOT, PROCESS, THREAD, CGROUP, KERNEL, UNKNOWN, REASON -> false;
    };
  }
}

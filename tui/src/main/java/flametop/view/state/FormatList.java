package flametop.view.state;

import flametop.view.base.ExportFormat;
import flametop.view.base.Prompt;
import flametop.view.base.View;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/**
 * The list of export formats. Immutable.
 *
 * @param open whether the list is shown
 * @param of the view that is exported: only graphs have stacks
 * @param prompt its text narrows the list to formats whose names contain the text
 * @param index of the marked format
 * @param last the format that was chosen last; it comes first
 */
public record FormatList(boolean open, View of, Prompt prompt, int index, ExportFormat last) {
  public static final FormatList CLOSED =
      new FormatList(false, View.GRAPH, Prompt.EMPTY, 0, ExportFormat.FOLDED);

  public FormatList opened(View view) {
    return new FormatList(true, view, Prompt.EMPTY, 0, last);
  }

  public FormatList closed() {
    return new FormatList(false, of, Prompt.EMPTY, 0, last);
  }

  public FormatList chosen(ExportFormat format) {
    return new FormatList(false, of, Prompt.EMPTY, 0, format);
  }

  /** The list after another text was typed: the first match is marked. */
  public FormatList withPrompt(Prompt value) {
    int marked = value.text().equals(prompt.text()) ? index : 0;
    return new FormatList(open, of, value, marked, last);
  }

  public FormatList moved(int by) {
    int to = Math.max(0, Math.min(index + by, matching().size() - 1));
    return new FormatList(open, of, prompt, to, last);
  }

  /** The formats that contain the typed text: names that begin with the text come first. */
  public List<ExportFormat> matching() {
    List<ExportFormat> all = new ArrayList<>(List.of(ExportFormat.values()));
    all.remove(last);
    all.add(0, last);
    String wanted = prompt.text().toLowerCase(Locale.ROOT);
    return all.stream()
        .filter(format -> of.hasStacks() || format.isPicture())
        .filter(format -> contains(format.label(), wanted) || contains(format.detail(), wanted))
        .sorted(Comparator.comparing(format -> !format.label().startsWith(wanted)))
        .toList();
  }

  private static boolean contains(String text, String wanted) {
    return text.toLowerCase(Locale.ROOT).contains(wanted);
  }
}

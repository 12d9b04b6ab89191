package flametop.export;

import flametop.profile.answer.FoldedStack;
import flametop.profile.answer.Measure;
import flametop.sampler.State;
import java.io.IOException;
import java.io.Writer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Writes a summary for people and for those who read with them: one screen of text, with the share
 * of each state, the heaviest stacks below their states, and what was lost.
 */
final class TextWriter {
  private static final int MOST = 6;
  private static final int COLUMNS = 100;

  private TextWriter() {}

  /** Returns how many stacks the export has. */
  static long write(StackExport export, Writer text) throws IOException {
    Heaviest heaviest = Heaviest.of(export, MOST);
    line(text, export.provenance().title());
    StringBuilder states = new StringBuilder(export.describe(heaviest.stacks()));
    for (Heaviest.OfState of : heaviest.states()) {
      if (of.state() != null) {
        states.append(" · ").append(of.state().label()).append(' ');
        states.append(share(of.value(), export.total()));
      }
    }
    line(text, states.toString());
    for (Provenance.Fact fact : export.provenance().facts()) {
      switch (fact.key()) {
        case "losses", "counted", "seen", "read" -> line(text, fact.key() + ": " + fact.value());
        default -> {}
      }
    }
    for (Heaviest.OfState of : heaviest.states()) {
      boolean first = true;
      for (Heaviest.Entry entry : heaviest.entries()) {
        if (entry.state() == of.state()) {
          if (first) {
            line(text, title(of.state()));
          }
          first = false;
          entry(text, export, entry);
        }
      }
    }
    return heaviest.stacks();
  }

  private static String title(@Nullable State state) {
    return "\n" + (state == null ? "heaviest stacks" : "heaviest stacks, " + state.label());
  }

  private static void entry(Writer text, StackExport export, Heaviest.Entry entry)
      throws IOException {
    String head =
        String.format(Locale.ROOT, "%7s  ", share(entry.value(), export.total()))
            + amount(export, entry.value())
            + (entry.samples() == 0 ? "" : ", seen " + Measure.grouped(entry.samples()) + " times");
    line(text, head);
    line(text, "         " + path(entry.stack(), COLUMNS - 9));
  }

  private static String amount(StackExport export, long value) {
    Measure measure = export.measure();
    return measure.kind() == Measure.Kind.COUNT
        ? export.text(value) + " " + measure.unit()
        : new Measure(measure.kind(), measure.unit(), (long) Math.pow(10, export.decimals()))
            .text(value);
  }

  private static String share(long value, long total) {
    return total == 0 ? "0 %" : String.format(Locale.ROOT, "%.1f %%", 100.0 * value / total);
  }

  /**
   * The owner and as many of the innermost frames as there is room for: {@code app > … > a > b}.
   */
  private static String path(FoldedStack stack, int columns) {
    String[] names = stack.names();
    Deque<String> shown = new ArrayDeque<>();
    int room = columns - Math.min(names[0].length(), columns - 30) - 4;
    int at = names.length - 1;
    while (at > 0 && (shown.isEmpty() || room >= names[at].length() + 3)) {
      shown.addFirst(shown.isEmpty() ? cut(names[at], room - 3) : names[at]);
      room -= names[at].length() + 3;
      at--;
    }
    String left = at > 0 ? " > …" : "";
    String inner = shown.isEmpty() ? "" : " > " + String.join(" > ", shown);
    return cut(names[0], columns - 30) + left + inner;
  }

  private static String cut(String name, int room) {
    int most = Math.max(20, room);
    return name.length() <= most ? name : name.substring(0, most - 1) + "…";
  }

  /** Names are clean, and a line of this length is one line of a screen or little more. */
  private static void line(Writer text, String line) throws IOException {
    text.append(line).append('\n');
  }
}

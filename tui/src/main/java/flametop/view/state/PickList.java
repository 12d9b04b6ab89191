package flametop.view.state;

import flametop.profile.answer.ProcessRow;
import flametop.profile.answer.SnapshotSource;
import flametop.profile.answer.StateSet;
import flametop.view.base.Prompt;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * An open pick list. Immutable.
 *
 * @param of the kind of thing that is picked
 * @param isListing whether the rows are still on their way
 * @param rows the busiest first
 * @param prompt its text narrows the rows to those that contain the text
 * @param index of the marked row among these; 0 is the row that lifts the filter
 * @param chosen whether Enter came before the rows: then the row is picked that is marked when they
 *     come
 */
public record PickList(
    Of of, boolean isListing, List<PickRow> rows, Prompt prompt, int index, boolean chosen) {
  public enum Of {
    PROCESSES("pid", "all processes", ProcessRow.By.PROCESS),
    COMMS("comm", "all comms", ProcessRow.By.COMM),
    CGROUPS("control group", "all control groups", ProcessRow.By.CGROUP),
    STATES("state", "all states", ProcessRow.By.STATE),
    SAMPLE_TYPES("sample type", "the sample type that the file prefers", ProcessRow.By.SAMPLE_TYPE),
    /** They are in the snapshot. */
    CPUS("cpu", "all CPUs", null);

    private final String label;
    private final String all;
    private final ProcessRow.@Nullable By by;

    Of(String label, String all, ProcessRow.@Nullable By by) {
      this.label = label;
      this.all = all;
      this.by = by;
    }

    public String label() {
      return label;
    }

    /** Whether rows are about tasks; the source of the pictures lists these. */
    public boolean isOfTasks() {
      return this == PROCESSES || this == COMMS || this == CGROUPS;
    }

    /** Asks for the rows. */
    public CompletableFuture<List<ProcessRow>> rows(SnapshotSource source, StateSet states) {
      return source.rows(Objects.requireNonNull(by), states);
    }

    /** The row that lifts the filter. */
    public String all() {
      return all;
    }
  }

  public static PickList open(Of of) {
    return new PickList(of, true, List.of(), Prompt.EMPTY, 0, false);
  }

  public PickList withRows(List<ProcessRow> fetched) {
    return with(fetched.stream().map(PickRow::of).toList());
  }

  /** The list after its rows came, in the order of the screen. */
  public PickList with(List<PickRow> made) {
    int marked = isListing && !prompt.isEmpty() ? 1 : index;
    return new PickList(of, false, List.copyOf(made), prompt, marked, chosen).clamped();
  }

  /** The list after another text was typed: the first match is marked. */
  public PickList withPrompt(Prompt value) {
    boolean same = value.text().equals(prompt.text());
    int marked = same ? index : value.isEmpty() ? 0 : 1;
    return new PickList(of, isListing, rows, value, marked, false).clamped();
  }

  /** The typed text. */
  public String typed() {
    return prompt.text();
  }

  public PickList moved(int by) {
    return new PickList(of, isListing, rows, prompt, index + by, false).clamped();
  }

  public PickList withChosen(boolean value) {
    return new PickList(of, isListing, rows, prompt, index, value);
  }

  private PickList clamped() {
    int last = matching().size();
    return new PickList(of, isListing, rows, prompt, Math.max(0, Math.min(index, last)), chosen);
  }

  /**
   * Rows that contain the typed text: matches of the name come before matches of the command line.
   */
  public List<PickRow> matching() {
    if (prompt.isEmpty()) {
      return rows;
    }
    String wanted = typed().toLowerCase(Locale.ROOT);
    List<PickRow> found = new ArrayList<>();
    List<PickRow> others = new ArrayList<>();
    for (PickRow r : rows) {
      boolean numbered = of == Of.PROCESSES || of == Of.CPUS;
      if (contains(r.name(), wanted) || numbered && Integer.toString(r.id()).startsWith(wanted)) {
        found.add(r);
      } else if (r.process() != null && contains(r.about(), wanted)) {
        others.add(r);
      }
    }
    found.addAll(others);
    return found;
  }

  private static boolean contains(String text, String wanted) {
    return text.toLowerCase(Locale.ROOT).contains(wanted);
  }

  /** The marked row; null for the row that lifts the filter. */
  public @Nullable PickRow marked() {
    return index == 0 ? null : matching().get(index - 1);
  }
}

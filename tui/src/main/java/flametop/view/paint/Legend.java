package flametop.view.paint;

import flametop.profile.answer.Capability;
import flametop.profile.answer.StateSet;
import flametop.sampler.State;
import flametop.view.base.CellGrid;
import flametop.view.base.Colouring;
import flametop.view.base.Paint;
import flametop.view.base.Role;
import flametop.view.base.TextWidth;
import flametop.view.layout.Header;
import flametop.view.layout.Scene;
import java.util.ArrayList;
import java.util.List;

/** The meaning of colours, at the right end of a line between panels. */
public final class Legend {
  /** A kind of frame. */
  private record Kind(Role role, String label, String meaning) {
    int paint() {
      return Paint.of(role, Paint.SHADES / 2);
    }

    boolean isLanguage() {
      return role == Role.PYTHON || role == Role.PHP || role == Role.RUBY;
    }
  }

  private static final List<Kind> KINDS =
      List.of(
          new Kind(Role.USER, "user", "function of a program"),
          new Kind(Role.KERNEL, "kernel", "function of the kernel"),
          new Kind(Role.JIT, "jit", "code made at run time"),
          new Kind(Role.INLINED, "inlined", "inlined into its caller"),
          new Kind(Role.PYTHON, "python", "function of Python"),
          new Kind(Role.PHP, "php", "function of PHP"),
          new Kind(Role.RUBY, "ruby", "function of Ruby"),
          new Kind(Role.UNKNOWN, "no name", "function without a symbol"),
          new Kind(Role.REASON, "cut short", "[why]: frames are missing"));

  private static final State[] STATES = {State.RUN, State.QUEUED, State.DISK, State.SLEEP};

  /** The sign of a colour. */
  private static final String SWATCH = "■";

  private static final List<String[]> HEADER =
      List.of(
          new String[] {"words of the header"},
          new String[] {"busy", "states that are counted (o)"},
          new String[] {"30 s", "time that is shown (m)"},
          new String[] {"run", "tasks on a CPU"},
          new String[] {"q queued", "tasks that wait for a CPU"},
          new String[] {"d disk", "tasks that wait for a disk"},
          new String[] {"s asleep", "tasks that sleep"},
          new String[] {"19/99 Hz", "passes, CPU samples a second"},
          new String[] {"lost", "samples without room"},
          new String[] {"late", "passes that began late"},
          new String[] {"cut stacks", "stacks with missing frames"},
          new String[] {"guessed", "samples with a guessed frame"},
          new String[] {"cost", "flametop's share of one CPU"});

  private static final List<String[]> MOUSE =
      List.of(
          new String[] {"mouse"},
          new String[] {"click", "select; does a word, a key"},
          new String[] {"two clicks", "zoom in"},
          new String[] {"wheel", "scroll"},
          new String[] {"drag", "a range, on the strip"});

  /** The least number of cells of a line that a legend leaves free. */
  private static final int LEAST_RULE = 8;

  private Legend() {}

  /** Lines of the help: titles, and words with their meaning. A colour begins with its sign. */
  static List<String[]> help(Scene scene) {
    boolean hasHeader = scene.hasStates() && !scene.options.origin().has(Capability.FILES);
    return help(hasHeader, !scene.options.plain());
  }

  /** All lines of the help, for a screen of live tasks in colours. */
  public static List<String[]> help() {
    return help(true, true);
  }

  private static List<String[]> help(boolean header, boolean colours) {
    List<String[]> lines = new ArrayList<>();
    if (header) {
      lines.addAll(HEADER);
    }
    if (colours) {
      lines.add(new String[] {"colours"});
      for (Kind kind : KINDS) {
        lines.add(new String[] {SWATCH + kind.label, kind.meaning});
      }
      lines.add(new String[] {"faded", "only waited for a CPU"});
    }
    lines.addAll(MOUSE);
    return lines;
  }

  /** Paints the sign of a colour over the first cell of a line of the help that has one. */
  static void swatch(CellGrid grid, int x, int y, String words) {
    for (Kind kind : KINDS) {
      if (words.equals(SWATCH + kind.label)) {
        grid.put(x, y, '■', kind.paint(), Paint.CHROME, 0);
      }
    }
  }

  /** Paints the legend of a graph, if it has room. */
  static void paint(Scene scene, CellGrid grid, int row) {
    if (scene.geometry.size() < 2) {
      return;
    }
    if (scene.baseline().isPresent()) {
      compared(scene, grid, row);
      return;
    }
    if (scene.options.plain()) {
      return;
    }
    if (scene.colouring() == Colouring.STATE) {
      paint(scene, grid, row, LEAST_RULE, entries(scene.state.states()));
      return;
    }
    List<Entry> entries = new ArrayList<>();
    List<Entry> languages = new ArrayList<>();
    for (Kind kind : KINDS) {
      Entry entry = new Entry(kind.paint(), kind.label);
      entries.add(entry);
      if (kind.isLanguage()) {
        languages.add(0, entry);
      }
    }
    if (scene.geometry.slice().queued() != null && scene.hasStates()) {
      // A kind of frame is faded where tasks waited for a CPU.
      entries.add(new Entry(Paint.faded(KINDS.get(0).paint()), State.QUEUED.label()));
    }
    for (Entry language : languages) {
      if (scene.columns - width(entries) < LEAST_RULE) {
        // The name of such a frame tells its kind.
        entries.remove(language);
      }
    }
    paint(scene, grid, row, LEAST_RULE, entries);
  }

  /** Paints the legend of states, if there is room at the right of {@code from}. */
  public static void states(Scene scene, CellGrid grid, int row, int from, StateSet shown) {
    if (!scene.options.plain()) {
      paint(scene, grid, row, from + 1, entries(shown));
    }
  }

  /** A colour and its meaning: a sign in the colour, or a ground with a line below. */
  record Entry(int paint, int ground, char sign, String label) {
    Entry(int paint, String label) {
      this(paint, Paint.GROUND, '■', label);
    }
  }

  private static List<Entry> entries(StateSet shown) {
    List<Entry> entries = new ArrayList<>();
    for (State state : STATES) {
      if (shown.contains(state)) {
        entries.add(new Entry(Paint.of(Role.of(state), Paint.SHADES / 2), state.label()));
      }
    }
    return entries;
  }

  /** Paints colours at the right end of a row, if there is room from a column on. */
  static void paint(Scene scene, CellGrid grid, int row, int from, List<Entry> entries) {
    int width = width(entries);
    int x = scene.columns - width;
    if (x < from) {
      return;
    }
    grid.fill(x - 1, row, width + 2, Paint.GROUND);
    for (Entry entry : entries) {
      int style = entry.ground == Paint.GROUND ? 0 : CellGrid.UNDERLINE;
      grid.put(x, row, entry.sign, entry.paint, entry.ground, style);
      x += 2;
      x += grid.text(x, row, entry.label.length(), entry.label, Paint.DIM, Paint.GROUND, 0) + 2;
    }
  }

  private static int width(List<Entry> entries) {
    int width = -1;
    for (Entry entry : entries) {
      width += entry.label.length() + 4;
    }
    return width;
  }

  private static void compared(Scene scene, CellGrid grid, int row) {
    String with = " compared with " + Header.baseline(scene.snapshot.live()) + " ";
    boolean plain = scene.options.plain();
    List<Entry> changes =
        List.of(
            change(Role.WORSE, plain ? '+' : '■', "more"),
            change(Role.BETTER, plain ? '-' : '■', "less"),
            change(Role.GROUP, plain ? ' ' : '■', "the same"),
            new Entry(Paint.INK, Paint.CHROME, ' ', "gone"));
    int end = 2 + TextWidth.of(with);
    if (end + 1 < scene.columns - width(changes)) {
      grid.text(2, row, end, with, Paint.ACCENT, Paint.GROUND, 0);
    }
    paint(scene, grid, row, LEAST_RULE, changes);
  }

  private static Entry change(Role role, char sign, String label) {
    return new Entry(Paint.words(Paint.of(role)), Paint.GROUND, sign, label);
  }
}

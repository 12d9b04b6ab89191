package flametop.view.paint;

import flametop.profile.answer.Capability;
import flametop.profile.answer.EventsReport;
import flametop.profile.answer.GraphQuery;
import flametop.profile.answer.GraphSlice;
import flametop.profile.answer.NodeKind;
import flametop.profile.answer.NodeKind.ThreadKind;
import flametop.profile.answer.Selection;
import flametop.profile.answer.Shape;
import flametop.profile.answer.Snapshot;
import flametop.profile.answer.StateSet;
import flametop.sampler.State;
import flametop.view.base.Action;
import flametop.view.base.CellGrid;
import flametop.view.base.Key;
import flametop.view.base.Paint;
import flametop.view.base.Role;
import flametop.view.base.ShortName;
import flametop.view.base.TextWidth;
import flametop.view.base.Units;
import flametop.view.layout.FileHeader;
import flametop.view.layout.Geometry;
import flametop.view.layout.MeasureWords;
import flametop.view.layout.OtherPane;
import flametop.view.layout.Piece;
import flametop.view.layout.Scene;
import java.util.ArrayList;
import java.util.List;

/** Paints the selected frame in full. */
final class SelectionPainter {

  private static final int FORMS = 9;
  private static final int MAX_PROCESS = 24;
  private static final int MAX_FILE = 24;

  /** The base of the percentages that follow: the selected node. */
  private static final String OF_IT = "of it:";

  /** The rule of the frame of idle threads, in a sentence. */
  private static final String IDLE =
      "threads asleep till work comes: event and accept loops, pools";

  private SelectionPainter() {}

  static void paint(Scene scene, CellGrid grid) {
    grid.fill(0, scene.selectionTop, scene.columns, scene.selectionRows, Paint.CHROME);
    if (!scene.snapshot.isOpening()) {
      selection(scene, grid);
    }
  }

  private static void selection(Scene scene, CellGrid grid) {
    int y = scene.selectionTop;
    String matched = matched(scene);
    int matchedX = scene.columns - 1 - TextWidth.of(matched);
    grid.text(matchedX, y, scene.columns, matched, Paint.ACCENT, Paint.CHROME, CellGrid.BOLD);
    int end = matched.isEmpty() ? scene.columns - 1 : matchedX - 2;

    Geometry g = scene.geometry;
    if (scene.selectedBox >= 0 && scene.state.place().run() && g.isRun(scene.selectedBox)) {
      run(scene, grid, y, end);
      return;
    }
    Selection selection = scene.described();
    String name = name(scene, selection);
    boolean oneRow = scene.selectionRows == 1;
    String module =
        selection.module() + (selection.guessed() ? " (guessed: may not have been there)" : "");
    // In one row the rule of idle threads goes before numbers.
    boolean idle = oneRow && selection.kind() == NodeKind.IDLE;
    String aside = idle ? idle(scene) : module;

    // Numbers are left out before the name is cut.
    int nameWidth = TextWidth.of(name) + (idle ? 1 + TextWidth.of(aside) : 0);
    List<Piece> numbers = List.of();
    for (int form = 0; form < FORMS; form++) {
      numbers = selection.isNone() ? numbers : numbers(scene, selection, form);
      if (1 + nameWidth + 2 + Piece.width(numbers) <= end) {
        break;
      }
    }
    int room = Math.max(8, end - 3 - Piece.width(numbers));
    // Words are left out before the name is cut.
    String shown = isFunction(selection) ? ShortName.form(name, room) : name;
    Words words = new Words(grid, 1, y, end, Paint.CHROME);
    words.write(room, shown, Paint.TEXT, CellGrid.BOLD);
    if (oneRow && words.x() + 1 + TextWidth.of(aside) + 2 + Piece.width(numbers) <= end) {
      words.skip(1).write(aside, idle ? Paint.ACCENT : Paint.DIM);
    }
    words.skip(Math.max(2, numbersAt(scene, numbers, end) - words.x())).write(numbers);
    if (scene.options.origin().has(Capability.FILES)) {
      if (scene.selectionRows > 1 && TextWidth.exceeds(name, room)) {
        grid.text(1, y + 1, scene.columns - 2, name, Paint.DIM, Paint.CHROME, 0);
      }
    } else if (scene.selectionRows > 1 && !selection.isNone()) {
      whose(scene, grid, y + 1, selection, module);
    }
  }

  /** The column of the numbers: the same from one selected frame to the next, if there is room. */
  private static int numbersAt(Scene scene, List<Piece> numbers, int end) {
    String share = numbers.isEmpty() ? "" : numbers.get(numbers.size() - 1).text();
    int column = scene.columns / 3 + Math.max(0, "100.0%".length() - share.indexOf('%') - 1);
    return column + Piece.width(numbers) <= end ? column : 0;
  }

  private static String name(Scene scene, Selection selection) {
    if (scene.sandwich != null && scene.plot.atBase()) {
      return scene.sandwich.page().function().name();
    }
    if (selection.path().length > 0) {
      return name(selection);
    }
    Geometry g = scene.geometry;
    if (scene.selectedBox >= 0 && g.node(scene.selectedBox) >= 0) {
      return g.slice().name()[g.node(scene.selectedBox)];
    }
    return "all";
  }

  /**
   * The time in the function itself. In the middle of a sandwich this includes calls of the
   * function by itself.
   */
  private static long self(Scene scene, Selection selection) {
    return scene.sandwich != null && scene.plot.atBase()
        ? scene.sandwich.page().self()
        : selection.self();
  }

  private static boolean isFunction(Selection selection) {
    return selection.kind().isFrame();
  }

  private static String name(Selection selection) {
    int length = selection.path().length;
    if (selection.filter() instanceof Shape.Cgroups group) {
      return group.paths().iterator().next();
    }
    return length == 0 ? "" : selection.path()[length - 1];
  }

  /** Shares, CPUs and time by state, in a form from all words to the share alone. */
  private static List<Piece> numbers(Scene scene, Selection selection, int form) {
    Snapshot snapshot = scene.snapshot;
    long weight = selection.weight();
    Geometry g = scene.geometry;
    GraphSlice slice = g.slice();
    int compared = slice.baseline() == null ? -1 : slice.find(selection.node());
    List<Piece> pieces = new ArrayList<>(3);
    StringBuilder text = new StringBuilder();
    boolean file = scene.isOfFile();
    if (compared >= 0) {
      text.append(Comparison.text(slice, compared)).append(elsewhere(scene, form));
    } else {
      boolean root = selection.kind() == NodeKind.ROOT;
      if (form < 4 && !file && (snapshot.live().time().ranged() || !scene.state.moment().isAll())) {
        // The whole is always the whole.
        pieces.add(root ? Comparison.NO_TREND : Comparison.trend(selection, snapshot));
      }
      text.append(share(weight, snapshot.total(), file));
      text.append(form < 3 ? error(scene, selection, snapshot.total()) : "");
      text.append(scene.other != null ? " here" : form < 8 ? " of all" : "");
      text.append(elsewhere(scene, form));
      if (form < 8 && !root) {
        text.append(" · self ").append(share(self(scene, selection), snapshot.total(), file));
      }
    }
    boolean zoomed = scene.state.zoom() != GraphQuery.ROOT && slice.size() > 0;
    int box = g.boxOfNode(selection.node());
    int process = box < 0 || g.isRun(box) || g.level(box) < 2 ? -1 : g.node(ancestor(g, box, 1));
    if (form < 1 && process >= 0 && process != slice.zoomIndex()) {
      text.append(" · ")
          .append(Units.share(weight, slice.weight()[process]))
          .append(" of ")
          .append(ShortName.form(slice.name()[process], MAX_PROCESS));
    }
    if (form < 6 && zoomed && selection.node() != scene.state.zoom()) {
      text.append(" · ").append(Units.share(weight, slice.weight()[slice.zoomIndex()]));
      text.append(form < 3 ? " of the zoom" : " of zoom");
    }
    if (!scene.hasStates()) {
      if (form < 6) {
        text.append("   ").append(snapshot.measure().text(weight));
      }
      pieces.add(Piece.of(text.toString(), Role.TEXT));
      return pieces;
    }
    if (form < 5) {
      text.append("   ")
          .append(
              Units.cpus(
                  selection.weightByState()[State.RUN.ordinal()], snapshot.live().time().nanos()));
    }
    if (form < 7) {
      text.append("   ").append(byState(selection.weightByState(), scene.state.states(), form < 2));
    }
    pieces.add(Piece.of(text.toString(), Role.TEXT));
    return pieces;
  }

  /** The error of a share in points: two standard errors; empty for an exact share. */
  private static String error(Scene scene, Selection selection, long total) {
    EventsReport.Row events = MeasureWords.shown(scene);
    Selection.Certainty certainty = selection.certainty();
    double error =
        events != null
            ? MeasureWords.error(events, selection.weight(), total)
            : certainty == null || total <= 0 ? 0 : 2.0 * certainty.error() / total;
    return error <= 0 || selection.kind() == NodeKind.ROOT ? "" : " ±" + Units.points(error);
  }

  /**
   * The share of the frame in the file of the other pane; empty without that pane, or until the
   * share is known.
   */
  private static String elsewhere(Scene scene, int form) {
    Scene other = scene.other;
    if (other == null || !OtherPane.isTold(scene, other)) {
      return "";
    }
    Snapshot there = other.snapshot;
    String name =
        form < 5 ? brief(there.reading().name(), scene.snapshot.reading().name()) : "the other";
    return other.hasSelected
        ? " · " + Units.share(other.selection().weight(), there.total()) + " in " + name
        : (there.reading().done() ? " · not in " : " · not yet in ") + name;
  }

  /** The name of a file, without folders unless only these tell both files apart. */
  private static String brief(String path, String other) {
    String name = path.substring(path.lastIndexOf('/') + 1);
    boolean same = other.endsWith("/" + name) || other.equals(name);
    return FileHeader.fromTheRight(same ? path : name, MAX_FILE);
  }

  /** A share in a field of fixed width, since it changes while the user reads. */
  private static String share(long part, long whole, boolean still) {
    double share = whole <= 0 ? 0 : (double) part / whole;
    return still ? Units.percent(share) : Units.percentField(share);
  }

  private static int ancestor(Geometry g, int box, int level) {
    int at = box;
    while (g.level(at) > level) {
      at = g.parent(at);
    }
    return at;
  }

  /** Percent of the drawn time of the node in each of the states that are drawn. */
  private static String byState(long[] nanos, StateSet drawn, boolean words) {
    // Idle kernel threads are counted in the header, and are no part of the times.
    State[] order = {
      State.RUN,
      State.QUEUED,
      State.DISK,
      State.SLEEP,
      State.STOPPED,
      State.ZOMBIE,
      State.PARKED,
      State.OTHER
    };
    long sum = 0;
    for (State state : order) {
      sum += drawn.contains(state) ? nanos[state.ordinal()] : 0;
    }
    StringBuilder text = new StringBuilder(OF_IT);
    String[] letters = {"run", "q", "d", "s", "t", "z", "p", "other"};
    for (int i = 0; i < order.length; i++) {
      long n = nanos[order[i].ordinal()];
      // The four main states are always there where they are drawn, so that nothing moves.
      long percent = sum <= 0 ? 0 : Math.round(100.0 * n / sum);
      if (drawn.contains(order[i]) && (i < 4 || percent > 0)) {
        text.append(words && text.length() > OF_IT.length() ? "  " : " ")
            .append(words ? order[i].label() : letters[i]);
        text.append(' ').append(percent).append('%');
      }
    }
    return text.toString();
  }

  private static void whose(Scene scene, CellGrid grid, int y, Selection selection, String module) {
    Words words = new Words(grid, 1, y, scene.columns - 1, Paint.CHROME);
    if (!module.isEmpty()) {
      words.write(module, Paint.TEXT).skip(2);
    }
    words.write(who(selection), Paint.TEXT).skip(2);
    Selection.Certainty certainty = selection.certainty();
    // Passes and samples saw tasks; events are counted.
    if (certainty != null && scene.hasStates()) {
      words.write("seen " + certainty.samples() + " times", Paint.DIM).skip(2);
    }
    String remedy = remedy(scene, selection);
    if (!remedy.isEmpty()) {
      if (TextWidth.exceeds(remedy, words.room())) {
        // What to do is whole rather than beside whose frame it is.
        grid.fill(0, y, scene.columns, Paint.CHROME);
        words = new Words(grid, 1, y, scene.columns - 1, Paint.CHROME);
      }
      words.write(remedy, Paint.ACCENT);
    } else if (selection.pid() != 0) {
      words.write(selection.commandLine(), Paint.DIM);
    }
  }

  /** The process or the number of processes, and whether these have ended. */
  private static String who(Selection selection) {
    int processes = selection.processes();
    if (selection.pid() != 0 || processes == 1) {
      String one = selection.pid() != 0 ? "pid " + selection.pid() : "1 process";
      return one + (selection.ended() > 0 ? ", ended" : "");
    }
    if (selection.weight() <= 0 || processes == Selection.UNKNOWN) {
      return "";
    }
    int ended = selection.ended();
    String of = ended == 0 ? "" : ended == processes ? ", all ended" : ", " + ended + " ended";
    return processes + " processes" + of;
  }

  /**
   * The remedy for missing frames or names, the rule by which frames are folded, and what threads
   * of a kind do; empty if nothing is missing, or nothing helps.
   */
  private static String remedy(Scene scene, Selection selection) {
    if (selection.kind() == NodeKind.IDLE) {
      return idle(scene);
    }
    if (selection.kind() == NodeKind.THREAD) {
      ThreadKind kind = ThreadKind.of(name(selection));
      return kind == null ? "" : kind.sentence();
    }
    return selection.kind() == NodeKind.UNKNOWN && name(selection).equals("[jit]")
        ? "to see its name: start node with --perf-basic-prof, python3 with -X perf"
        : "";
  }

  /** The rule of the frame of idle threads, and the key; on a narrow screen the key alone. */
  private static String idle(Scene scene) {
    List<Key> keys = scene.options.keymap().keys(Action.SHOW_SLEEPERS);
    String by = keys.isEmpty() ? "" : keys.get(0).symbol() + " shows them";
    String whole = by.isEmpty() ? IDLE : IDLE + "; " + by;
    return TextWidth.exceeds(whole, scene.columns - 2) ? by : whole;
  }

  private static void run(Scene scene, CellGrid grid, int y, int end) {
    Geometry g = scene.geometry;
    int count = g.more(scene.selectedBox);
    int parent = g.node(g.parent(scene.selectedBox));
    String text = "frames too thin to draw, on " + g.slice().name()[parent] + "; enter opens them";
    new Words(grid, 1, y, end, Paint.CHROME)
        .write("… " + count + " more", Paint.TEXT, CellGrid.BOLD)
        .skip(2)
        .write(text, Paint.TEXT);
  }

  private static String matched(Scene scene) {
    if (scene.sandwich != null && scene.answered() && !scene.sandwich.page().refolding()) {
      int count = scene.sandwich.matches().length;
      return count == 0 ? "no match" : count + (count == 1 ? " match" : " matches");
    }
    Snapshot.Search found = scene.sandwich != null ? null : scene.found();
    if (found == null) {
      return "";
    }
    if (found.count() == 0) {
      return "no match";
    }
    // As in the shares beside: of two compared times, the larger.
    GraphSlice slice = scene.snapshot.graph();
    long all = slice.baseline() == null ? scene.snapshot.total() : slice.extent(0);
    return "matched " + Units.share(found.weight(), all);
  }
}

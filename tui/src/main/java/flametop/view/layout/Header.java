package flametop.view.layout;

import flametop.profile.answer.Capability;
import flametop.profile.answer.EventsReport;
import flametop.profile.answer.GraphSlice;
import flametop.profile.answer.Snapshot;
import flametop.profile.answer.TasksReport;
import flametop.profile.answer.TimeRange;
import flametop.sampler.Budget;
import flametop.sampler.State;
import flametop.view.base.Action;
import flametop.view.base.Origin;
import flametop.view.base.Role;
import flametop.view.base.StateNames;
import flametop.view.base.TextWidth;
import flametop.view.base.Units;
import flametop.view.base.Zone;
import flametop.view.state.ViewState;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** The words of the first line: the longest form that fits. */
public final class Header {
  private static final int BAREST = 10;

  /** The form from which on flametop's own health is left out, unless something is wrong. */
  private static final int HEALTHLESS = 6;

  /** The share of a CPU from which on flametop's own time is shown. */
  private static final double HIGH_OWN_SHARE = 0.2;

  /** The share of the drawn width from which on words say that it is waiting for a CPU. */
  private static final double MOST = 0.5;

  /** The tasks that are busy at least, on average, before a share of them is worth words. */
  private static final double LEAST_BUSY = 0.05;

  /** The share of samples with a guessed frame from which on the header has it. */
  private static final double MUCH_GUESSED = 0.01;

  /** The target that needs no words. */
  private static final String WHOLE_HOST = "all tasks";

  /** Shown while an export is written, which may take long. */
  static final Piece WRITING = Piece.of("  writing…", Role.ACCENT);

  private Header() {}

  /** The words of the line at their places: as many as fit. */
  public static List<Zone<Piece>> zones(Scene scene) {
    boolean file = scene.options.origin().has(Capability.FILES);
    List<Piece> left = List.of();
    List<Piece> right = List.of();
    for (int form = 0; form <= BAREST; form++) {
      left = file ? FileHeader.left(scene, form) : left(scene, form);
      right = file ? FileHeader.right(scene, form) : right(scene, form);
      if (Piece.width(left) + Piece.width(right) + 4 <= scene.columns) {
        break;
      }
    }
    int rightWidth = Piece.width(right);
    List<Zone<Piece>> zones = new ArrayList<>();
    add(zones, left, 1, scene.columns - rightWidth - 2);
    add(zones, right, scene.columns - rightWidth - 1, scene.columns - 1);
    return zones;
  }

  private static void add(List<Zone<Piece>> zones, List<Piece> pieces, int from, int end) {
    int x = from;
    for (Piece piece : pieces) {
      int width = Math.min(TextWidth.of(piece.text()), end - x);
      if (width > 0) {
        zones.add(Zone.line(x, 0, width, piece));
        x += width;
      }
    }
  }

  private static List<Piece> left(Scene scene, int form) {
    ViewState state = scene.state;
    Snapshot snapshot = scene.snapshot;
    List<Piece> pieces = new ArrayList<>();
    if (form < BAREST) {
      pieces.add(new Piece("flametop ", Role.ACCENT, true, Action.HELP));
    }
    if (form < (scene.hasStates() ? 9 : 7)) {
      pieces.add(Piece.of(scene.options.host() + " ", Role.TEXT));
      String target = scene.options.target();
      boolean said = form >= 7 && target.equals(WHOLE_HOST);
      pieces.add(Piece.of((said ? "" : target + " ") + " ", Role.DIM, Action.PROCESS));
    }
    if (snapshot.isOpening()) {
      pieces.add(Piece.of("○ opening", Role.DIM));
    } else if (state.moment().frozen() || snapshot.live().time().frozen()) {
      long waits = snapshot.live().time().waitingNanos();
      pieces.add(new Piece("❚❚ frozen +" + Units.span(waits), Role.ACCENT, true, Action.FREEZE));
    } else {
      boolean recorded = scene.options.origin() == Origin.RECORDING;
      boolean over = recorded && snapshot.live().ended();
      pieces.add(Piece.of(over ? "■ " : "● ", over ? Role.DIM : Role.BETTER, Action.FREEZE));
      String mark = over ? "replay ended " : recorded ? "replay " : "live ";
      Snapshot.Covered time = snapshot.live().time();
      boolean room = form < BAREST || !time.ranged();
      String clock = room ? Units.clock(time.runNanos()) : "";
      pieces.add(Piece.of(mark + clock, Role.TEXT, Action.FREEZE));
    }
    if (snapshot.refolding()) {
      pieces.add(Piece.of("  filtering…", Role.ACCENT));
    }
    if (state.exports() > 0) {
      pieces.add(WRITING);
    }
    if (scene.sandwich != null && scene.sandwich.page().refolding()) {
      pieces.add(Piece.of("  folding…", Role.ACCENT));
    }
    if (!scene.hasStates()) {
      pieces.addAll(MeasureWords.left(scene, form));
    } else if (form < 9) {
      pieces.add(Piece.of("  " + StateNames.of(state.states()), Role.ACCENT, Action.STATES));
    }
    if (form < 2 && scene.hasStates() && !StateNames.of(state.states()).equals("all")) {
      pieces.add(Piece.of(" " + StateNames.detail(state.states()), Role.DIM, Action.STATES));
    }
    int waits = waitsPercent(scene);
    if (waits > 0) {
      // Whom the picture is of says more than the last words.
      boolean beside = form >= 5 && form < 9 && !scene.options.target().equals(WHOLE_HOST);
      String wait = form < BAREST && !beside ? " % waits for a CPU" : " % waits";
      pieces.add(new Piece("  " + waits + wait, Role.WORSE, true, Action.STATES));
    }
    if (!snapshot.isOpening()
        && snapshot.live().time().ranged()
        && !state.view().isOfThePresent()) {
      TimeRange graph = snapshot.live().time().graph();
      String ago = ago(snapshot.live(), graph);
      String range = form < BAREST ? "range " + length(state, graph) + ", " + ago : ago;
      pieces.add(new Piece("  " + range, Role.ACCENT, true, Action.WINDOW));
    } else if (form < 9) {
      String less = less(scene);
      if (!less.isEmpty()) {
        pieces.add(Piece.of("  " + less + " of", Role.ACCENT, Action.WINDOW));
      }
      String window = (less.isEmpty() ? "  " : " ") + WindowWords.brief(scene, state);
      pieces.add(Piece.of(window, Role.DIM, Action.WINDOW));
    }
    if (form < BAREST && scene.baseline().isPresent() && state.view().compares()) {
      String with = baseline(snapshot.live());
      String text =
          form < 2 ? "compared with " + with : "vs" + with.substring(with.indexOf(',') + 1);
      pieces.add(Piece.of("  " + text, Role.ACCENT, Action.COMPARE_END));
    }
    if (!state.lowered().isEmpty() && form < BAREST) {
      String budget = state.lowered();
      String brief = budget.substring(0, budget.indexOf(':'));
      pieces.add(Piece.of("  " + (form < 4 ? budget : brief), Role.WORSE));
    }
    if (form < (state.lowered().isEmpty() ? 4 : BAREST)) {
      Budget.Pace pace = state.pace();
      pieces.add(Piece.of("  " + pace.passHz() + "/" + pace.cpuHz() + " Hz", Role.DIM));
      if (!state.lowered().isEmpty() && form >= 4) {
        String picture = String.format(Locale.ROOT, " %.1f s", pace.refreshNanos() / 1e9);
        pieces.add(Piece.of(picture, Role.DIM));
      }
    }
    return pieces;
  }

  /**
   * The percentage of the drawn width in which tasks only waited for a CPU; 0 if that is less than
   * half, or if next to nothing is drawn.
   */
  private static int waitsPercent(Scene scene) {
    GraphSlice graph = scene.snapshot.graph();
    if (scene.snapshot.isOpening()
        || !scene.hasStates()
        || graph.size() == 0
        || scene.snapshot.total() < LEAST_BUSY * scene.snapshot.live().time().nanos()) {
      return 0;
    }
    double share = graph.queuedShare(graph.zoomIndex());
    return share < MOST ? 0 : (int) Math.round(100 * share);
  }

  /** The shown part of the window, if a part of its history is gone; empty if nothing is gone. */
  private static String less(Scene scene) {
    Snapshot snapshot = scene.snapshot;
    if (snapshot.isOpening() || snapshot.refolding()) {
      return "";
    }
    long window = scene.state.moment().span(snapshot.live().host().time());
    if (window == Long.MAX_VALUE) {
      return "";
    }
    Snapshot.Covered time = snapshot.live().time();
    long covered = scene.page instanceof TasksReport tasks ? tasks.windowNanos() : time.nanos();
    long missing = Math.min(window, time.runNanos()) - covered;
    return missing > window / 10 ? Units.near(covered) : "";
  }

  /** The baseline of the graph: {@code 30 s, 12 s ago}. */
  public static String baseline(Snapshot.Live live) {
    TimeRange baseline = live.time().baseline().orElseThrow();
    return Units.near(baseline.nanos()) + ", " + ago(live, baseline);
  }

  /** The length of the graph of a range: {@code 12 s}, and {@code 40 ms} of a short one. */
  private static String length(ViewState state, TimeRange graph) {
    long chosen = state.moment().range().map(TimeRange::nanos).orElse(Long.MAX_VALUE);
    return chosen < 1_000_000_000L ? Units.age(graph.nanos()) : Units.near(graph.nanos());
  }

  /** How long ago a time ended: {@code 12 s ago}. */
  private static String ago(Snapshot.Live live, TimeRange time) {
    return Units.span(Math.max(0, live.host().time() - time.to())) + " ago";
  }

  private static List<Piece> right(Scene scene, int form) {
    List<Piece> pieces = new ArrayList<>();
    if (scene.snapshot.isOpening()) {
      return pieces;
    }
    Snapshot.Live live = scene.snapshot.live();
    EventsReport.Row events = MeasureWords.shown(scene);
    if (events != null) {
      pieces.addAll(MeasureWords.right(events, form));
    }
    boolean words = form < 3;
    double[] load = live.host().load();
    if (form < 1 && events == null && load.length == 3 && !Double.isNaN(load[0])) {
      StringBuilder text = new StringBuilder("load ");
      for (double each : load) {
        text.append(Units.hundredths(each)).append(' ');
      }
      pieces.add(Piece.of(text.append("  ").toString(), Role.DIM));
    }
    if (form < 8 && events == null) {
      int[] tasks = live.host().tasks();
      // As in the list of tasks, idle kernel threads do not count.
      int all = Arrays.stream(tasks).sum() - of(tasks, State.IDLE_KTHREAD);
      int digits = Math.max(3, Integer.toString(all).length());
      if (words) {
        pieces.add(Piece.of(Units.right(Integer.toString(all), digits) + " tasks  ", Role.TEXT));
      }
      pieces.add(Piece.of("run " + count(tasks, State.RUN, 2), Role.TEXT));
      pieces.add(
          Piece.of((words ? "  queued " : " q ") + count(tasks, State.QUEUED, 2), Role.TEXT));
      pieces.add(Piece.of((words ? "  disk " : " d ") + count(tasks, State.DISK, 2), Role.TEXT));
      pieces.add(
          Piece.of((words ? "  asleep " : " s ") + count(tasks, State.SLEEP, digits), Role.TEXT));
      pieces.add(Piece.of(words ? "   " : "  ", Role.TEXT));
    }
    Snapshot.Losses losses = live.losses();
    long lost = events == null ? losses.lostSamples() : events.totals().lost();
    if (form < HEALTHLESS || lost > 0) {
      Action view = events == null ? Action.SHOW_QUALITY : Action.SHOW_EVENTS;
      pieces.add(Piece.of("lost " + lost, lost > 0 ? Role.WORSE : Role.TEXT, view));
    }
    if (form < HEALTHLESS && losses.latePasses() > 0) {
      pieces.add(quality("  late passes " + losses.latePasses(), true));
    }
    if (form < 5) {
      pieces.add(quality("  cut stacks" + Units.percentField(losses.shortShare()), false));
    }
    double guessed = losses.guessedShare();
    if (guessed > MUCH_GUESSED && form < BAREST) {
      String brief = " guessed " + Units.wholePercent(guessed);
      pieces.add(quality(form < 5 ? "  guessed" + Units.percentField(guessed) : brief, true));
    }
    boolean high = losses.ownShare() > HIGH_OWN_SHARE;
    if (form < HEALTHLESS || high) {
      pieces.add(quality("  cost" + Units.percentField(losses.ownShare()), high));
    }
    return pieces;
  }

  private static Piece quality(String text, boolean bad) {
    return Piece.of(text, bad ? Role.WORSE : Role.TEXT, Action.SHOW_QUALITY);
  }

  /** A count in a field of fixed width, so that nothing moves. */
  private static String count(int[] tasks, State state, int digits) {
    return Units.right(Integer.toString(of(tasks, state)), digits);
  }

  private static int of(int[] tasks, State state) {
    return state.ordinal() < tasks.length ? tasks[state.ordinal()] : 0;
  }
}

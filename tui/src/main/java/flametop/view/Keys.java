package flametop.view;

import flametop.profile.GraphQuery;
import flametop.profile.GraphSlice;
import flametop.profile.ProcessRow;
import flametop.profile.StateSet;
import flametop.profile.TaskFilter;
import flametop.sampler.State;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * What each key does: a pure function from state and key to the next state and what is asked of the
 * world.
 */
public final class Keys {
  static final int[] PASS_RATES = {1, 9, 19, 49, 99};
  static final int[] CPU_RATES = {0, 19, 49, 99, 199, 499};

  private static final long SECOND = 1_000_000_000L;
  private static final long[] REFRESHES = {SECOND / 4, SECOND / 2, SECOND, 2 * SECOND, 5 * SECOND};

  /** The next state, and what is to be done for it, in order. */
  public record Step(ViewState state, List<Effect> effects) {
    static Step to(ViewState state, Effect... effects) {
      return new Step(state, List.of(effects));
    }
  }

  private Keys() {}

  /** The rows of the pick list came; if it is still open they are shown, or picked from. */
  public static Step listed(ViewState s, PickList.Of of, List<ProcessRow> rows) {
    if (s.pick() == null || s.pick().of() != of) {
      return Step.to(s);
    }
    PickList pick = s.pick().withRows(rows);
    ViewState open = s.withPick(pick.withChosen(false));
    return pick.chosen() ? picked(open, pick) : Step.to(open);
  }

  /** Applies one key to the state that {@code scene} shows. */
  public static Step press(Scene scene, Key key) {
    ViewState s = scene.settled().withMessage("", false);
    if (s.search() != null && s.search().awaited() != 0) {
      s = s.withSearch(s.search().awaiting(0));
    }
    if (key.kind() == Key.Kind.CTRL_C) {
      return Step.to(s, new Effect.Quit());
    }
    if (key.kind() == Key.Kind.CTRL_L) {
      return Step.to(s, new Effect.Repaint());
    }
    if (s.help()) {
      return Step.to(s.withHelp(false));
    }
    if (s.pick() != null) {
      return inPickList(s, key);
    }
    if (s.search() != null && s.search().typing()) {
      return inSearch(scene, s, key);
    }
    if (key.kind() == Key.Kind.F1) {
      return Step.to(s.withHelp(true));
    }
    if (scene.options.origin() == Origin.FILE) {
      Step step = FileKeys.press(scene, s, key);
      if (step != null) {
        return step;
      }
    }
    View chosen = key.kind() == Key.Kind.TAB ? s.view().next() : View.of(key.character());
    if (chosen != null) {
      boolean same = chosen == s.view();
      return Step.to(
          s.withView(chosen).withMessage(same ? "this is the " + chosen.label() : "", false));
    }
    if (s.view() == View.QUALITY) {
      Step step = QualityKeys.press(scene, s, key);
      return step != null
          ? step
          : key.kind() == Key.Kind.CHARACTER ? everywhere(s, key.character()) : nothing(s, key);
    }
    return switch (key.kind()) {
      case CHARACTER -> character(scene, s, key.character());
      case UP -> vertical(scene, s, true);
      case DOWN -> vertical(scene, s, false);
      case LEFT -> sideways(scene, s, -1);
      case RIGHT -> sideways(scene, s, 1);
      case PAGE_UP -> page(scene, s, true);
      case PAGE_DOWN -> page(scene, s, false);
      case HOME ->
          select(
              scene, s, scene.geometry == null ? -1 : scene.geometry.zoomLevel(), "already there");
      case END -> deepest(scene, s);
      case ENTER -> zoomIn(scene, s);
      case ESCAPE -> back(s);
      default -> nothing(s, key);
    };
  }

  private static Step character(Scene scene, ViewState s, int c) {
    return switch (c) {
      case 'h' -> sideways(scene, s, -1);
      case 'l' -> sideways(scene, s, 1);
      case 'k' -> vertical(scene, s, true);
      case 'j' -> vertical(scene, s, false);
      case '0' ->
          s.zooms().isEmpty()
              ? Step.to(s.withMessage("already at the root", false))
              : Step.to(s.withZooms(List.of()).withMessage("the whole graph", false));
      case '/' ->
          Step.to(s.withSearch(Search.of(s.search() == null ? "" : s.search().text(), true)));
      case 'n' -> match(scene, s, 1);
      case 'N' -> match(scene, s, -1);
      case 'i' ->
          Step.to(
              s.flipped()
                  .withMessage(
                      s.flame() ? "icicle: root at the top" : "flame: root at the bottom", false));
      case 'o' -> states(s);
      case 'e' ->
          Step.to(
              s.withMessage("exporting…", false),
              new Effect.Export(s.windowNanos(), s.states(), s.zoom()));
      case 's' ->
          s.source() != null
              ? Step.to(s.withSource(null))
              : Step.to(s.withSource(ViewState.NO_SOURCE), new Effect.Source());
      default -> everywhere(s, c);
    };
  }

  /** Keys that do the same in every view. */
  private static Step everywhere(ViewState s, int c) {
    return switch (c) {
      case ' ' ->
          s.frozen()
              ? Step.to(s.withFrozen(false).withMessage("live again", false), new Effect.Thaw())
              : Step.to(
                  s.withFrozen(true).withMessage("frozen; space goes on", false),
                  new Effect.Freeze());
      case 'p' ->
          Step.to(
              s.withPick(PickList.open(PickList.Of.PROCESSES)),
              new Effect.Rows(PickList.Of.PROCESSES));
      case 'c' ->
          Step.to(s.withPick(PickList.open(PickList.Of.COMMS)), new Effect.Rows(PickList.Of.COMMS));
      case '+', '=' -> rates(s, PASS_RATES, 1, true);
      case '-', '_' -> rates(s, PASS_RATES, -1, true);
      case '>' -> rates(s, CPU_RATES, 1, false);
      case '<' -> rates(s, CPU_RATES, -1, false);
      case 'd' -> refresh(s);
      case 'm' -> window(s);
      case 'z' ->
          Step.to(
              s.withZooms(List.of())
                  .withSelected(GraphQuery.ROOT, List.of(GraphQuery.ROOT))
                  .withMessage("started anew", false),
              new Effect.Restart());
      case 'J' -> Step.to(s, new Effect.JvmMaps());
      case '?' -> Step.to(s.withHelp(true));
      case 'q' -> Step.to(s, new Effect.Quit());
      default -> nothing(s, Key.of(c));
    };
  }

  private static Step nothing(ViewState s, Key key) {
    return Step.to(s.withMessage(key.label() + " does nothing here; ? lists the keys", false));
  }

  private static Step select(Scene scene, ViewState s, int box, String already) {
    if (box < 0 || box == scene.selectedBox) {
      return Step.to(s.withMessage(already, false));
    }
    return Step.to(selectBox(scene, s, box));
  }

  private static ViewState selectBox(Scene scene, ViewState s, int box) {
    Geometry g = scene.geometry;
    ViewState scrolled = s.scroll() < 0 ? s.withScroll(scene.firstLevel) : s;
    if (g.isRun(box)) {
      long member = g.node(box) < 0 ? -1 : g.slice().node()[g.node(box)];
      return scrolled.withRun(scene.nodeOf(box), member, scene.trail(box));
    }
    return scrolled.withSelected(scene.nodeOf(box), scene.trail(box));
  }

  private static Step vertical(Scene scene, ViewState s, boolean up) {
    if (scene.selectedBox < 0) {
      return Step.to(s.withMessage("nothing to move in yet", false));
    }
    boolean towardsRoot = up != s.flame();
    if (towardsRoot) {
      return select(scene, s, scene.geometry.parent(scene.selectedBox), "already at the root");
    }
    return select(
        scene,
        s,
        scene.geometry.child(scene.selectedBox),
        s.flame() ? "nothing above" : "nothing below");
  }

  private static Step sideways(Scene scene, ViewState s, int direction) {
    if (scene.selectedBox < 0) {
      return Step.to(s.withMessage("nothing to move in yet", false));
    }
    int next = scene.geometry.neighbour(scene.selectedBox, direction);
    return select(scene, s, next, direction < 0 ? "nothing to the left" : "nothing to the right");
  }

  private static Step page(Scene scene, ViewState s, boolean up) {
    int box = scene.selectedBox;
    if (box < 0) {
      return Step.to(s.withMessage("nothing to move in yet", false));
    }
    boolean towardsRoot = up != s.flame();
    for (int i = Math.max(1, scene.graphRows - 2); i > 0; i--) {
      int next = towardsRoot ? scene.geometry.parent(box) : scene.geometry.child(box);
      if (next < 0) {
        break;
      }
      box = next;
    }
    return select(
        scene,
        s,
        box,
        towardsRoot ? "already at the root" : s.flame() ? "nothing above" : "nothing below");
  }

  private static Step deepest(Scene scene, ViewState s) {
    int box = scene.selectedBox;
    if (box < 0) {
      return Step.to(s.withMessage("nothing to move in yet", false));
    }
    for (int next = box; next >= 0; next = scene.geometry.child(next)) {
      box = next;
    }
    return select(scene, s, box, s.flame() ? "nothing above" : "nothing below");
  }

  private static Step zoomIn(Scene scene, ViewState s) {
    int box = scene.selectedBox;
    if (box < 0) {
      return Step.to(s.withMessage("nothing to zoom into yet", false));
    }
    Geometry g = scene.geometry;
    if (g.isRun(box) && s.run()) {
      return openRun(scene, s, box);
    }
    if (s.selected() == s.zoom() && s.under() >= 1) {
      return Step.to(
          s.withMessage(
              s.zooms().isEmpty() ? "already at the root" : "already zoomed to it; esc goes back",
              false));
    }
    if (s.selected() == GraphQuery.ROOT) {
      return Step.to(s.withZooms(List.of()).withMessage("the whole graph", false));
    }
    ViewState next = s.zoomedTo(new ViewState.Zoom(s.selected(), 1));
    boolean leaf = !g.isRun(box) && g.child(box) < 0;
    return Step.to(
        leaf ? next.withMessage(s.flame() ? "nothing above" : "nothing below", false) : next);
  }

  private static Step openRun(Scene scene, ViewState s, int run) {
    Geometry g = scene.geometry;
    int parent = g.parent(run);
    if (g.level(parent) != g.zoomLevel()) {
      return Step.to(s.zoomedTo(new ViewState.Zoom(scene.nodeOf(parent), 1)));
    }
    // The parent fills the width already: what is thin even so gets the width for itself.
    GraphSlice slice = g.slice();
    long heaviest = 0;
    for (int i = 0; i < slice.size(); i++) {
      if (slice.parent()[i] == g.node(parent) && g.boxOf(i) >= 0 && g.isRun(g.boxOf(i))) {
        heaviest = Math.max(heaviest, slice.extent(i));
      }
    }
    double under =
        heaviest > 0
            ? (heaviest + 1.0) / Math.max(1, slice.extent(g.node(parent)))
            : s.under() / (g.columns() * Geometry.CELL);
    ViewState opened =
        s.zoomedTo(new ViewState.Zoom(scene.nodeOf(parent), Math.min(under, s.under() / 2)));
    return Step.to(opened.withMessage("only what was too thin to draw; esc goes back", false));
  }

  private static Step back(ViewState s) {
    if (s.source() != null) {
      return Step.to(s.withSource(null));
    }
    if (s.search() != null) {
      return Step.to(s.withSearch(null).withMessage("search closed", false));
    }
    if (!s.zooms().isEmpty()) {
      return Step.to(s.withZooms(s.zooms().subList(0, s.zooms().size() - 1)));
    }
    return Step.to(s.withMessage("already at the root; q quits", false));
  }

  private static Step inSearch(Scene scene, ViewState s, Key key) {
    String text = s.search().text();
    switch (key.kind()) {
      case CHARACTER -> {
        if (text.length() >= Search.MAX_LENGTH) {
          return Step.to(s.withMessage("the search is as long as it may be", false));
        }
        return Step.to(s.withSearch(Search.of(text + Character.toString(key.character()), true)));
      }
      case BACKSPACE -> {
        if (text.isEmpty()) {
          return Step.to(s.withSearch(null));
        }
        return Step.to(
            s.withSearch(
                Search.of(text.substring(0, text.offsetByCodePoints(text.length(), -1)), true)));
      }
      case CTRL_U -> {
        return Step.to(s.withSearch(Search.of("", true)));
      }
      case ENTER -> {
        if (text.isEmpty()) {
          return Step.to(s.withSearch(null));
        }
        if (s.search().pattern() == null) {
          return Step.to(s);
        }
        ViewState kept = s.withSearch(s.search().kept());
        int box = scene.selectedBox;
        boolean there =
            scene.found() != null
                && box >= 0
                && !scene.geometry.isRun(box)
                && scene.geometry.slice().matched()[scene.geometry.node(box)];
        return there
            ? Step.to(kept.withMessage("the selected one matches; n goes on", false))
            : match(scene, kept, 1);
      }
      case ESCAPE -> {
        return Step.to(s.withSearch(null));
      }
      default -> {
        return nothing(s, key);
      }
    }
  }

  /** A picture has come: does what waited for it. */
  public static Step arrived(Scene scene) {
    ViewState s = scene.settled();
    if (s.search() == null || s.search().awaited() == 0 || scene.found() == null) {
      return Step.to(s);
    }
    return match(scene, s.withSearch(s.search().awaiting(0)), s.search().awaited());
  }

  private static Step match(Scene scene, ViewState s, int direction) {
    if (s.search() == null || s.search().pattern() == null) {
      return Step.to(s.withMessage("no search; / begins one", false));
    }
    if (scene.found() == null) {
      return Step.to(s.withSearch(s.search().awaiting(direction)).withMessage("searching…", false));
    }
    long[] found = scene.found().nodes();
    if (found.length == 0) {
      return Step.to(s.withMessage("no match", false));
    }
    int at = direction > 0 ? -1 : found.length;
    for (int i = 0; i < found.length; i++) {
      if (found[i] == s.selected()) {
        at = i;
      }
    }
    // What is drawn first: of a long search most is too thin to see.
    int next = Math.floorMod(at + direction, found.length);
    for (int i = 1; i <= found.length; i++) {
      int candidate = Math.floorMod(at + i * direction, found.length);
      int drawn = scene.geometry.boxOfNode(found[candidate]);
      if (drawn >= 0 && !scene.geometry.isRun(drawn) && found[candidate] != s.selected()) {
        next = candidate;
        break;
      }
    }
    String where = "match " + (next + 1) + " of " + scene.found().count();
    int box = scene.geometry.boxOfNode(found[next]);
    if (box >= 0 && !scene.geometry.isRun(box)) {
      return Step.to(selectBox(scene, s, box).withMessage(where, false));
    }
    List<Long> trail = box >= 0 ? scene.trail(box) : List.of(GraphQuery.ROOT);
    return Step.to(
        s.withSelected(found[next], trail)
            .withMessage(where + ", too thin to draw here; enter zooms to it", false));
  }

  private static Step states(ViewState s) {
    StateSet next;
    if (s.states().equals(StateSet.BUSY)) {
      next = StateSet.ON_CPU;
    } else if (s.states().equals(StateSet.ON_CPU)) {
      next = StateSet.OFF_CPU;
    } else if (s.states().equals(StateSet.OFF_CPU)) {
      next = StateSet.ALL;
    } else {
      next = StateSet.BUSY;
    }
    return Step.to(
        s.withStates(next)
            .withMessage(
                "time shown: " + statesName(next) + " (" + statesDetail(next) + ")", false));
  }

  /** A set of states in a word. */
  static String statesName(StateSet states) {
    if (states.equals(StateSet.BUSY)) {
      return "busy";
    }
    if (states.equals(StateSet.ON_CPU)) {
      return "on cpu";
    }
    if (states.equals(StateSet.OFF_CPU)) {
      return "off cpu";
    }
    return states.equals(StateSet.ALL) ? "all" : "some";
  }

  /** What a set of states is made of. */
  static String statesDetail(StateSet states) {
    if (states.equals(StateSet.ALL)) {
      return "every state";
    }
    if (states.equals(StateSet.OFF_CPU)) {
      return "queued+disk+asleep";
    }
    List<String> names = new ArrayList<>();
    for (State state : State.values()) {
      if (states.contains(state)) {
        names.add(state.label());
      }
    }
    return String.join("+", names);
  }

  private static Step rates(ViewState s, int[] steps, int direction, boolean pass) {
    int now = pass ? s.passHz() : s.cpuHz();
    int next = now;
    if (direction > 0) {
      for (int i = steps.length - 1; i >= 0; i--) {
        next = steps[i] > now ? steps[i] : next;
      }
    } else {
      for (int step : steps) {
        next = step < now ? step : next;
      }
    }
    if (next == now) {
      return Step.to(
          s.withMessage(
              (pass ? "passes" : "cpu clock")
                  + ": "
                  + now
                  + " Hz is the "
                  + (direction > 0 ? "highest" : "lowest"),
              false));
    }
    ViewState changed = pass ? s.withRates(next, s.cpuHz()) : s.withRates(s.passHz(), next);
    String text =
        pass
            ? "passes: " + next + " Hz"
            : next == 0
                ? "cpu clock off: nothing on a cpu is sampled"
                : "cpu clock: " + next + " Hz";
    return Step.to(
        changed.withMessage(text, false), new Effect.Rates(changed.passHz(), changed.cpuHz()));
  }

  private static Step refresh(ViewState s) {
    long next = REFRESHES[0];
    for (int i = REFRESHES.length - 1; i >= 0; i--) {
      next = REFRESHES[i] > s.refreshNanos() ? REFRESHES[i] : next;
    }
    String every = next < SECOND ? next / 1_000_000 + " ms" : next / SECOND + " s";
    return Step.to(s.withRefresh(next).withMessage("a picture every " + every, false));
  }

  private static Step window(ViewState s) {
    int next = (s.window() + 1) % ViewState.WINDOWS.length;
    ViewState changed = s.withWindow(next);
    String text =
        next == ViewState.WINDOWS.length - 1
            ? "all since the start"
            : "the last " + changed.windowLabel();
    return Step.to(changed.withMessage(text, false));
  }

  private static Step inPickList(ViewState s, Key key) {
    PickList pick = s.pick();
    switch (key.kind()) {
      case ESCAPE -> {
        return Step.to(s.withPick(null));
      }
      case UP -> {
        return Step.to(s.withPick(pick.moved(-1)));
      }
      case DOWN -> {
        return Step.to(s.withPick(pick.moved(1)));
      }
      case PAGE_UP -> {
        return Step.to(s.withPick(pick.moved(-10)));
      }
      case PAGE_DOWN -> {
        return Step.to(s.withPick(pick.moved(10)));
      }
      case HOME -> {
        return Step.to(s.withPick(pick.moved(-100_000)));
      }
      case END -> {
        return Step.to(s.withPick(pick.moved(100_000)));
      }
      case BACKSPACE -> {
        String t = pick.typed();
        return t.isEmpty()
            ? Step.to(s.withMessage("nothing typed; esc closes the list", false))
            : Step.to(
                s.withPick(pick.withTyped(t.substring(0, t.offsetByCodePoints(t.length(), -1)))));
      }
      case CTRL_U -> {
        return Step.to(s.withPick(pick.withTyped("")));
      }
      case CHARACTER -> {
        PickList typed = pick.withTyped(pick.typed() + Character.toString(key.character()));
        return Step.to(
            s.withPick(typed)
                .withMessage(
                    typed.rows() != null && typed.matching().isEmpty() ? "no match" : "", false));
      }
      case ENTER -> {
        return picked(s, pick);
      }
      default -> {
        return nothing(s, key);
      }
    }
  }

  private static Step picked(ViewState s, PickList pick) {
    if (pick.rows() == null) {
      return Step.to(
          s.withPick(pick.withChosen(true))
              .withMessage("the list is still being made; then the first match is picked", false));
    }
    if (!pick.typed().isEmpty() && pick.matching().isEmpty()) {
      return Step.to(s.withMessage("no match", false));
    }
    boolean processes = pick.of() == PickList.Of.PROCESSES;
    ProcessRow row = pick.marked();
    TaskFilter now = s.filter();
    TaskFilter next;
    String text;
    if (row == null) {
      next =
          processes
              ? new TaskFilter(s.base().tgids(), now.comms(), now.uids())
              : new TaskFilter(now.tgids(), s.base().comms(), now.uids());
      text = processes ? "all processes" : "all comms";
    } else if (processes) {
      next = new TaskFilter(Set.of(row.pid()), now.comms(), now.uids());
      text = "only pid " + row.pid() + " " + row.comm() + ", its past too";
    } else {
      next = new TaskFilter(now.tgids(), Set.of(row.comm()), now.uids());
      text = "only comm " + row.comm() + ", its past too";
    }
    ViewState closed = s.withPick(null);
    if (next.equals(now)) {
      return Step.to(closed.withMessage("shown already", false));
    }
    return Step.to(closed.withFilter(next).withMessage(text, false), new Effect.Filter(next));
  }
}

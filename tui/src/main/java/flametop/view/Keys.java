package flametop.view;

import flametop.profile.answer.Function;
import flametop.profile.answer.ProcessRow;
import flametop.profile.answer.StateSet;
import flametop.sampler.State;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;

/**
 * What each key does: a pure function from state and key to the next state and what is asked of the
 * world. The {@link Keymap} says which {@link Action} a key is, the view at hand does it, or what
 * is here, which all views have.
 */
public final class Keys {
  /** Actions that every view has. */
  static final Action[] EVERYWHERE = {
    Action.PROCESS,
    Action.COMM,
    Action.PICK_STATE,
    Action.PICK_CPU,
    Action.PICK_CGROUP,
    Action.FREEZE,
    Action.WINDOW,
    Action.RESTART,
    Action.REFRESH,
    Action.NEXT_VIEW,
    Action.UNDO,
    Action.REDO,
    Action.SHOW_GRAPH,
    Action.SHOW_CALLERS,
    Action.SHOW_SANDWICH,
    Action.SHOW_TOP,
    Action.SHOW_TASKS,
    Action.SHOW_CPUS,
    Action.SHOW_IDLE,
    Action.SHOW_QUALITY,
    Action.MORE_PASSES,
    Action.FEWER_PASSES,
    Action.SLOWER_CLOCK,
    Action.FASTER_CLOCK,
    Action.JVM_NAMES,
    Action.EXPORT,
    Action.HELP,
    Action.REPAINT,
    Action.QUIT,
  };

  /** What nobody wants done by a text that was pasted. */
  private static final EnumSet<Action> GRAVE =
      EnumSet.of(Action.QUIT, Action.RESTART, Action.EXPORT, Action.JVM_NAMES);

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
    return pick.chosen() ? PickKeys.picked(open, pick) : Step.to(open);
  }

  /** A picture has come: does what waited for it. */
  public static Step arrived(Scene scene) {
    ViewState s = SandwichKeys.arrived(scene, scene.settled());
    Function brought = s.bringing() ? SandwichKeys.selected(scene, s) : null;
    s = brought == null ? s : s.withBrought(brought);
    Step shaped = ShapeKeys.arrived(scene, s);
    if (shaped != null) {
      return shaped;
    }
    if (s.search() == null || s.search().awaited() == 0 || !scene.answered()) {
      return Step.to(s);
    }
    int awaited = s.search().awaited();
    return scene.keys(s).match(scene, s.withSearch(s.search().awaiting(0)), awaited);
  }

  /** Applies one key to the state that {@code scene} shows. */
  public static Step press(Scene scene, Key key) {
    return press(scene, key, false);
  }

  /**
   * The same for a key that may be part of a text.
   *
   * @param inText it came with others at once, as if pasted: then it does nothing that would be
   *     missed
   */
  public static Step press(Scene scene, Key key, boolean inText) {
    Step step = pressed(scene, key, inText);
    ViewState counted = step.state().after(scene.state);
    return counted == step.state() ? step : new Step(counted, step.effects());
  }

  private static Step pressed(Scene scene, Key key, boolean inText) {
    ViewState s = scene.settled().withMessage("", false).awaiting(null);
    if (s.search() != null && s.search().awaited() != 0) {
      s = s.withSearch(s.search().awaiting(0));
    }
    Action action = scene.options.keymap().action(s.view(), scene.options.origin(), key);
    boolean letter = key.kind() == Key.Kind.CHARACTER;
    if (!letter && (action == Action.QUIT || action == Action.REPAINT)) {
      return everywhere(scene, s, action);
    }
    if (s.help()) {
      return Step.to(s.withHelpPage(HelpPainter.turned(scene, key)));
    }
    if (s.pick() != null) {
      return PickKeys.press(s, key);
    }
    if (s.formats().open()) {
      return FormatKeys.press(s, key);
    }
    if (s.search() != null && s.search().typing()) {
      return SearchKeys.press(scene, s, key);
    }
    if (inText && letter && GRAVE.contains(action)) {
      String text = key.name() + " came amid other text, as if pasted; press it again if meant";
      return Step.to(s.withMessage(text, false));
    }
    return action == null ? nothing(s, key) : act(scene, s, action);
  }

  /** Applies pasted text: it is typed where something is typed, and never a command. */
  public static Step paste(Scene scene, String pasted) {
    String text = pasted.strip();
    ViewState s = scene.settled().withMessage("", false);
    if (!s.help() && s.pick() != null) {
      return PickKeys.narrowed(s, s.pick().withPrompt(s.pick().prompt().typed(text)));
    }
    if (!s.help() && s.formats().open()) {
      return Step.to(s.withFormats(s.formats().withPrompt(s.formats().prompt().typed(text))));
    }
    if (!s.help() && s.search() != null && s.search().typing()) {
      return Step.to(s.withSearch(Search.of(s.search().prompt().typed(text), true)));
    }
    return Step.to(s.withMessage("pasted text is no command; / searches for it", false));
  }

  /** Applies one event of the mouse to the state that {@code scene} shows. */
  public static Step mouse(Scene scene, Mouse mouse) {
    ViewState s = scene.settled();
    if (scene.tooSmall()) {
      return Step.to(s);
    }
    if (mouse.isPress() || mouse.wheel() != 0) {
      s = s.withMessage("", false);
    }
    if (s.help()) {
      if (mouse.isPress() || mouse.wheel() == 0) {
        return Step.to(mouse.isPress() ? s.withHelp(false) : s);
      }
      Key.Kind turns = mouse.wheel() < 0 ? Key.Kind.UP : Key.Kind.DOWN;
      int page = HelpPainter.turned(scene, Key.of(turns));
      return Step.to(page < 0 ? s : s.withHelpPage(page));
    }
    if (s.pick() != null) {
      return PickKeys.mouse(scene, s, mouse);
    }
    if (s.formats().open()) {
      return FormatKeys.mouse(scene, s, mouse);
    }
    if (s.search() != null && s.search().typing()) {
      return Step.to(s);
    }
    if (mouse.isPress() && (mouse.y() == 0 || mouse.y() == scene.rows - 1)) {
      Action action =
          mouse.y() == 0
              ? HeaderPainter.actionAt(scene, mouse.x())
              : KeyLine.actionAt(scene, mouse.x());
      return action != null && Keymap.has(scene.keys(s), action)
          ? act(scene, s, action)
          : Step.to(s);
    }
    Step step = scene.keys(s).mouse(scene, s, mouse);
    return step != null ? step : Step.to(s);
  }

  private static Step act(Scene scene, ViewState s, Action action) {
    Step step = scene.keys(s).act(scene, s, action);
    return step != null ? step : everywhere(scene, s, action);
  }

  private static Step everywhere(Scene scene, ViewState s, Action action) {
    return switch (action) {
      case PROCESS -> pick(s, PickList.Of.PROCESSES);
      case COMM -> pick(s, PickList.Of.COMMS);
      case PICK_CGROUP -> pick(s, PickList.Of.CGROUPS);
      case PICK_STATE -> PickKeys.states(scene, s);
      case PICK_CPU -> PickKeys.cpus(scene, s);
      case UNDO, REDO -> ShapeKeys.act(scene, s, action);
      case FREEZE ->
          s.frozen()
              ? Step.to(s.withFrozen(false).withMessage("live again", false), new Effect.Thaw())
              : Step.to(
                  s.withFrozen(true).withMessage("frozen; space goes on", false),
                  new Effect.Freeze());
      case WINDOW -> window(s);
      case RESTART ->
          Step.to(
              s.atRoot()
                  .withTime(TimeChoice.NONE)
                  .withFrozen(false)
                  .withMessage("started anew", false),
              new Effect.Restart());
      case REFRESH -> refresh(s);
      case NEXT_VIEW -> show(scene, s, s.view().next(scene.options.origin()));
      case MORE_PASSES -> rates(s, PASS_RATES, 1, true);
      case FEWER_PASSES -> rates(s, PASS_RATES, -1, true);
      case FASTER_CLOCK -> rates(s, CPU_RATES, 1, false);
      case SLOWER_CLOCK -> rates(s, CPU_RATES, -1, false);
      case JVM_NAMES -> Step.to(s, new Effect.JvmMaps());
      case EXPORT -> Step.to(s.withFormats(s.formats().opened(s.view())));
      case HELP -> Step.to(s.withHelp(true));
      case REPAINT -> Step.to(s, new Effect.Repaint());
      case QUIT -> Step.to(s, new Effect.Quit());
      default -> show(scene, s, View.of(action));
    };
  }

  private static Step show(Scene scene, ViewState s, View view) {
    String text = view == s.view() ? "this is the " + view.label() : "";
    // The cursor stays behind, the range goes along.
    ViewState next = s.time().on() ? s.withTime(s.time().withOn(false)) : s;
    Function function = SandwichKeys.selected(scene, s);
    return Step.to(next.withView(view, function).withMessage(text, false));
  }

  private static Step pick(ViewState s, PickList.Of of) {
    return Step.to(s.withPick(PickList.open(of)), new Effect.Rows(of));
  }

  static Step nothing(ViewState s, Key key) {
    return Step.to(s.withMessage(key.name() + " does nothing here; ? lists the keys", false));
  }

  static Step states(ViewState s) {
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
    if (s.time().range() != null) {
      return Step.to(
          s.withTime(TimeChoice.NONE).withMessage(lately(s) + " again", false),
          new Effect.EndRange());
    }
    int next = (s.window() + 1) % ViewState.WINDOWS.length;
    ViewState changed = s.withWindow(next);
    return Step.to(changed.withMessage(lately(changed), false));
  }

  /** The window in words. */
  static String lately(ViewState s) {
    return s.windowNanos() == Long.MAX_VALUE
        ? "all since the start"
        : "the last " + s.windowLabel();
  }
}

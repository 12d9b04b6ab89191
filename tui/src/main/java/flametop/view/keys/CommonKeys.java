package flametop.view.keys;

import flametop.profile.answer.Function;
import flametop.profile.answer.StateSet;
import flametop.sampler.Budget;
import flametop.view.base.Action;
import flametop.view.base.StateNames;
import flametop.view.base.Units;
import flametop.view.base.View;
import flametop.view.layout.Scene;
import flametop.view.layout.WindowWords;
import flametop.view.state.Effect;
import flametop.view.state.PickList;
import flametop.view.state.Step;
import flametop.view.state.ViewState;
import flametop.view.state.Windows;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/** The keys that every view has. */
public final class CommonKeys {
  static final int[] PASS_RATES = {1, 9, 19, 49, 99};
  static final int[] CPU_RATES = {0, 19, 49, 99, 199, 499};

  private static final long SECOND = 1_000_000_000L;
  private static final long[] REFRESHES = {SECOND / 4, SECOND / 2, SECOND, 2 * SECOND, 5 * SECOND};

  /** The sets of states that a key goes through. */
  private static final List<StateSet> STATES =
      List.of(StateSet.BUSY, StateSet.ON_CPU, StateSet.OFF_CPU, StateSet.ALL);

  private CommonKeys() {}

  /** Does an action that every view has. */
  public static Step act(Scene scene, ViewState s, Action action) {
    return switch (action) {
      case PROCESS -> PickKeys.open(s, PickList.Of.PROCESSES);
      case COMM -> PickKeys.open(s, PickList.Of.COMMS);
      case PICK_CGROUP -> PickKeys.open(s, PickList.Of.CGROUPS);
      case PICK_STATE -> PickKeys.states(scene, s);
      case PICK_CPU -> PickKeys.cpus(scene, s);
      case UNDO -> ShapeKeys.undo(s);
      case REDO -> ShapeKeys.redo(s);
      case FREEZE, RESTART ->
          scene.snapshot.isOpening()
              ? Step.answer(s, "not yet: sampling is still being opened")
              : action == Action.FREEZE ? freeze(s) : restart(scene, s);
      case WINDOW -> window(scene, s);
      case MEASURE ->
          scene.isOfFile()
              ? PickKeys.open(s, PickList.Of.SAMPLE_TYPES)
              : MeasureKeys.next(scene, s);
      case REFRESH -> refresh(s);
      case NEXT_VIEW -> show(scene, s, s.view().next(scene.options.origin()));
      case MORE_PASSES -> rates(s, PASS_RATES, 1, true);
      case FEWER_PASSES -> rates(s, PASS_RATES, -1, true);
      case FASTER_CLOCK -> rates(s, CPU_RATES, 1, false);
      case SLOWER_CLOCK -> rates(s, CPU_RATES, -1, false);
      case EXPORT -> Step.to(s.withFormats(s.formats().opened(s.view())));
      case HELP -> Step.to(s.withHelp(true));
      case REPAINT -> Step.to(s, new Effect.Repaint());
      case QUIT -> Step.to(s, new Effect.Quit());
      default -> show(scene, s, Objects.requireNonNull(View.of(action), action.id()));
    };
  }

  private static Step freeze(ViewState s) {
    boolean frozen = s.moment().frozen();
    return Step.answer(
        s.withMoment(s.moment().withFrozen(!frozen)),
        frozen ? "live again" : "frozen; space goes on");
  }

  private static Step restart(Scene scene, ViewState s) {
    ViewState next =
        s.atRoot()
            .withTime(s.time().withoutCursor())
            .withMoment(s.moment().beginningAt(scene.snapshot.live().host().time()));
    String before = lately(scene, s.withMoment(s.moment().withoutSince()));
    return Step.answer(next, "started anew; m goes back to " + before);
  }

  private static Step show(Scene scene, ViewState s, View view) {
    String text = view == s.view() ? "this is the " + view.label() : "";
    // The cursor stays behind; the range goes along.
    ViewState next = s.time().on() ? s.withTime(s.time().withOn(false)) : s;
    Function function = SandwichKeys.selected(scene, s);
    return Step.answer(next.withView(view, function), text);
  }

  /** Goes on to the next set of states. */
  public static Step states(ViewState s) {
    if (s.isOnCpus()) {
      return Step.answer(s, "by CPU there is time on a CPU only; g groups in another way");
    }
    StateSet next = STATES.get((STATES.indexOf(s.states()) + 1) % STATES.size());
    return Step.answer(
        s.withStates(next),
        "time shown: " + StateNames.of(next) + " (" + StateNames.detail(next) + ")");
  }

  /** Holds the shown time as the baseline, or releases the baseline. */
  public static Step compare(Scene scene, ViewState s, Action action) {
    if (action == Action.COMPARE_END) {
      // A compared picture may still be on its way.
      String text = scene.baseline().isPresent() ? "the comparison is over" : "nothing is compared";
      return Step.answer(s.withMoment(s.moment().comparedNoMore()), text);
    }
    if (scene.snapshot.isOpening() || scene.snapshot.live().time().nanos() <= 0) {
      return Step.answer(s, "nothing to compare with yet");
    }
    ViewState compared = s.withMoment(s.moment().compared());
    if (s.moment().range().isPresent()) {
      return Step.answer(
          TimeKeys.withoutRange(compared), lately(scene, s) + ", compared with that range");
    }
    String what = "these " + Units.near(scene.snapshot.live().time().nanos());
    return Step.answer(compared, "compared from now on with " + what);
  }

  private static Step rates(ViewState s, int[] steps, int direction, boolean pass) {
    Budget.Pace pace = s.pace();
    int now = pass ? pace.passHz() : pace.cpuHz();
    int next =
        direction > 0
            ? IntStream.of(steps).filter(step -> step > now).findFirst().orElse(now)
            : IntStream.of(steps).filter(step -> step < now).max().orElse(now);
    if (next == now) {
      return Step.answer(
          s,
          (pass ? "passes" : "cpu clock")
              + ": "
              + now
              + " Hz is the "
              + (direction > 0 ? "highest" : "lowest"));
    }
    int passHz = pass ? next : pace.passHz();
    int cpuHz = pass ? pace.cpuHz() : next;
    ViewState changed =
        s.withPace(new Budget.Pace(pace.refreshNanos(), pace.fine(), passHz, cpuHz));
    String text =
        pass
            ? "passes: " + next + " Hz"
            : next == 0
                ? "cpu clock off: nothing on a cpu is sampled"
                : "cpu clock: " + next + " Hz";
    return Step.to(changed.withMessage(text), new Effect.Rates(passHz, cpuHz));
  }

  private static Step refresh(ViewState s) {
    Budget.Pace pace = s.pace();
    long next =
        LongStream.of(REFRESHES)
            .filter(refresh -> refresh > pace.refreshNanos())
            .findFirst()
            .orElse(REFRESHES[0]);
    ViewState changed = s.withPace(new Budget.Pace(next, pace.fine(), pace.passHz(), pace.cpuHz()));
    String every = next < SECOND ? next / 1_000_000 + " ms" : next / SECOND + " s";
    return Step.answer(changed, "a picture every " + every);
  }

  private static Step window(Scene scene, ViewState s) {
    if (s.moment().range().isPresent()) {
      return Step.answer(TimeKeys.withoutRange(s), lately(scene, s) + " again");
    }
    ViewState next = s.withMoment(Windows.next(s.moment()));
    String again = s.moment().since().isPresent() ? " again" : "";
    return Step.answer(next, lately(scene, next) + again);
  }

  /** The window in words. */
  static String lately(Scene scene, ViewState s) {
    return WindowWords.full(scene, s);
  }
}

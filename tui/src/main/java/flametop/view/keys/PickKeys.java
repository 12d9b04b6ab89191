package flametop.view.keys;

import flametop.profile.answer.CpuRow;
import flametop.profile.answer.ProcessRow;
import flametop.profile.answer.Shape;
import flametop.profile.answer.Shape.Filter;
import flametop.profile.answer.StateSet;
import flametop.sampler.State;
import flametop.view.base.Key;
import flametop.view.base.Mouse;
import flametop.view.base.StateNames;
import flametop.view.base.Zone;
import flametop.view.layout.ListBox;
import flametop.view.layout.Scene;
import flametop.view.state.Effect;
import flametop.view.state.PickList;
import flametop.view.state.PickRow;
import flametop.view.state.Rows;
import flametop.view.state.ShownCpus;
import flametop.view.state.Step;
import flametop.view.state.Typed;
import flametop.view.state.ViewState;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** The keys of an open pick list. */
public final class PickKeys {
  private static final int PAGE = 10;

  private PickKeys() {}

  @SuppressWarnings("ReferenceEquality") // an unchanged value is the same object
  public static Step press(ViewState s, PickList pick, Key key) {
    int by = Rows.by(key, PAGE);
    if (by != 0) {
      return Step.to(s.withPick(pick.moved(by)));
    }
    return switch (key.kind()) {
      case ESCAPE -> Step.to(s.withPick(null));
      case DELETE ->
          pick.prompt().edited(key) == pick.prompt() ? leftOut(s, pick) : typed(s, pick, key);
      case ENTER -> picked(s, pick);
      default -> key.equals(Key.ctrl('x')) ? leftOut(s, pick) : typed(s, pick, key);
    };
  }

  private static Step typed(ViewState s, PickList pick, Key key) {
    return PromptKeys.pressed(
        s, pick.prompt(), Typed.PICK, key, line -> narrowed(s, pick.withPrompt(line)));
  }

  /** Closes the list and remembers the typed text. */
  private static ViewState closed(ViewState s, PickList pick) {
    ViewState closed = s.withPick(null);
    return pick.prompt().isEmpty() ? closed : closed.withUsed(Typed.PICK, pick.typed());
  }

  public static Step narrowed(ViewState s, PickList pick) {
    boolean none = !pick.isListing() && pick.matching().isEmpty();
    return Step.answer(s.withPick(pick), none ? "no match" : "");
  }

  /** A click marks a row, a second click picks it, the wheel moves. */
  public static Step mouse(Scene scene, ViewState s, PickList pick, Mouse mouse) {
    if (mouse.wheel() != 0) {
      return Step.to(s.withPick(pick.moved(mouse.wheel())));
    }
    if (!mouse.isPress()) {
      return Step.to(s);
    }
    ListBox box = ListBox.ofPick(scene, pick);
    if (!box.zone().has(mouse.x(), mouse.y())) {
      return Step.to(s.withPick(null));
    }
    Integer entry = Zone.at(box.entries(), mouse.x(), mouse.y());
    if (entry == null) {
      return Step.to(s);
    }
    PickList at = pick.moved(entry - pick.index());
    ViewState marked = s.withPick(at);
    return mouse.kind() == Mouse.Kind.DOUBLE
        ? picked(marked, at)
        : Step.answer(marked, "enter, or a second click, picks this row");
  }

  /**
   * Takes the rows of a pick list, if the list is still open, and picks one if Enter came before.
   */
  public static Step listed(ViewState s, PickList.Of of, List<ProcessRow> rows) {
    PickList open = s.pick();
    if (open == null || open.of() != of) {
      return Step.to(s);
    }
    PickList pick = open.withRows(rows);
    ViewState listed = s.withPick(pick.withChosen(false));
    return pick.chosen() ? picked(listed, pick) : Step.to(listed);
  }

  static Step picked(ViewState s, PickList pick) {
    if (pick.isListing()) {
      return Step.answer(
          s.withPick(pick.withChosen(true)),
          "the list is still being made; then the first match is picked");
    }
    if (!pick.typed().isEmpty() && pick.matching().isEmpty()) {
      return Step.answer(s, "no match");
    }
    PickRow row = pick.marked();
    ViewState closed = closed(s, pick);
    if (pick.of() == PickList.Of.SAMPLE_TYPES) {
      String name = row == null ? "" : row.name();
      return Step.to(
          closed.atRoot().withMessage(row == null ? pick.of().all() : name + " of each stack"),
          new Effect.SampleType(name));
    }
    if (pick.of() == PickList.Of.STATES) {
      StateSet states = row == null ? StateSet.ALL : StateSet.of(State.of(row.id()));
      return states(closed, states);
    }
    Shape now = s.chosenShape();
    if (row == null) {
      Shape lifted = now.as(s.base(), sort(pick.of()));
      return lifted.equals(now)
          ? Step.answer(closed, pick.of().all() + " are shown already")
          : Step.answer(closed.withShape(lifted).unzoomed(), pick.of().all());
    }
    Filter filter = filter(pick.of(), row);
    return ShapeKeys.only(s, closed, filter, said(s, filter, row, false));
  }

  /** Leaves out the marked row. */
  private static Step leftOut(ViewState s, PickList pick) {
    if (pick.isListing()) {
      return Step.answer(s, "the list is still being made");
    }
    PickRow row = pick.marked();
    if (row == null) {
      return Step.answer(s, "nothing would be left; mark a row first");
    }
    ViewState closed = closed(s, pick);
    if (pick.of() == PickList.Of.SAMPLE_TYPES) {
      return Step.answer(s, "one sample type is shown; enter chooses which");
    }
    if (pick.of() == PickList.Of.STATES) {
      int bit = StateSet.of(State.of(row.id())).bits();
      StateSet fewer = new StateSet(s.states().bits() & ~bit);
      return fewer.bits() == 0 ? Step.answer(s, "no other state is shown") : states(closed, fewer);
    }
    Filter filter = filter(pick.of(), row);
    return ShapeKeys.narrowed(closed, filter, true, said(s, filter, row, true));
  }

  private static String said(ViewState s, Filter filter, PickRow row, boolean out) {
    return filter instanceof Shape.Processes
        ? (out ? "without pid " : "only pid ") + row.id() + " " + row.name() + ", its past too"
        : ShapeKeys.said(s, filter, out);
  }

  private static Step states(ViewState s, StateSet states) {
    String text = "time shown: " + StateNames.detail(states);
    return Step.answer(s.withStates(states), text);
  }

  private static Filter filter(PickList.Of of, PickRow row) {
    return switch (of) {
      case PROCESSES -> new Shape.Processes(Set.of(row.id()), false);
      case COMMS -> new Shape.Comms(Set.of(row.name()), false);
      case CGROUPS -> new Shape.Cgroups(Set.of(row.name()), false);
      case CPUS -> new Shape.Cpus(Set.of(row.id()), false);
      case STATES, SAMPLE_TYPES -> throw new IllegalArgumentException("no part of the shape");
    };
  }

  private static Class<? extends Filter> sort(PickList.Of of) {
    return switch (of) {
      case PROCESSES -> Shape.Processes.class;
      case COMMS -> Shape.Comms.class;
      case CGROUPS -> Shape.Cgroups.class;
      case CPUS -> Shape.Cpus.class;
      case STATES, SAMPLE_TYPES -> throw new IllegalArgumentException("no part of the shape");
    };
  }

  /** Opens a list whose rows the source of the pictures makes. */
  static Step open(ViewState s, PickList.Of of) {
    return Step.to(s.withPick(PickList.open(of)), new Effect.Rows(of));
  }

  /** Opens the list of states, with the tasks now in each. */
  public static Step states(Scene scene, ViewState s) {
    if (scene.isOfFile()) {
      return open(s, PickList.Of.STATES);
    }
    if (scene.snapshot.isOpening()) {
      return Step.answer(s, "nothing is sampled yet");
    }
    List<PickRow> rows = new ArrayList<>();
    int[] tasks = scene.snapshot.live().host().tasks();
    for (State state : State.values()) {
      if (StateSet.ALL.contains(state)) {
        int now = state.ordinal() < tasks.length ? tasks[state.ordinal()] : 0;
        String shown = s.states().contains(state) ? "shown, " : "       ";
        String about = shown + now + (now == 1 ? " task now" : " tasks now");
        rows.add(new PickRow(state.ordinal(), state.label(), Double.NaN, about, null));
      }
    }
    return Step.to(s.withPick(PickList.open(PickList.Of.STATES).with(rows)));
  }

  /** Opens the list of CPUs, the busiest first. */
  public static Step cpus(Scene scene, ViewState s) {
    if (scene.snapshot.isOpening() || scene.snapshot.live().host().cpus().isEmpty()) {
      return Step.answer(s, "CPUs are not measured yet");
    }
    List<PickRow> rows = new ArrayList<>();
    List<CpuRow> cpus = new ArrayList<>(scene.snapshot.live().host().cpus());
    cpus.sort(ShownCpus.most(CpuRow::busy));
    for (CpuRow cpu : cpus) {
      String about = ShownCpus.isMarked(s.chosenShape(), cpu.cpu()) ? "shown" : "";
      rows.add(new PickRow(cpu.cpu(), "CPU" + cpu.cpu(), cpu.busy(), about, null));
    }
    return Step.to(s.withPick(PickList.open(PickList.Of.CPUS).with(rows)));
  }
}

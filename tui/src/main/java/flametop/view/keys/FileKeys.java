package flametop.view.keys;

import flametop.profile.answer.Capability;
import flametop.profile.answer.RootOrder;
import flametop.profile.answer.Selection;
import flametop.profile.answer.Shape;
import flametop.profile.answer.Snapshot;
import flametop.view.base.Action;
import flametop.view.base.Mouse;
import flametop.view.base.Origin;
import flametop.view.layout.Scene;
import flametop.view.state.Effect;
import flametop.view.state.PickList;
import flametop.view.state.Place;
import flametop.view.state.Shaping;
import flametop.view.state.Split;
import flametop.view.state.Step;
import flametop.view.state.ViewActions;
import flametop.view.state.ViewState;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The keys of a view over a file. They do the same as live, except for capabilities that folded
 * stacks lack; and they turn to other files.
 */
public final class FileKeys {
  private static final String ONLY = "this is the only file; give several: flametop view A B";

  private FileKeys() {}

  /**
   * Does an action of a view.
   *
   * @param live the keys of the live view
   */
  public static @Nullable Step act(ViewKeys live, Scene scene, ViewState s, Action action) {
    if (ViewActions.of(s.view(), Origin.LIVE).refuses(action)) {
      return live.act(scene, s, action);
    }
    return switch (action) {
      case PREVIOUS_FILE -> turn(scene, s, -1);
      case NEXT_FILE -> turn(scene, s, 1);
      case SPLIT -> split(scene, s);
      case OTHER_PANE -> otherPane(scene, s);
      // Where there are no numbers, a process is known by what stands outermost.
      case PROCESS ->
          PickKeys.open(s, scene.lacks(action) ? PickList.Of.COMMS : PickList.Of.PROCESSES);
      case GROUP -> group(scene, s);
      case COLLAPSE ->
          saysNoModule(scene)
              ? Step.answer(s, "the name of this frame has no module, unlike mod`f or f [mod]")
              : live.act(scene, s, action);
      default -> {
        Capability needed = action.needs();
        yield needed != null && scene.lacks(action)
            ? Step.answer(s, needed.lacking())
            : live.act(scene, s, action);
      }
    };
  }

  /** A click or the wheel in the other pane, if there is one, takes the keys there. */
  public static @Nullable Step mouse(ViewKeys live, Scene scene, ViewState s, Mouse mouse) {
    Scene other = scene.other;
    boolean inPanes =
        other != null && mouse.y() >= scene.headRow && mouse.y() < scene.graphTop + scene.graphRows;
    if (other == null || !inPanes) {
      return live.mouse(scene, s, mouse);
    }
    if (scene.isInPane(mouse.x())) {
      return live.mouse(scene, s, mouse.movedBy(-scene.graphLeft));
    }
    boolean takes = mouse.isPress() || mouse.wheel() != 0;
    if (!takes || !other.isInPane(mouse.x())) {
      return null;
    }
    Step passed = pass(scene, s);
    Scene there = scene.with(passed.state());
    Step step = live.mouse(there, passed.state(), mouse.movedBy(-there.graphLeft));
    if (step == null) {
      return passed;
    }
    List<Effect> effects = new ArrayList<>(passed.effects());
    effects.addAll(step.effects());
    return new Step(step.state(), effects);
  }

  /** Goes on to the next group above the frames that the file knows. */
  private static @Nullable Step group(Scene scene, ViewState s) {
    List<RootOrder> known = new ArrayList<>(List.of(RootOrder.SERVICE));
    if (scene.has(Capability.PROCESSES)) {
      known.add(RootOrder.PROCESS);
    }
    if (scene.has(Capability.THREADS)) {
      known.add(RootOrder.THREAD);
    }
    if (scene.has(Capability.CGROUPS)) {
      known.add(RootOrder.CGROUP);
    }
    if (known.size() == 1) {
      return outermost(scene, s);
    }
    known.add(RootOrder.NONE);
    RootOrder next = known.get((known.indexOf(s.chosenShape().group()) + 1) % known.size());
    return ShapeKeys.group(
        s, next, next == RootOrder.SERVICE ? "by comm" : new Shape.Group(next).text());
  }

  /** Goes on to the next meaning of the outermost frame: a comm, hidden, a function. */
  private static Step outermost(Scene scene, ViewState s) {
    if (!scene.isOfFile()) {
      return Step.answer(s, "nothing is read yet");
    }
    Snapshot.Reading reading = scene.snapshot.reading();
    boolean shown = s.chosenShape().group() != RootOrder.NONE;
    if (reading.comm() && shown) {
      return ShapeKeys.group(s, RootOrder.NONE, "without the outermost frame");
    }
    boolean isComm = !reading.comm();
    Shape plain = s.chosenShape().without(Shape.Group.class).without(Shape.Comm.class);
    Shape next = isComm == reading.ownComm() ? plain : plain.plus(new Shape.Comm(isComm));
    return ShapeKeys.to(s, next, "the outermost frame is a " + (isComm ? "comm" : "function"));
  }

  private static boolean saysNoModule(Scene scene) {
    Selection selection = scene.selection();
    return selection.module().isEmpty() && selection.kind().isFrame();
  }

  private static Step turn(Scene scene, ViewState s, int by) {
    int files = scene.files();
    if (files < 2) {
      return Step.answer(s, ONLY);
    }
    Snapshot.Reading reading = scene.snapshot.reading();
    Split split = s.split();
    if (split == null) {
      int next = Math.floorMod(reading.number() - 1 + by, files) + 1;
      return Step.to(
          // Each file begins without a shape.
          s.withShaping(Shaping.of(s.base())).atRoot().withMessage(which(next, files)),
          new Effect.Turn(by));
    }
    boolean both = s.isSplit(scene.columns);
    if (both && files == 2) {
      return Step.answer(s, "both files are shown; w takes the keys to the other");
    }
    int next = Math.floorMod(split.active() - 1 + by, files) + 1;
    if (both && next == split.other()) {
      next = Math.floorMod(next - 1 + by, files) + 1;
    }
    Split turned = next == split.other() ? split.passed(null, null) : split.withActive(next);
    return Step.to(
        s.withSplit(turned).withMessage(which(next, files)),
        new Effect.Turn(next - split.active()));
  }

  private static String which(int file, int files) {
    return "file " + file + " of " + files;
  }

  private static Step split(Scene scene, ViewState s) {
    int files = scene.files();
    if (!s.view().hasStacks()) {
      return Step.answer(s, "two files stand side by side in the graph, its callers, the sandwich");
    }
    if (s.split() != null) {
      return Step.answer(s.withSplit(null), "one file again");
    }
    if (files < 2) {
      return Step.answer(s, ONLY);
    }
    if (scene.columns < Split.MIN_COLUMNS) {
      return Step.answer(s, tooNarrow(scene));
    }
    Split split = Split.of(scene.snapshot.reading().number(), files);
    return Step.answer(s.withSplit(split), "two files side by side; w takes the keys to the other");
  }

  private static String tooNarrow(Scene scene) {
    return "two files side by side need "
        + Split.MIN_COLUMNS
        + " columns; there are "
        + scene.columns;
  }

  private static Step otherPane(Scene scene, ViewState s) {
    if (s.split() == null) {
      return Step.answer(s, "one file is shown; | shows another beside it");
    }
    if (!s.view().hasStacks()) {
      return Step.answer(s, "one file is shown here; the graph shows both");
    }
    if (scene.other == null) {
      return Step.answer(
          s, scene.columns < Split.MIN_COLUMNS ? tooNarrow(scene) : "not there yet; again");
    }
    return pass(scene, s);
  }

  /** Takes the keys to the other pane. */
  private static Step pass(Scene scene, ViewState s) {
    Scene other = scene.with(s).other;
    Split from = s.split();
    if (other == null || from == null) {
      return Step.answer(s, "one file is shown; | shows another beside it");
    }
    ViewState there = other.state;
    Place to = from.back(s.inGraph(), there.inGraph());
    return Step.to(
        there.withGraph(to).withSplit(from.passed(s.inGraph(), to)),
        new Effect.Turn(from.other() - from.active()));
  }
}

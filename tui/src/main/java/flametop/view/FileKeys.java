package flametop.view;

import flametop.profile.answer.RootOrder;
import flametop.profile.answer.Selection;
import flametop.profile.answer.Shape;
import flametop.profile.answer.Snapshot;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * What the keys of a view do when the stacks are those of a file: what they do live, but for what
 * folded stacks know nothing of; and they turn to other files.
 */
final class FileKeys implements ViewKeys {
  /** What only a file has. */
  private static final Action[] OWN = {
    Action.PREVIOUS_FILE, Action.NEXT_FILE, Action.SPLIT, Action.OTHER_PANE, Action.OUTERMOST,
  };

  /** What is of two files; the tables show one. */
  private static final Action[] PANES = {Action.SPLIT, Action.OTHER_PANE};

  /** What folded stacks know nothing of. */
  private static final Action[] REFUSED = {
    Action.PROCESS,
    Action.COMM,
    Action.PICK_STATE,
    Action.PICK_CPU,
    Action.PICK_CGROUP,
    Action.SOURCE,
    Action.THREADS,
    Action.COMPARE,
    Action.COMPARE_END,
    Action.FREEZE,
    Action.WINDOW,
    Action.TIME,
    Action.RANGE_START,
    Action.RANGE_END,
    Action.STATES,
    Action.RESTART,
    Action.REFRESH,
    Action.SHOW_TASKS,
    Action.SHOW_CPUS,
    Action.SHOW_IDLE,
    Action.SHOW_QUALITY,
    Action.COLOUR,
    Action.MORE_PASSES,
    Action.FEWER_PASSES,
    Action.SLOWER_CLOCK,
    Action.FASTER_CLOCK,
    Action.JVM_NAMES,
  };

  /** How many keys the line has before those that turn to other files. */
  private static final int BEFORE_FILES = 4;

  private static final String ONLY = "this is the only file; give several: flametop view A B";

  private final ViewKeys live;

  /**
   * @param live what the keys do live
   */
  FileKeys(ViewKeys live) {
    this.live = live;
  }

  @Override
  public Action[] actions() {
    List<Action> actions = known(live.actions());
    actions.addAll(own());
    return actions.toArray(new Action[0]);
  }

  @Override
  public Action[] refused() {
    List<Action> refused = new ArrayList<>(List.of(live.refused()));
    refused.addAll(List.of(REFUSED));
    if (!hasPanes()) {
      refused.addAll(List.of(PANES));
    }
    return refused.toArray(new Action[0]);
  }

  @Override
  public Action[] keyLine(ViewState s) {
    List<Action> line = known(live.keyLine(s));
    if (s.search() == null) {
      List<Action> own = own();
      if (s.split() == null) {
        own.remove(Action.OTHER_PANE);
      } else if (hasPanes()) {
        Collections.swap(own, own.indexOf(Action.SPLIT), own.indexOf(Action.OTHER_PANE));
      }
      line.addAll(Math.min(BEFORE_FILES, line.size()), own);
    }
    return line.toArray(new Action[0]);
  }

  /** What only a file has in this view. */
  private List<Action> own() {
    List<Action> own = new ArrayList<>(List.of(OWN));
    if (!hasPanes()) {
      own.removeAll(List.of(PANES));
    }
    return own;
  }

  private boolean hasPanes() {
    return live instanceof GraphKeys || live instanceof SandwichKeys;
  }

  private static List<Action> known(Action[] actions) {
    List<Action> known = new ArrayList<>(List.of(actions));
    known.removeAll(List.of(REFUSED));
    return known;
  }

  @Override
  public Keys.Step act(Scene scene, ViewState s, Action action) {
    if (Keymap.contains(live.refused(), action)) {
      return live.act(scene, s, action);
    }
    return switch (action) {
      case PREVIOUS_FILE -> turn(scene, s, -1);
      case NEXT_FILE -> turn(scene, s, 1);
      case SPLIT -> split(scene, s);
      case OTHER_PANE -> otherPane(scene, s);
      case OUTERMOST, PROCESS, COMM ->
          Keys.Step.to(
              s.withPick(PickList.open(PickList.Of.COMMS)), new Effect.Rows(PickList.Of.COMMS));
      case FREEZE -> answer(s, "a file holds still by itself");
      case STATES, COLOUR, PICK_STATE ->
          answer(s, "folded stacks do not say their states; record --states chooses them");
      case WINDOW, TIME, RANGE_START, RANGE_END, RESTART ->
          answer(s, "folded stacks do not say their time; a recorded stream does");
      case SOURCE ->
          answer(s, "folded stacks have no source lines; record --format flametop --lines has");
      case REFRESH -> answer(s, "a file does not change: it is painted when a key asks");
      case MORE_PASSES, FEWER_PASSES, SLOWER_CLOCK, FASTER_CLOCK ->
          answer(s, "nothing is sampled here");
      case COMPARE, COMPARE_END -> answer(s, "two files are compared by flametop diff");
      case JVM_NAMES -> answer(s, "no JVM is asked here");
      case GROUP -> outermost(scene, s);
      case COLLAPSE ->
          saysNoModule(scene)
              ? answer(s, "its name does not say its module, as mod`f or f [mod] would")
              : live.act(scene, s, action);
      case PICK_CGROUP ->
          answer(s, "folded stacks say no control groups; record --by cgroup puts them first");
      case THREADS -> answer(s, "folded stacks say their threads only if they were folded by them");
      case SHOW_TASKS -> answer(s, "folded stacks say nothing of tasks; a recorded stream does");
      case SHOW_QUALITY ->
          answer(s, "folded stacks say nothing of their quality; a recorded stream does");
      case SHOW_CPUS, SHOW_IDLE, PICK_CPU ->
          answer(s, "folded stacks say nothing of CPUs; a recorded stream does");
      default -> live.act(scene, s, action);
    };
  }

  /** A click or the wheel in the other pane takes the keys there. */
  @Override
  public Keys.Step mouse(Scene scene, ViewState s, Mouse mouse) {
    boolean inPanes =
        scene.other != null
            && mouse.y() >= scene.headRow
            && mouse.y() < scene.graphTop + scene.graphRows;
    if (!inPanes) {
      return live.mouse(scene, s, mouse);
    }
    if (scene.isInPane(mouse.x())) {
      return live.mouse(scene, s, mouse.movedBy(-scene.graphLeft));
    }
    boolean takes = mouse.isPress() || mouse.wheel() != 0;
    if (!takes || !scene.other.isInPane(mouse.x())) {
      return null;
    }
    Keys.Step passed = pass(scene, s);
    Scene there = scene.with(passed.state());
    Keys.Step step = live.mouse(there, passed.state(), mouse.movedBy(-there.graphLeft));
    if (step == null) {
      return passed;
    }
    List<Effect> effects = new ArrayList<>(passed.effects());
    effects.addAll(step.effects());
    return new Keys.Step(step.state(), effects);
  }

  @Override
  public List<String> namesInSight(Scene scene) {
    return live.namesInSight(scene);
  }

  @Override
  public Keys.Step searched(Scene scene, ViewState kept) {
    return live.searched(scene, kept);
  }

  @Override
  public Keys.Step match(Scene scene, ViewState s, int direction) {
    return live.match(scene, s, direction);
  }

  /** What the outermost frame is: a comm, nothing that is shown, a function. */
  private static Keys.Step outermost(Scene scene, ViewState s) {
    Snapshot.Reading reading = scene.snapshot == null ? null : scene.snapshot.reading();
    if (reading == null) {
      return answer(s, "nothing is read yet");
    }
    boolean shown = s.chosenShape().group() != RootOrder.NONE;
    if (reading.comm() && shown) {
      return ShapeKeys.group(s, RootOrder.NONE, "without the outermost frame");
    }
    boolean isComm = !reading.comm();
    Shape plain = s.chosenShape().without(Shape.Group.class).without(Shape.Comm.class);
    Shape next = isComm == reading.ownComm() ? plain : plain.plus(new Shape.Comm(isComm));
    return ShapeKeys.to(
        s,
        next,
        isComm ? "the outermost frame is a comm" : "the outermost frame is a function",
        "");
  }

  private static boolean saysNoModule(Scene scene) {
    Selection selection = scene.selection();
    return selection != null
        && selection.module().isEmpty()
        && GraphPainter.isFrame(selection.kind());
  }

  private static Keys.Step answer(ViewState s, String text) {
    return Keys.Step.to(s.withMessage(text, false));
  }

  /** Whether it is of no use here: it goes to another file, and there is one only. */
  static boolean isVain(Scene scene, Action action) {
    return files(scene) < 2
        && (action == Action.PREVIOUS_FILE || action == Action.NEXT_FILE || action == Action.SPLIT);
  }

  /** How many files are open. */
  private static int files(Scene scene) {
    Snapshot.Reading reading = scene.snapshot == null ? null : scene.snapshot.reading();
    return reading == null ? 0 : reading.files();
  }

  private static Keys.Step turn(Scene scene, ViewState s, int by) {
    int files = files(scene);
    if (files < 2) {
      return answer(s, ONLY);
    }
    Snapshot.Reading reading = scene.snapshot.reading();
    Split split = s.split();
    if (split == null) {
      int next = Math.floorMod(reading.number() - 1 + by, files) + 1;
      return Keys.Step.to(
          // The shape is the file's own: each is turned to without one.
          s.withShaping(Shaping.of(s.base())).atRoot().withMessage(which(next, files), false),
          new Effect.Turn(by));
    }
    boolean both = s.isSplit(scene.columns);
    if (both && files == 2) {
      return answer(s, "both files are shown; w takes the keys to the other");
    }
    int next = Math.floorMod(split.active() - 1 + by, files) + 1;
    if (both && next == split.other()) {
      next = Math.floorMod(next - 1 + by, files) + 1;
    }
    Split turned = next == split.other() ? split.passed(null, null) : split.withActive(next);
    return Keys.Step.to(
        s.withSplit(turned).withMessage(which(next, files), false),
        new Effect.Turn(next - split.active()));
  }

  private static String which(int file, int files) {
    return "file " + file + " of " + files;
  }

  private Keys.Step split(Scene scene, ViewState s) {
    int files = files(scene);
    if (!hasPanes()) {
      return answer(s, "two files stand side by side in the graph, its callers, the sandwich");
    }
    if (s.split() != null) {
      return answer(s.withSplit(null), "one file again");
    }
    if (files < 2) {
      return answer(s, ONLY);
    }
    if (scene.columns < Split.MIN_COLUMNS) {
      return answer(s, tooNarrow(scene));
    }
    Split split = Split.of(scene.snapshot.reading().number(), files);
    return answer(s.withSplit(split), "two files side by side; w takes the keys to the other");
  }

  private static String tooNarrow(Scene scene) {
    return "two files side by side need "
        + Split.MIN_COLUMNS
        + " columns; there are "
        + scene.columns;
  }

  private Keys.Step otherPane(Scene scene, ViewState s) {
    if (s.split() == null) {
      return answer(s, "one file is shown; | shows another beside it");
    }
    if (!hasPanes()) {
      return answer(s, "one file is shown here; the graph shows both");
    }
    if (scene.other == null) {
      return answer(
          s, scene.columns < Split.MIN_COLUMNS ? tooNarrow(scene) : "not there yet; again");
    }
    return pass(scene, s);
  }

  /** The keys go to the other pane. */
  private static Keys.Step pass(Scene scene, ViewState s) {
    ViewState there = scene.with(s).other.state;
    Split from = s.split();
    Place to = from.back(s.inGraph(), there.inGraph());
    return Keys.Step.to(
        there.withGraph(to).withSplit(from.passed(s.inGraph(), to)),
        new Effect.Turn(from.other() - from.active()));
  }
}

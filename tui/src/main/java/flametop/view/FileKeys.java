package flametop.view;

import flametop.profile.RootOrder;
import flametop.profile.Selection;
import flametop.profile.Snapshot;
import java.util.ArrayList;
import java.util.List;

/**
 * What the keys of a view do when the stacks are those of a file: what they do live, but for what
 * folded stacks know nothing of; and they turn to other files.
 */
final class FileKeys implements ViewKeys {
  /** What only a file has. */
  private static final Action[] OWN = {
    Action.PREVIOUS_FILE, Action.NEXT_FILE, Action.OUTERMOST,
  };

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
    actions.addAll(List.of(OWN));
    return actions.toArray(new Action[0]);
  }

  @Override
  public Action[] refused() {
    List<Action> refused = new ArrayList<>(List.of(live.refused()));
    refused.addAll(List.of(REFUSED));
    return refused.toArray(new Action[0]);
  }

  @Override
  public Action[] keyLine(ViewState s) {
    List<Action> line = known(live.keyLine(s));
    if (s.search() == null) {
      line.addAll(Math.min(BEFORE_FILES, line.size()), List.of(OWN));
    }
    return line.toArray(new Action[0]);
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
      case GROUP ->
          s.filter().group() == RootOrder.NONE
              ? ShapeKeys.group(s, RootOrder.COMM, "by the outermost frame")
              : ShapeKeys.group(s, RootOrder.NONE, "without the outermost frame");
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

  @Override
  public Keys.Step mouse(Scene scene, ViewState s, Mouse mouse) {
    return live.mouse(scene, s, mouse);
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

  private static boolean saysNoModule(Scene scene) {
    Selection selection = scene.selection();
    return selection != null
        && selection.module().isEmpty()
        && GraphPainter.isFrame(selection.kind());
  }

  private static Keys.Step answer(ViewState s, String text) {
    return Keys.Step.to(s.withMessage(text, false));
  }

  private static Keys.Step turn(Scene scene, ViewState s, int by) {
    Snapshot.Reading reading = scene.snapshot == null ? null : scene.snapshot.reading();
    if (reading == null || reading.files() < 2) {
      return answer(s, "this is the only file; give several: flametop view A B");
    }
    int next = Math.floorMod(reading.number() - 1 + by, reading.files()) + 1;
    return Keys.Step.to(
        // The shape is the file's own: each is turned to without one.
        s.withShaping(Shaping.of(s.base()))
            .atRoot()
            .withMessage("file " + next + " of " + reading.files(), false),
        new Effect.Turn(by));
  }
}

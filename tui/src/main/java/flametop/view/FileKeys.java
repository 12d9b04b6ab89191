package flametop.view;

import flametop.profile.GraphQuery;
import flametop.profile.RootOrder;
import flametop.profile.Selection;
import flametop.profile.Snapshot;
import java.util.List;

/** What the keys do in the graph of a file of stacks: what they do in any, and turn to others. */
final class FileKeys implements ViewKeys {
  private static final Action[] ACTIONS = {
    Action.LEFT,
    Action.DOWN,
    Action.UP,
    Action.RIGHT,
    Action.PAGE_UP,
    Action.PAGE_DOWN,
    Action.FIRST,
    Action.LAST,
    Action.ZOOM,
    Action.BACK,
    Action.ROOT,
    Action.SEARCH,
    Action.NEXT_MATCH,
    Action.PREVIOUS_MATCH,
    Action.OUTERMOST,
    Action.KEEP,
    Action.DROP,
    Action.MERGE,
    Action.COLLAPSE,
    Action.GROUP,
    Action.UNDO,
    Action.REDO,
    Action.SHOW_GRAPH,
    Action.SHOW_CALLERS,
    Action.PREVIOUS_FILE,
    Action.NEXT_FILE,
    Action.FLIP,
    Action.COPY,
  };

  private static final Action[] REFUSED = {
    Action.PROCESS,
    Action.COMM,
    Action.PICK_STATE,
    Action.PICK_CPU,
    Action.SOURCE,
    Action.FREEZE,
    Action.WINDOW,
    Action.TIME,
    Action.STATES,
    Action.RESTART,
    Action.REFRESH,
    Action.THREADS,
    Action.PICK_STATE,
    Action.PICK_CPU,
    Action.NEXT_VIEW,
    Action.SHOW_SANDWICH,
    Action.SHOW_TOP,
    Action.SHOW_TASKS,
    Action.SHOW_QUALITY,
    Action.SHOW_CPUS,
    Action.SHOW_IDLE,
    Action.COLOUR,
    Action.COMPARE,
    Action.COMPARE_END,
    Action.MORE_PASSES,
    Action.FEWER_PASSES,
    Action.SLOWER_CLOCK,
    Action.FASTER_CLOCK,
    Action.JVM_NAMES,
  };

  private static final Action[] KEY_LINE = {
    Action.ZOOM,
    Action.BACK,
    Action.SEARCH,
    Action.HELP,
    Action.PREVIOUS_FILE,
    Action.NEXT_FILE,
    Action.OUTERMOST,
    Action.KEEP,
    Action.DROP,
    Action.UNDO,
    Action.SHOW_CALLERS,
    Action.EXPORT,
    Action.FLIP,
    Action.MERGE,
    Action.QUIT,
    Action.ROOT,
    Action.COPY,
  };

  private static final Action[] SEARCH_LINE = {
    Action.NEXT_MATCH,
    Action.PREVIOUS_MATCH,
    Action.KEEP,
    Action.DROP,
    Action.SEARCH,
    Action.BACK,
    Action.ZOOM,
    Action.HELP,
  };

  private final GraphKeys graph = new GraphKeys();

  @Override
  public Action[] actions() {
    return ACTIONS;
  }

  @Override
  public Action[] refused() {
    return REFUSED;
  }

  @Override
  public Action[] keyLine(ViewState s) {
    return s.search() == null ? KEY_LINE : SEARCH_LINE;
  }

  @Override
  public Keys.Step act(Scene scene, ViewState s, Action action) {
    return switch (action) {
      case PREVIOUS_FILE -> turn(scene, s, -1);
      case NEXT_FILE -> turn(scene, s, 1);
      case OUTERMOST, PROCESS, COMM ->
          Keys.Step.to(
              s.withPick(PickList.open(PickList.Of.COMMS)), new Effect.Rows(PickList.Of.COMMS));
      case FREEZE -> answer(s, "a file holds still by itself");
      case STATES, COLOUR, PICK_STATE ->
          answer(s, "folded stacks do not say their states; record --states chooses them");
      case WINDOW, TIME, RESTART ->
          answer(s, "folded stacks do not say their time; a recorded stream does");
      case SOURCE ->
          answer(s, "folded stacks have no source lines; record --format flametop --lines has");
      case REFRESH -> answer(s, "a file does not change: it is painted when a key asks");
      case MORE_PASSES, FEWER_PASSES, SLOWER_CLOCK, FASTER_CLOCK ->
          answer(s, "nothing is sampled here");
      case COMPARE, COMPARE_END -> answer(s, "two files are compared by flametop diff");
      case JVM_NAMES -> answer(s, "no JVM is asked here");
      case SHOW_GRAPH ->
          s.filter().reversed()
              ? ShapeKeys.reverse(s, "outermost frame first")
              : answer(s, "this is the graph; 2 shows the callers");
      case SHOW_CALLERS ->
          s.filter().reversed()
              ? answer(s, "these are the callers; 1 shows the graph")
              : ShapeKeys.reverse(s, "callers: innermost frame first; 1 goes back");
      case GROUP ->
          s.filter().group() == RootOrder.NONE
              ? ShapeKeys.group(s, RootOrder.COMM, "by the outermost frame")
              : ShapeKeys.group(s, RootOrder.NONE, "without the outermost frame");
      case COLLAPSE ->
          saysNoModule(scene)
              ? answer(s, "its name does not say its module, as mod`f or f [mod] would")
              : graph.act(scene, s, action);
      case THREADS -> answer(s, "folded stacks say their threads only if they were folded by them");
      case SHOW_SANDWICH -> answer(s, "no sandwich of a file of stacks; a recorded stream has it");
      case NEXT_VIEW -> answer(s, "folded stacks have this view only");
      case SHOW_TOP -> answer(s, "folded stacks have the graph only");
      case SHOW_TASKS -> answer(s, "folded stacks say nothing of tasks; a recorded stream does");
      case SHOW_QUALITY ->
          answer(s, "folded stacks say nothing of their quality; a recorded stream does");
      case SHOW_CPUS, SHOW_IDLE, PICK_CPU ->
          answer(s, "folded stacks say nothing of CPUs; a recorded stream does");
      default -> graph.act(scene, s, action);
    };
  }

  @Override
  public Keys.Step mouse(Scene scene, ViewState s, Mouse mouse) {
    return GraphMouse.act(scene, s, mouse);
  }

  private static boolean saysNoModule(Scene scene) {
    Selection selection = scene.snapshot == null ? null : scene.snapshot.selection();
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
            .withZooms(List.of())
            .withSelected(GraphQuery.ROOT, List.of(GraphQuery.ROOT))
            .withMessage("file " + next + " of " + reading.files(), false),
        new Effect.Turn(by));
  }
}

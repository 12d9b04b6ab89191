package flametop.view.state;

import flametop.profile.answer.Capability;
import flametop.view.base.Action;
import flametop.view.base.Origin;
import flametop.view.base.View;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The actions of a view, live or of files: actions that the view has, actions that it refuses, and
 * actions in its line of keys.
 */
public record ViewActions(View view, Origin origin) {
  /** The line of keys of the graph. */
  private static final Action[] GRAPH_LINE = {
    Action.ZOOM, Action.SEARCH, Action.FREEZE, Action.SANDWICH,
    Action.NEXT_VIEW, Action.KEEP, Action.HELP, Action.PROCESS,
    Action.DROP, Action.STATES, Action.WINDOW, Action.GROUP,
    Action.SHOW_TOP, Action.SHOW_TASKS, Action.SOURCE, Action.TIME,
    Action.HEAT_MAP, Action.COMPARE, Action.EXPORT, Action.COMM,
    Action.FLIP, Action.COPY, Action.COLOUR, Action.QUIT,
    Action.MERGE, Action.COLLAPSE, Action.FOLD_RUNTIMES, Action.SHOW_SLEEPERS,
    Action.THREADS, Action.MORE_PASSES, Action.FEWER_PASSES, Action.SLOWER_CLOCK,
    Action.FASTER_CLOCK, Action.REFRESH, Action.RESTART
  };

  /** The line during a search in a graph. */
  private static final Action[] GRAPH_LINE_OF_A_SEARCH = {
    Action.NEXT_MATCH, Action.PREVIOUS_MATCH, Action.KEEP, Action.DROP,
    Action.SEARCH, Action.BACK, Action.ZOOM, Action.HELP
  };

  /** The line while the cursor is on the strip of time. */
  private static final Action[] GRAPH_LINE_OF_A_TIME = {
    Action.LEFT, Action.RIGHT, Action.RANGE_START, Action.RANGE_END,
    Action.ZOOM, Action.BACK, Action.GO_TO, Action.FREEZE,
    Action.HELP, Action.HEAT_MAP
  };

  /** The line of keys of a sandwich. */
  private static final Action[] SANDWICH_LINE = {
    Action.ZOOM, Action.BACK, Action.SANDWICH, Action.SEARCH,
    Action.FREEZE, Action.HELP, Action.NEXT_VIEW, Action.STATES,
    Action.WINDOW, Action.EXPORT, Action.COPY, Action.COLOUR,
    Action.ROOT, Action.QUIT
  };

  /** The line of keys of the functions. */
  private static final Action[] TOP_LINE = {
    Action.OPEN, Action.SORT, Action.SEARCH, Action.BACK,
    Action.NEXT_VIEW, Action.KEEP, Action.DROP, Action.UNDO,
    Action.HELP, Action.FREEZE, Action.STATES, Action.WINDOW,
    Action.COPY, Action.PROCESS, Action.COMM, Action.EXPORT,
    Action.QUIT
  };

  /** The line of keys of the tasks. */
  private static final Action[] TASKS_LINE = {
    Action.PICK, Action.SORT, Action.THREADS, Action.ENDED,
    Action.SEARCH, Action.BACK, Action.NEXT_VIEW, Action.HELP,
    Action.KEEP, Action.DROP, Action.UNDO, Action.FREEZE,
    Action.WINDOW, Action.COPY, Action.PROCESS, Action.COMM,
    Action.EXPORT, Action.QUIT
  };

  /** The line of keys of the CPUs. */
  private static final Action[] CPUS_LINE = {
    Action.MARK, Action.SORT, Action.BACK, Action.FREEZE,
    Action.NEXT_VIEW, Action.HELP, Action.REFRESH, Action.QUIT
  };

  /** The line of keys of the idle states. */
  private static final Action[] IDLE_LINE = {
    Action.BACK, Action.FREEZE, Action.NEXT_VIEW, Action.HELP,
    Action.SLOWER_CLOCK, Action.FASTER_CLOCK, Action.REFRESH, Action.QUIT
  };

  /** The line of keys of the quality. */
  private static final Action[] QUALITY_LINE = {
    Action.NEXT_VIEW, Action.BY_MODULE, Action.SORT, Action.PICK,
    Action.WINDOW, Action.FREEZE, Action.HELP, Action.QUIT
  };

  /** The line of keys of the sources of events. */
  private static final Action[] EVENTS_LINE = {
    Action.PICK, Action.SWITCH, Action.ADD, Action.REMOVE,
    Action.BACK, Action.SORT, Action.HELP, Action.COPY,
    Action.NEXT_VIEW, Action.QUIT
  };

  /** How many keys of the line stand before the keys for files. */
  private static final int BEFORE_FILES = 4;

  /** The actions that no view has as its own. */
  private static final Set<Action> OF_ALL_VIEWS =
      Arrays.stream(Action.values())
          .filter(action -> Arrays.stream(View.values()).noneMatch(view -> isOf(view, action)))
          .collect(Collectors.toCollection(() -> EnumSet.noneOf(Action.class)));

  /** The actions of a view whose stacks come from an origin. */
  public static ViewActions of(View view, Origin origin) {
    return new ViewActions(view, origin);
  }

  /** Whether the view has an action: its own, or an action of all views. */
  public boolean has(Action action) {
    return isOwn(action) || !refuses(action) && OF_ALL_VIEWS.contains(action);
  }

  /** Whether an action is the view's own, not one of all views. */
  public boolean isOwn(Action action) {
    return origin.has(action) && isOf(view, action);
  }

  /** Whether an action is a view's own, if the origin has what the action needs. */
  private static boolean isOf(View view, Action action) {
    boolean stacks = view.hasStacks();
    boolean graph = stacks && view != View.SANDWICH;
    return switch (action) {
      case DOWN, UP, PAGE_UP, PAGE_DOWN, FIRST, LAST, BACK, PREVIOUS_FILE, NEXT_FILE -> true;
      case LEFT, RIGHT, ZOOM, ROOT, NEXT_MATCH, PREVIOUS_MATCH, SPLIT, OTHER_PANE -> stacks;
      case SANDWICH, MERGE, COLLAPSE, COLOUR -> stacks;
      case FLIP, SIBLINGS, GROUP, SOURCE -> graph;
      case TIME, GO_TO, HEAT_MAP, RANGE_START, RANGE_END -> graph;
      case THREADS -> graph || view == View.TASKS;
      case FOLD_RUNTIMES, SHOW_SLEEPERS, STATES -> stacks || view == View.TOP;
      case SEARCH, KEEP, DROP, COMPARE, COMPARE_END ->
          stacks || view == View.TOP || view == View.TASKS;
      case COPY -> view != View.CPUS && view != View.IDLE;
      case SORT -> !stacks && view != View.IDLE;
      case PICK -> view == View.TASKS || view == View.QUALITY || view == View.EVENTS;
      case OPEN -> view == View.TOP;
      case ENDED -> view == View.TASKS;
      case MARK -> view == View.CPUS;
      case BY_MODULE -> view == View.QUALITY;
      case SWITCH, ADD, REMOVE -> view == View.EVENTS;
      default -> false;
    };
  }

  /** Whether the view refuses an action of other views: the key then says why. */
  public boolean refuses(Action action) {
    boolean files = origin.has(Capability.FILES);
    return switch (action) {
      case FLIP, SIBLINGS, GROUP, THREADS -> view == View.SANDWICH || lacks(action);
      // Its key switches sources in this view, which is always of the present.
      case FREEZE -> view == View.EVENTS || lacks(action);
      case PREVIOUS_FILE, NEXT_FILE -> false;
      // Tables show one file.
      case SPLIT, OTHER_PANE -> files && !view.hasStacks();
      // A file has no view of the sources of events.
      case SWITCH, ADD, REMOVE -> !files && isOf(view, action) && lacks(action);
      default -> lacks(action);
    };
  }

  private boolean lacks(Action action) {
    return !origin.has(action);
  }

  /**
   * The actions in the line of keys, the most used first; neighbours with one label share the
   * label.
   */
  public List<Action> keyLine(ViewState s) {
    boolean searched = s.search() != null;
    Action[] usual = line(s, searched);
    List<Action> line = new ArrayList<>(List.of(usual));
    if (usual == GRAPH_LINE && (!s.zooms().isEmpty() || s.hasCrumbs())) {
      line.addAll(1, List.of(Action.BACK, Action.UNDO));
    }
    if (searched && view == View.SANDWICH) {
      line.removeAll(List.of(Action.KEEP, Action.DROP));
    }
    line.removeIf(this::lacks);
    if (origin.has(Capability.FILES) && !searched) {
      List<Action> files = new ArrayList<>(List.of(Action.PREVIOUS_FILE, Action.NEXT_FILE));
      if (view.hasStacks() && s.split() != null) {
        files.add(Action.OTHER_PANE);
      }
      if (view.hasStacks()) {
        files.add(Action.SPLIT);
      }
      line.addAll(Math.min(BEFORE_FILES, line.size()), files);
    }
    return line;
  }

  private Action[] line(ViewState s, boolean searched) {
    return switch (view) {
      case GRAPH, CALLERS ->
          s.time().on() ? GRAPH_LINE_OF_A_TIME : searched ? GRAPH_LINE_OF_A_SEARCH : GRAPH_LINE;
      case SANDWICH -> searched ? GRAPH_LINE_OF_A_SEARCH : SANDWICH_LINE;
      case TOP -> TOP_LINE;
      case TASKS -> TASKS_LINE;
      case CPUS -> CPUS_LINE;
      case IDLE -> IDLE_LINE;
      case QUALITY -> QUALITY_LINE;
      case EVENTS -> EVENTS_LINE;
    };
  }
}

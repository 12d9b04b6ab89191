package flametop.view.state;

import flametop.profile.answer.Capability;
import flametop.view.base.Action;
import flametop.view.base.Origin;
import flametop.view.base.View;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * The actions of a view, live or of files: actions that the view has, actions that it refuses, and
 * actions in its line of keys.
 */
public final class ViewActions {
  /** The actions that move through the rows of a table. */
  private static final Action[] MOVES = {
    Action.DOWN, Action.UP, Action.PAGE_UP,
    Action.PAGE_DOWN, Action.FIRST, Action.LAST
  };

  /** The actions of the graph and of its callers. */
  private static final Action[] GRAPH = {
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
    Action.SANDWICH,
    Action.SOURCE,
    Action.KEEP,
    Action.DROP,
    Action.MERGE,
    Action.COLLAPSE,
    Action.FOLD_RUNTIMES,
    Action.SHOW_SLEEPERS,
    Action.GROUP,
    Action.THREADS,
    Action.TIME,
    Action.GO_TO,
    Action.HEAT_MAP,
    Action.RANGE_START,
    Action.RANGE_END,
    Action.COMPARE,
    Action.COMPARE_END,
    Action.STATES,
    Action.FLIP,
    Action.SIBLINGS,
    Action.COPY,
    Action.COLOUR
  };

  /** The actions of the graph that a sandwich lacks. */
  private static final Action[] NOT_IN_A_SANDWICH = {
    Action.SOURCE,
    Action.GROUP,
    Action.THREADS,
    Action.TIME,
    Action.GO_TO,
    Action.HEAT_MAP,
    Action.RANGE_START,
    Action.RANGE_END,
    Action.FLIP,
    Action.SIBLINGS
  };

  /** The actions that a sandwich refuses with a reason. */
  private static final Action[] UNKNOWN_TO_A_SANDWICH = {
    Action.FLIP, Action.SIBLINGS, Action.GROUP, Action.THREADS
  };

  /** The actions of the table of functions, beside moves. */
  private static final Action[] TOP = {
    Action.OPEN, Action.BACK, Action.SEARCH, Action.KEEP,
    Action.DROP, Action.COMPARE, Action.COMPARE_END, Action.SORT,
    Action.STATES, Action.FOLD_RUNTIMES, Action.SHOW_SLEEPERS, Action.COPY
  };

  /** The actions of the table of tasks, beside moves. */
  private static final Action[] TASKS = {
    Action.PICK, Action.BACK, Action.SEARCH, Action.KEEP,
    Action.DROP, Action.THREADS, Action.COMPARE, Action.COMPARE_END,
    Action.SORT, Action.ENDED, Action.COPY
  };

  /** The actions of the table of CPUs, beside moves. */
  private static final Action[] CPUS = {Action.MARK, Action.BACK, Action.SORT};

  /** The actions of the table of the quality, beside moves. */
  private static final Action[] QUALITY = {
    Action.PICK, Action.BACK, Action.SORT, Action.BY_MODULE, Action.COPY
  };

  /** The actions of the table of sources of events, beside moves. */
  private static final Action[] EVENTS = {
    Action.PICK, Action.SWITCH, Action.ADD, Action.REMOVE, Action.BACK, Action.SORT, Action.COPY
  };

  /** The actions that only files have. */
  private static final Action[] ON_FILES = {
    Action.PREVIOUS_FILE, Action.NEXT_FILE, Action.SPLIT, Action.OTHER_PANE
  };

  /** The actions of two files side by side. Tables show one file. */
  private static final Action[] ON_PANES = {Action.SPLIT, Action.OTHER_PANE};

  /** The line of keys of the graph. */
  private static final Action[] GRAPH_LINE = {
    Action.ZOOM,
    Action.SEARCH,
    Action.FREEZE,
    Action.SANDWICH,
    Action.NEXT_VIEW,
    Action.KEEP,
    Action.HELP,
    Action.PROCESS,
    Action.DROP,
    Action.STATES,
    Action.WINDOW,
    Action.GROUP,
    Action.SHOW_TOP,
    Action.SHOW_TASKS,
    Action.SOURCE,
    Action.TIME,
    Action.HEAT_MAP,
    Action.COMPARE,
    Action.EXPORT,
    Action.COMM,
    Action.FLIP,
    Action.COPY,
    Action.COLOUR,
    Action.QUIT,
    Action.MERGE,
    Action.COLLAPSE,
    Action.FOLD_RUNTIMES,
    Action.SHOW_SLEEPERS,
    Action.THREADS,
    Action.MORE_PASSES,
    Action.FEWER_PASSES,
    Action.SLOWER_CLOCK,
    Action.FASTER_CLOCK,
    Action.REFRESH,
    Action.RESTART
  };

  /** The line of keys of a graph with a way back. */
  private static final Action[] WITH_A_WAY_BACK = withAWayBack();

  /** The line during a search in a graph. */
  private static final Action[] GRAPH_LINE_OF_A_SEARCH = {
    Action.NEXT_MATCH, Action.PREVIOUS_MATCH, Action.KEEP, Action.DROP,
    Action.SEARCH, Action.BACK, Action.ZOOM, Action.HELP
  };

  /** The line while the cursor is on the strip of time. */
  private static final Action[] GRAPH_LINE_OF_A_TIME = {
    Action.LEFT,
    Action.RIGHT,
    Action.RANGE_START,
    Action.RANGE_END,
    Action.ZOOM,
    Action.BACK,
    Action.GO_TO,
    Action.FREEZE,
    Action.HELP,
    Action.HEAT_MAP
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
    Action.PICK,
    Action.SORT,
    Action.THREADS,
    Action.ENDED,
    Action.SEARCH,
    Action.BACK,
    Action.NEXT_VIEW,
    Action.HELP,
    Action.KEEP,
    Action.DROP,
    Action.UNDO,
    Action.FREEZE,
    Action.WINDOW,
    Action.COPY,
    Action.PROCESS,
    Action.COMM,
    Action.EXPORT,
    Action.QUIT
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

  private static final Map<Origin, Map<View, ViewActions>> ALL = new EnumMap<>(Origin.class);

  /** The actions of all views: each action that is no view's own. */
  private static final Set<Action> EVERYWHERE = EnumSet.allOf(Action.class);

  static {
    Arrays.asList(ON_FILES).forEach(EVERYWHERE::remove);
    for (Origin origin : Origin.values()) {
      Map<View, ViewActions> views = new EnumMap<>(View.class);
      for (View view : View.values()) {
        ViewActions live = live(view);
        EVERYWHERE.removeAll(live.own);
        views.put(view, of(origin, view, live));
      }
      ALL.put(origin, views);
    }
  }

  private final View view;
  private final Origin origin;
  private final Set<Action> own;
  private final Set<Action> refused;

  private ViewActions(View view, Origin origin, Set<Action> own, Set<Action> refused) {
    this.view = view;
    this.origin = origin;
    this.own = own;
    this.refused = refused;
  }

  /** The actions of a view whose stacks come from an origin. */
  public static ViewActions of(View view, Origin origin) {
    return Objects.requireNonNull(Objects.requireNonNull(ALL.get(origin)).get(view));
  }

  private static Action[] withAWayBack() {
    List<Action> line = new ArrayList<>(List.of(GRAPH_LINE));
    line.addAll(1, List.of(Action.BACK, Action.UNDO));
    return line.toArray(new Action[0]);
  }

  private static ViewActions live(View view) {
    Set<Action> own = EnumSet.noneOf(Action.class);
    Set<Action> refused = EnumSet.noneOf(Action.class);
    Collections.addAll(own, view.hasStacks() ? GRAPH : MOVES);
    switch (view) {
      case GRAPH, CALLERS -> {}
      case SANDWICH -> {
        Arrays.asList(NOT_IN_A_SANDWICH).forEach(own::remove);
        Collections.addAll(refused, UNKNOWN_TO_A_SANDWICH);
      }
      case TOP -> Collections.addAll(own, TOP);
      case TASKS -> Collections.addAll(own, TASKS);
      case CPUS -> Collections.addAll(own, CPUS);
      case IDLE -> own.add(Action.BACK);
      case QUALITY -> Collections.addAll(own, QUALITY);
      case EVENTS -> {
        Collections.addAll(own, EVENTS);
        // Its key switches sources here, and the view is always of the present.
        refused.add(Action.FREEZE);
      }
    }
    return new ViewActions(view, Origin.LIVE, own, refused);
  }

  /** Those that an origin has: what it lacks, it refuses. */
  private static ViewActions of(Origin origin, View view, ViewActions live) {
    Set<Action> own = EnumSet.copyOf(live.own);
    own.removeIf(action -> !origin.has(action));
    boolean files = origin.has(Capability.FILES);
    Set<Action> refused = files ? EnumSet.allOf(Action.class) : EnumSet.copyOf(live.own);
    // A file has no view of the sources of events.
    refused.removeIf(
        action -> origin.has(action) || files && action.needs() == Capability.SWITCHES);
    if (files) {
      own.addAll(onFiles(view));
    }
    refused.addAll(live.refused);
    if (files && !view.hasStacks()) {
      Collections.addAll(refused, ON_PANES);
    }
    return new ViewActions(view, origin, own, refused);
  }

  /** The actions that only files have, in one view. */
  private static List<Action> onFiles(View view) {
    List<Action> onFiles = new ArrayList<>(List.of(ON_FILES));
    if (!view.hasStacks()) {
      onFiles.removeAll(List.of(ON_PANES));
    }
    return onFiles;
  }

  /** Whether the view has an action: its own, or an action of all views. */
  public boolean has(Action action) {
    return isOwn(action) || EVERYWHERE.contains(action) && !refuses(action);
  }

  /** Whether an action is the view's own, not one of all views. */
  public boolean isOwn(Action action) {
    return own.contains(action);
  }

  /** Whether the view refuses an action of other views: the key then says why. */
  public boolean refuses(Action action) {
    return refused.contains(action);
  }

  /** The actions that the view refuses. */
  Set<Action> refused() {
    return Collections.unmodifiableSet(refused);
  }

  /**
   * The actions in the line of keys, the most used first; neighbours with one label share the
   * label.
   */
  public List<Action> keyLine(ViewState s) {
    List<Action> line = liveLine(s);
    line.removeIf(action -> !origin.has(action));
    if (origin.has(Capability.FILES) && s.search() == null) {
      List<Action> onFiles = onFiles(view);
      if (s.split() == null) {
        onFiles.remove(Action.OTHER_PANE);
      } else if (view.hasStacks()) {
        Collections.swap(
            onFiles, onFiles.indexOf(Action.SPLIT), onFiles.indexOf(Action.OTHER_PANE));
      }
      line.addAll(Math.min(BEFORE_FILES, line.size()), onFiles);
    }
    return line;
  }

  private List<Action> liveLine(ViewState s) {
    boolean searched = s.search() != null;
    List<Action> line =
        new ArrayList<>(
            Arrays.asList(
                switch (view) {
                  case GRAPH, CALLERS ->
                      s.time().on()
                          ? GRAPH_LINE_OF_A_TIME
                          : searched
                              ? GRAPH_LINE_OF_A_SEARCH
                              : s.zooms().isEmpty() && !s.hasCrumbs()
                                  ? GRAPH_LINE
                                  : WITH_A_WAY_BACK;
                  case SANDWICH -> searched ? GRAPH_LINE_OF_A_SEARCH : SANDWICH_LINE;
                  case TOP -> TOP_LINE;
                  case TASKS -> TASKS_LINE;
                  case CPUS -> CPUS_LINE;
                  case IDLE -> IDLE_LINE;
                  case QUALITY -> QUALITY_LINE;
                  case EVENTS -> EVENTS_LINE;
                }));
    if (view == View.SANDWICH && searched) {
      line.removeAll(List.of(Action.KEEP, Action.DROP));
    }
    return line;
  }
}

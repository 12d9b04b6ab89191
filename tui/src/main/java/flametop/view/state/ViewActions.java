package flametop.view.state;

import flametop.view.base.Action;
import flametop.view.base.Origin;
import flametop.view.base.View;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * The actions of a view, live or of files: those that it has, those that it refuses, and those that
 * its line of keys shows.
 */
public final class ViewActions {
  /** Actions of all views. */
  private static final Action[] EVERYWHERE = {
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
    Action.QUIT
  };

  /** What only files have. */
  private static final Action[] ON_FILES = {
    Action.PREVIOUS_FILE, Action.NEXT_FILE, Action.SPLIT, Action.OTHER_PANE, Action.OUTERMOST
  };

  /** What two files beside each other have; the tables show one file. */
  private static final Action[] ON_PANES = {Action.SPLIT, Action.OTHER_PANE};

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
    Action.GROUP,
    Action.THREADS,
    Action.TIME,
    Action.RANGE_START,
    Action.RANGE_END,
    Action.COMPARE,
    Action.COMPARE_END,
    Action.STATES,
    Action.FLIP,
    Action.COPY,
    Action.COLOUR
  };

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
    Action.COMPARE,
    Action.EXPORT,
    Action.COMM,
    Action.FLIP,
    Action.COPY,
    Action.COLOUR,
    Action.QUIT,
    Action.MERGE,
    Action.COLLAPSE,
    Action.THREADS,
    Action.MORE_PASSES,
    Action.FEWER_PASSES,
    Action.SLOWER_CLOCK,
    Action.FASTER_CLOCK,
    Action.REFRESH,
    Action.RESTART
  };

  private static final Action[] GRAPH_LINE_WITH_A_WAY_BACK = {
    Action.ZOOM,
    Action.BACK,
    Action.UNDO,
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
    Action.COMPARE,
    Action.EXPORT,
    Action.COMM,
    Action.FLIP,
    Action.COPY,
    Action.COLOUR,
    Action.QUIT,
    Action.MERGE,
    Action.COLLAPSE,
    Action.THREADS,
    Action.MORE_PASSES,
    Action.FEWER_PASSES,
    Action.SLOWER_CLOCK,
    Action.FASTER_CLOCK,
    Action.REFRESH,
    Action.RESTART
  };

  private static final Action[] GRAPH_LINE_OF_A_SEARCH = {
    Action.NEXT_MATCH,
    Action.PREVIOUS_MATCH,
    Action.KEEP,
    Action.DROP,
    Action.SEARCH,
    Action.BACK,
    Action.ZOOM,
    Action.HELP
  };

  private static final Action[] GRAPH_LINE_OF_A_TIME = {
    Action.LEFT,
    Action.RIGHT,
    Action.RANGE_START,
    Action.RANGE_END,
    Action.ZOOM,
    Action.BACK,
    Action.FREEZE,
    Action.HELP
  };

  private static final Action[] SANDWICH = {
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
    Action.COMPARE,
    Action.COMPARE_END,
    Action.KEEP,
    Action.DROP,
    Action.MERGE,
    Action.COLLAPSE,
    Action.STATES,
    Action.COPY,
    Action.COLOUR
  };

  private static final Action[] UNKNOWN_TO_A_SANDWICH = {Action.FLIP, Action.GROUP, Action.THREADS};

  private static final Action[] SANDWICH_LINE = {
    Action.ZOOM,
    Action.BACK,
    Action.SANDWICH,
    Action.SEARCH,
    Action.FREEZE,
    Action.HELP,
    Action.NEXT_VIEW,
    Action.STATES,
    Action.WINDOW,
    Action.EXPORT,
    Action.COPY,
    Action.COLOUR,
    Action.ROOT,
    Action.QUIT
  };

  private static final Action[] SANDWICH_LINE_OF_A_SEARCH = {
    Action.NEXT_MATCH, Action.PREVIOUS_MATCH, Action.SEARCH, Action.BACK, Action.ZOOM, Action.HELP
  };

  private static final Action[] TOP =
      Rows.moves(
          Action.OPEN,
          Action.BACK,
          Action.SEARCH,
          Action.KEEP,
          Action.DROP,
          Action.COMPARE,
          Action.COMPARE_END,
          Action.SORT,
          Action.STATES,
          Action.COPY);

  private static final Action[] TOP_LINE = {
    Action.OPEN,
    Action.SORT,
    Action.SEARCH,
    Action.BACK,
    Action.NEXT_VIEW,
    Action.KEEP,
    Action.DROP,
    Action.UNDO,
    Action.HELP,
    Action.FREEZE,
    Action.STATES,
    Action.WINDOW,
    Action.COPY,
    Action.PROCESS,
    Action.COMM,
    Action.EXPORT,
    Action.QUIT
  };

  private static final Action[] TASKS =
      Rows.moves(
          Action.PICK,
          Action.BACK,
          Action.SEARCH,
          Action.KEEP,
          Action.DROP,
          Action.THREADS,
          Action.COMPARE,
          Action.COMPARE_END,
          Action.SORT,
          Action.COPY);

  private static final Action[] TASKS_LINE = {
    Action.PICK,
    Action.SORT,
    Action.THREADS,
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

  private static final Action[] CPUS = Rows.moves(Action.MARK, Action.BACK, Action.SORT);

  private static final Action[] CPUS_LINE = {
    Action.MARK,
    Action.SORT,
    Action.BACK,
    Action.FREEZE,
    Action.NEXT_VIEW,
    Action.HELP,
    Action.REFRESH,
    Action.QUIT
  };

  private static final Action[] IDLE = Rows.moves(Action.BACK);

  private static final Action[] IDLE_LINE = {
    Action.BACK,
    Action.FREEZE,
    Action.NEXT_VIEW,
    Action.HELP,
    Action.SLOWER_CLOCK,
    Action.FASTER_CLOCK,
    Action.REFRESH,
    Action.QUIT
  };

  private static final Action[] QUALITY =
      Rows.moves(Action.PICK, Action.BACK, Action.SORT, Action.BY_MODULE, Action.COPY);

  private static final Action[] QUALITY_LINE = {
    Action.NEXT_VIEW,
    Action.BY_MODULE,
    Action.SORT,
    Action.PICK,
    Action.WINDOW,
    Action.FREEZE,
    Action.HELP,
    Action.QUIT
  };

  /** How many keys the line has before those that turn to other files. */
  private static final int BEFORE_FILES = 4;

  private static final Map<View, ViewActions> LIVE = new EnumMap<>(View.class);
  private static final Map<View, ViewActions> OF_FILES = new EnumMap<>(View.class);

  static {
    for (View view : View.values()) {
      LIVE.put(view, live(view));
      OF_FILES.put(view, ofFiles(view, LIVE.get(view)));
    }
  }

  private final View view;
  private final boolean files;
  private final Action[] own;
  private final Action[] refused;

  private ViewActions(View view, boolean files, List<Action> own, List<Action> refused) {
    this.view = view;
    this.files = files;
    this.own = own.toArray(new Action[0]);
    this.refused = refused.toArray(new Action[0]);
  }

  /** The actions of a view whose stacks come from there. */
  public static ViewActions of(View view, Origin origin) {
    return (origin == Origin.FILE ? OF_FILES : LIVE).get(view);
  }

  private static ViewActions live(View view) {
    return switch (view) {
      case GRAPH, CALLERS -> live(view, GRAPH);
      case SANDWICH -> live(view, SANDWICH, UNKNOWN_TO_A_SANDWICH);
      case TOP -> live(view, TOP);
      case TASKS -> live(view, TASKS);
      case CPUS -> live(view, CPUS);
      case IDLE -> live(view, IDLE);
      case QUALITY -> live(view, QUALITY);
    };
  }

  private static ViewActions live(View view, Action[] own, Action... refused) {
    return new ViewActions(view, false, List.of(own), List.of(refused));
  }

  private static ViewActions ofFiles(View view, ViewActions live) {
    List<Action> own = knownToFiles(live.own);
    own.addAll(onFiles(view));
    List<Action> refused = new ArrayList<>(List.of(live.refused));
    for (Action action : Action.values()) {
      if (!Origin.FILE.has(action)) {
        refused.add(action);
      }
    }
    if (!view.hasStacks()) {
      refused.addAll(List.of(ON_PANES));
    }
    return new ViewActions(view, true, own, refused);
  }

  private static List<Action> knownToFiles(Action[] actions) {
    List<Action> known = new ArrayList<>(List.of(actions));
    known.removeIf(action -> !Origin.FILE.has(action));
    return known;
  }

  /** What only files have in a view. */
  private static List<Action> onFiles(View view) {
    List<Action> onFiles = new ArrayList<>(List.of(ON_FILES));
    if (!view.hasStacks()) {
      onFiles.removeAll(List.of(ON_PANES));
    }
    return onFiles;
  }

  /** Whether the view has an action, of its own or because all views have it. */
  public boolean has(Action action) {
    return isOwn(action) || contains(EVERYWHERE, action) && !refuses(action);
  }

  /** Whether the view has an action that not all views have. */
  public boolean isOwn(Action action) {
    return contains(own, action);
  }

  /** Whether other views have an action that means nothing here, so that its key says why. */
  public boolean refuses(Action action) {
    return contains(refused, action);
  }

  /** The actions that the view refuses. */
  List<Action> refused() {
    return List.of(refused);
  }

  /** What the line of keys shows, the most used first; neighbours with one label share it. */
  public List<Action> keyLine(ViewState s) {
    if (!files) {
      return Arrays.asList(liveLine(s));
    }
    List<Action> line = knownToFiles(liveLine(s));
    if (s.search() == null) {
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

  private Action[] liveLine(ViewState s) {
    return switch (view) {
      case GRAPH, CALLERS ->
          s.time().on()
              ? GRAPH_LINE_OF_A_TIME
              : s.search() != null
                  ? GRAPH_LINE_OF_A_SEARCH
                  : s.zooms().isEmpty() && !s.hasCrumbs() ? GRAPH_LINE : GRAPH_LINE_WITH_A_WAY_BACK;
      case SANDWICH -> s.search() == null ? SANDWICH_LINE : SANDWICH_LINE_OF_A_SEARCH;
      case TOP -> TOP_LINE;
      case TASKS -> TASKS_LINE;
      case CPUS -> CPUS_LINE;
      case IDLE -> IDLE_LINE;
      case QUALITY -> QUALITY_LINE;
    };
  }

  private static boolean contains(Action[] actions, Action wanted) {
    for (Action action : actions) {
      if (action == wanted) {
        return true;
      }
    }
    return false;
  }
}

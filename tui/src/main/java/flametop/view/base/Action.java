package flametop.view.base;

import flametop.profile.answer.Capability;
import org.jspecify.annotations.Nullable;

/**
 * Everything that a key can do. {@code ViewActions} says which views have an action.
 *
 * <p>Neighbours with the same help share a line of the help.
 */
public enum Action {
  LEFT("left", Group.MOVE, "", "move", "left h"),
  DOWN("down", Group.MOVE, "", "move", "down j"),
  UP("up", Group.MOVE, "", "move", "up k"),
  RIGHT("right", Group.MOVE, "", "move", "right l"),
  PAGE_UP("page-up", Group.MOVE, "", "a page up, down", "pgup"),
  PAGE_DOWN("page-down", Group.MOVE, "", "a page up, down", "pgdn"),
  FIRST("first", Group.MOVE, "", "the first, the last", "home"),
  LAST("last", Group.MOVE, "", "the first, the last", "end"),
  ZOOM("zoom", Group.MOVE, "zoom", "zoom in; opens a … n more", "enter"),
  OPEN("open", Group.MOVE, "sandwich", "its callers and callees", "enter"),
  PICK("pick", Group.MOVE, "its graph", "graph of that process", "enter"),
  BACK("back", Group.MOVE, "back", "one step back", "esc"),
  ROOT("root", Group.MOVE, "root", "back to the root", "0"),

  SEARCH("search", Group.FIND, "search", "search names by regex", "/"),
  NEXT_MATCH("next-match", Group.FIND, "next", "next, previous match", "n"),
  PREVIOUS_MATCH("previous-match", Group.FIND, "previous", "next, previous match", "N"),
  PROCESS("process", Group.FIND, "pid", "one pid, comm, state, cpu", "p"),
  COMM("comm", Group.FIND, "comm", "one pid, comm, state, cpu", "c"),
  PICK_STATE("pick-state", Group.FIND, "state", "one pid, comm, state, cpu", "O"),
  PICK_CPU("pick-cpu", Group.FIND, "cpu", "one pid, comm, state, cpu", "P"),
  PICK_CGROUP("pick-cgroup", Group.FIND, "cgroup", "one control group", "G"),
  SANDWICH("sandwich", Group.FIND, "sandwich", "its callers and callees", "s"),
  SOURCE("source", Group.FIND, "source", "source of the selected", "S"),

  KEEP("keep", Group.SHAPE, "only", "keep, hide the selected", "f"),
  DROP("drop", Group.SHAPE, "without", "keep, hide the selected", "x"),
  MERGE("merge", Group.SHAPE, "merge", "merge recursion", "r"),
  COLLAPSE("collapse", Group.SHAPE, "collapse", "its module as one frame", "M"),
  FOLD_RUNTIMES("fold-runtimes", Group.SHAPE, "runtimes", "fold runtimes' own frames", "R"),
  SHOW_SLEEPERS("idle-threads", Group.SHAPE, "idle threads", "show, fold idle threads", "a"),
  GROUP("group", Group.SHAPE, "group", "group; by thread", "g"),
  THREADS("threads", Group.SHAPE, "threads", "group; by thread", "H"),
  UNDO("undo", Group.SHAPE, "undo", "undo, redo", "u"),
  REDO("redo", Group.SHAPE, "undo", "undo, redo", "U"),
  MEASURE("measure", Group.SHAPE, "measure", "the next measure", "v"),
  COMPARE("compare", Group.SHAPE, "compare", "compare from now; no more", "b"),
  COMPARE_END("compare-end", Group.SHAPE, "compare", "compare from now; no more", "B"),
  SORT("sort", Group.SHAPE, "sort", "sort by the next column", "s"),
  ENDED("ended", Group.SHAPE, "ended", "with those that ended", "a"),
  MARK("mark", Group.SHAPE, "mark", "mark a CPU for the sum", "enter"),
  BY_MODULE("by-module", Group.SHAPE, "module, runtime", "process, module, runtime", "b"),

  SWITCH("switch", Group.SOURCES, "on, off", "switch it on, off", "space"),
  ADD("add-source", Group.SOURCES, "add", "add one: list, search, type", "a"),
  REMOVE("remove-source", Group.SOURCES, "remove", "remove it", "x"),

  FREEZE("freeze", Group.TIME, "freeze", "freeze, thaw", "space"),
  WINDOW("window", Group.TIME, "window", "10 s, 30 s, 5 min, all", "m"),
  TIME("time", Group.TIME, "time", "cursor, or a typed time", "t"),
  GO_TO("go-to-time", Group.TIME, "go to", "cursor, or a typed time", "T"),
  HEAT_MAP("heat-map", Group.TIME, "bursts", "heat map of bursts", "F"),
  RANGE_START("range-start", Group.TIME, "its ends", "start and end of a range", "["),
  RANGE_END("range-end", Group.TIME, "its ends", "start and end of a range", "]"),
  STATES("states", Group.TIME, "states", "busy, on, off cpu, all", "o"),
  RESTART("restart", Group.TIME, "anew", "start anew", "z"),
  REFRESH("refresh", Group.TIME, "refresh", "refresh time", "d"),

  NEXT_VIEW("next-view", Group.VIEWS, "", "next view", "tab"),
  SHOW_GRAPH("graph", Group.VIEWS, "", "graph", "1"),
  SHOW_CALLERS("callers", Group.VIEWS, "callers", "callers: innermost first", "2 I"),
  SHOW_SANDWICH("sandwich-view", Group.VIEWS, "", "sandwich of a function", "3"),
  SHOW_TOP("top", Group.VIEWS, "functions", "top functions, tasks", "4"),
  SHOW_TASKS("tasks", Group.VIEWS, "tasks", "top functions, tasks", "5"),
  SHOW_CPUS("cpus", Group.VIEWS, "CPUs", "CPUs, idle states", "6"),
  SHOW_IDLE("idle", Group.VIEWS, "idle states", "CPUs, idle states", "7"),
  SHOW_QUALITY("quality", Group.VIEWS, "", "quality of the samples", "8"),
  SHOW_EVENTS("events", Group.VIEWS, "events", "sources of events", "9"),
  PREVIOUS_FILE("previous-file", Group.VIEWS, "file", "previous, next file", "["),
  NEXT_FILE("next-file", Group.VIEWS, "file", "previous, next file", "]"),
  SPLIT("split", Group.VIEWS, "beside", "two files; to the other", "|"),
  OTHER_PANE("other-pane", Group.VIEWS, "other", "two files; to the other", "w"),
  FLIP("flip", Group.VIEWS, "flip", "icicle, flame", "i"),
  SIBLINGS("siblings", Group.VIEWS, "order", "by name, by size", "L"),
  COLOUR("colour", Group.VIEWS, "colour", "colour by kind, by state", "C"),

  MORE_PASSES("more-passes", Group.SAMPLING, "passes", "passes a second", "+ ="),
  FEWER_PASSES("fewer-passes", Group.SAMPLING, "passes", "passes a second", "- _"),
  SLOWER_CLOCK("slower-clock", Group.SAMPLING, "cpu clock", "cpu clock", "<"),
  FASTER_CLOCK("faster-clock", Group.SAMPLING, "cpu clock", "cpu clock", ">"),

  EXPORT("export", Group.MORE, "export", "export to a file", "e"),
  COPY("copy", Group.MORE, "copy", "copy the whole name", "y"),
  HELP("help", Group.MORE, "help", "help", "? f1"),
  REPAINT("repaint", Group.MORE, "", "paint anew", "ctrl-l"),
  QUIT("quit", Group.MORE, "quit", "quit", "q ctrl-c");

  /** Headings of the help. */
  public enum Group {
    MOVE("move"),
    FIND("find"),
    SHAPE("shape"),
    SOURCES("sources of events"),
    TIME("time"),
    VIEWS("views"),
    SAMPLING("sampling"),
    MORE("more");

    private final String title;

    Group(String title) {
      this.title = title;
    }

    public String title() {
      return title;
    }
  }

  private final String id;
  private final Group group;
  private final String label;
  private final String help;
  private final String keys;

  Action(String id, Group group, String label, String help, String keys) {
    this.id = id;
    this.group = group;
    this.label = label;
    this.help = help;
    this.keys = keys;
  }

  /** The name of the action in the configuration. */
  public String id() {
    return id;
  }

  public Group group() {
    return group;
  }

  /** The words for the action in the line of keys. */
  public String label() {
    return label;
  }

  /** Some words for the help on the screen. */
  public String help() {
    return help;
  }

  /** A sentence that says what the action does. */
  public String sentence() {
    return ActionSentence.of(this);
  }

  /** The default keys, as {@link Key#parse} reads them. */
  public String keys() {
    return keys;
  }

  /** Whether the action is about states, which only time has. */
  public boolean isOfStates() {
    return this == STATES || this == COLOUR || this == PICK_STATE || this == SHOW_SLEEPERS;
  }

  /**
   * The capability that a source must have for the action to mean something; null if every source
   * will do.
   */
  public @Nullable Capability needs() {
    return switch (this) {
      case FREEZE, REFRESH -> Capability.PRESENT;
      case WINDOW, TIME, GO_TO, HEAT_MAP, RANGE_START, RANGE_END, RESTART -> Capability.TIME;
      case COMPARE, COMPARE_END -> Capability.BASELINE;
      case STATES, PICK_STATE -> Capability.STATES;
      case PROCESS -> Capability.PROCESSES;
      case THREADS -> Capability.THREADS;
      case PICK_CGROUP -> Capability.CGROUPS;
      case SHOW_TASKS, COLOUR, SHOW_SLEEPERS -> Capability.TASKS;
      case SHOW_CPUS, SHOW_IDLE, PICK_CPU -> Capability.CPUS;
      case SHOW_QUALITY -> Capability.QUALITY;
      case MEASURE -> Capability.MEASURES;
      case SHOW_EVENTS -> Capability.EVENTS;
      case SWITCH, ADD, REMOVE -> Capability.SWITCHES;
      case SOURCE -> Capability.SOURCE_LINES;
      case MORE_PASSES, FEWER_PASSES, SLOWER_CLOCK, FASTER_CLOCK -> Capability.SAMPLING;
      case PREVIOUS_FILE, NEXT_FILE, SPLIT, OTHER_PANE -> Capability.FILES;
      default -> null;
    };
  }
}

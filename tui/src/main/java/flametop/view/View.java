package flametop.view;

import flametop.profile.answer.PageQuery;

/** What fills the screen between the header and the keys. */
public enum View {
  GRAPH("graph", Action.SHOW_GRAPH, new GraphKeys(), new GraphViewPainter()),
  CALLERS("callers", Action.SHOW_CALLERS, new GraphKeys(), new GraphViewPainter()),
  SANDWICH("sandwich", Action.SHOW_SANDWICH, new SandwichKeys(), new SandwichPainter()),
  TOP("functions", Action.SHOW_TOP, new TopKeys(), new TopPainter()),
  TASKS("tasks", Action.SHOW_TASKS, new TasksKeys(), new TasksPainter()),
  CPUS("CPUs", Action.SHOW_CPUS, new CpusKeys(), new CpusPainter()),
  IDLE("idle states", Action.SHOW_IDLE, new IdleKeys(), new IdlePainter()),
  QUALITY("quality", Action.SHOW_QUALITY, new QualityKeys(), new QualityPainter());

  private static final View[] ALL = values();

  private final String label;
  private final Action action;

  @SuppressWarnings("ImmutableEnumChecker") // it has no fields
  private final ViewKeys keys;

  @SuppressWarnings("ImmutableEnumChecker") // nor does this one change
  private final ViewKeys fileKeys;

  @SuppressWarnings("ImmutableEnumChecker") // it has no fields
  private final ViewPainter painter;

  View(String label, Action action, ViewKeys keys, ViewPainter painter) {
    this.label = label;
    this.action = action;
    this.keys = keys;
    fileKeys = new FileKeys(keys);
    this.painter = painter;
  }

  public String label() {
    return label;
  }

  /** What the keys do where the stacks come from there. */
  ViewKeys keys(Origin origin) {
    return origin == Origin.FILE ? fileKeys : keys;
  }

  /** What it shows beside the snapshot, wherever the stacks come from; null if nothing. */
  PageQuery page(ViewState s, int columns) {
    return keys.page(s, columns);
  }

  ViewPainter painter() {
    return painter;
  }

  /** The one after it, of those that there are. */
  View next(Origin origin) {
    View next = ALL[(ordinal() + 1) % ALL.length];
    return next.isOf(origin) ? next : next.next(origin);
  }

  /** Whether there is one: folded stacks tell of stacks alone. */
  boolean isOf(Origin origin) {
    return origin != Origin.FILE || hasStacks() || this == TOP;
  }

  /** Whether it is of the present, whatever time the graph is of. */
  boolean isOfThePresent() {
    return this == CPUS || this == IDLE || this == QUALITY;
  }

  /** Whether it shows what changed since the baseline. */
  boolean compares() {
    return hasStacks() || this == TOP || this == TASKS;
  }

  /** Whether stacks are what it shows. */
  boolean hasStacks() {
    return this == GRAPH || this == CALLERS || this == SANDWICH;
  }

  /** The view that an action shows, or null. */
  static View of(Action action) {
    for (View view : ALL) {
      if (view.action == action) {
        return view;
      }
    }
    return null;
  }
}

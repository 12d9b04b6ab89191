package flametop.view;

/** What fills the screen between the header and the keys. */
public enum View {
  GRAPH("graph", Action.SHOW_GRAPH, new GraphKeys(), new GraphViewPainter()),
  CALLERS("callers", Action.SHOW_CALLERS, new GraphKeys(), new GraphViewPainter()),
  SANDWICH("sandwich", Action.SHOW_SANDWICH, new SandwichKeys(), new SandwichPainter()),
  TOP("functions", Action.SHOW_TOP, new TopKeys(), new TopPainter()),
  TASKS("tasks", Action.SHOW_TASKS, new TasksKeys(), new TasksPainter()),
  CPUS("CPUs", Action.SHOW_CPUS, new CpusKeys(), new CpusPainter()),
  IDLE("idle states", Action.SHOW_IDLE, new IdleKeys(), new IdlePainter()),
  QUALITY("quality", Action.SHOW_QUALITY, new QualityKeys(), new QualityPainter()),

  /** Of a file of stacks, which has no other. */
  FILE("graph", null, new FileKeys(), new FilePainter());

  private static final View[] ALL = values();

  private final String label;
  private final Action action;

  @SuppressWarnings("ImmutableEnumChecker") // it has no fields
  private final ViewKeys keys;

  @SuppressWarnings("ImmutableEnumChecker") // nor has this one
  private final ViewPainter painter;

  View(String label, Action action, ViewKeys keys, ViewPainter painter) {
    this.label = label;
    this.action = action;
    this.keys = keys;
    this.painter = painter;
  }

  public String label() {
    return label;
  }

  ViewKeys keys() {
    return keys;
  }

  ViewPainter painter() {
    return painter;
  }

  View next() {
    return this == FILE ? FILE : ALL[(ordinal() + 1) % (ALL.length - 1)];
  }

  /** Whether it is of the present, whatever time the graph is of. */
  boolean isOfThePresent() {
    return this == CPUS || this == IDLE || this == QUALITY;
  }

  /** Whether it shows what changed since the baseline. */
  boolean compares() {
    return this == GRAPH || this == CALLERS || this == SANDWICH;
  }

  /** Whether stacks are what it shows. */
  boolean hasStacks() {
    return this == GRAPH || this == CALLERS || this == SANDWICH || this == FILE;
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

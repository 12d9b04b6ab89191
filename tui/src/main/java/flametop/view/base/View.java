package flametop.view.base;

import org.jspecify.annotations.Nullable;

/** The views, one of which fills the screen between the header and the line of keys. */
public enum View {
  GRAPH("graph", Action.SHOW_GRAPH),
  CALLERS("callers", Action.SHOW_CALLERS),
  SANDWICH("sandwich", Action.SHOW_SANDWICH),
  TOP("functions", Action.SHOW_TOP),
  TASKS("tasks", Action.SHOW_TASKS),
  CPUS("CPUs", Action.SHOW_CPUS),
  IDLE("idle states", Action.SHOW_IDLE),
  QUALITY("quality", Action.SHOW_QUALITY),
  EVENTS("events", Action.SHOW_EVENTS);

  private static final View[] ALL = values();

  private final String label;
  private final Action action;

  View(String label, Action action) {
    this.label = label;
    this.action = action;
  }

  public String label() {
    return label;
  }

  /** The view after this one, among the views that a source has. */
  public View next(Origin origin) {
    View next = ALL[(ordinal() + 1) % ALL.length];
    return next.isOf(origin) ? next : next.next(origin);
  }

  /** Whether a source has what the view shows. */
  public boolean isOf(Origin origin) {
    return origin.has(action);
  }

  /** Whether the view always shows the present, even while the graph shows the past. */
  public boolean isOfThePresent() {
    return this == CPUS || this == IDLE || this == QUALITY || this == EVENTS;
  }

  /** Whether the view shows what changed since the baseline. */
  public boolean compares() {
    return hasStacks() || this == TOP || this == TASKS;
  }

  /** Whether the view shows stacks. */
  public boolean hasStacks() {
    return this == GRAPH || this == CALLERS || this == SANDWICH;
  }

  /** The view that an action shows; null if the action shows none. */
  public static @Nullable View of(Action action) {
    for (View view : ALL) {
      if (view.action == action) {
        return view;
      }
    }
    return null;
  }
}

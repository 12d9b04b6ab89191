package flametop.view.base;

import org.jspecify.annotations.Nullable;

/** What fills the screen between the header and the keys. */
public enum View {
  GRAPH("graph", Action.SHOW_GRAPH),
  CALLERS("callers", Action.SHOW_CALLERS),
  SANDWICH("sandwich", Action.SHOW_SANDWICH),
  TOP("functions", Action.SHOW_TOP),
  TASKS("tasks", Action.SHOW_TASKS),
  CPUS("CPUs", Action.SHOW_CPUS),
  IDLE("idle states", Action.SHOW_IDLE),
  QUALITY("quality", Action.SHOW_QUALITY);

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

  /** The one after it, of those that there are. */
  public View next(Origin origin) {
    View next = ALL[(ordinal() + 1) % ALL.length];
    return next.isOf(origin) ? next : next.next(origin);
  }

  /** Whether there is one: a source has what the view shows. */
  public boolean isOf(Origin origin) {
    return origin.has(action);
  }

  /** Whether it is of the present, whatever time the graph is of. */
  public boolean isOfThePresent() {
    return this == CPUS || this == IDLE || this == QUALITY;
  }

  /** Whether it shows what changed since the baseline. */
  public boolean compares() {
    return hasStacks() || this == TOP || this == TASKS;
  }

  /** Whether stacks are what it shows. */
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

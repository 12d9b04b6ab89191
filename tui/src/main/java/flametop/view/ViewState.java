package flametop.view;

import flametop.profile.GraphQuery;
import flametop.profile.Source;
import flametop.profile.StateSet;
import flametop.profile.TaskFilter;
import flametop.sampler.Budget;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * What the user has chosen to see. Immutable; {@link Keys} makes the next one.
 *
 * @param zooms how the view was narrowed, outermost first; empty: the whole graph
 * @param selected the selected node, {@link GraphQuery#ROOT} at first
 * @param trail the nodes from the root to the selected one, as last seen: where to fall back to
 *     when it is gone
 * @param run the selection is not {@code selected} but the run of thin frames on it that holds
 *     {@code runNode}
 * @param runNode a node of that run; -1 if the slice lists none of them
 * @param search null if there is none
 * @param frozen panels hold still
 * @param flame root at the bottom
 * @param window which span is looked at, index into {@link #WINDOWS}
 * @param states whose time counts
 * @param refreshNanos between two pictures
 * @param pick an open pick list, or null
 * @param source where the selected node is in the source, as last told; null: not shown
 * @param help the keys are shown
 * @param message the answer to the last key; empty if the picture itself is the answer
 * @param trouble the message is about something that failed
 * @param scroll levels hidden between the panel's edge and the first one drawn; -1: found by the
 *     zoom
 * @param filter what is shown
 * @param base the filter that the command line gave
 * @param passHz rate of passes in force
 * @param cpuHz rate of the CPU clock in force
 * @param fine edges are drawn in eighths of a cell
 * @param lowered what the budget lowered, and why; empty if nothing
 * @param view what fills the screen
 * @param table of the quality view
 */
public record ViewState(
    List<Zoom> zooms,
    long selected,
    List<Long> trail,
    boolean run,
    long runNode,
    Search search,
    boolean frozen,
    boolean flame,
    int window,
    StateSet states,
    long refreshNanos,
    PickList pick,
    Source source,
    boolean help,
    String message,
    boolean trouble,
    int scroll,
    TaskFilter filter,
    TaskFilter base,
    int passHz,
    int cpuHz,
    boolean fine,
    String lowered,
    View view,
    QualityTable table) {
  /** The pane of the source, of which nothing was told yet. */
  static final Source NO_SOURCE = new Source(-1, "", 0, List.of(), 0);

  /** Spans in ns; the last is all since the start. */
  static final long[] WINDOWS = {
    10_000_000_000L, 30_000_000_000L, 300_000_000_000L, Long.MAX_VALUE
  };

  private static final String[] WINDOW_LABELS = {"10 s", "30 s", "5 min", "all"};

  /**
   * Levels asked for: more than a stack of 512 user and 127 kernel frames has below its process.
   */
  private static final int LEVELS = 700;

  private static final int LEVELS_MORE = 256;

  /** How much finer the slice is asked for when a run of thin frames was opened. */
  private static final int FINER = 32;

  /**
   * One step into the graph.
   *
   * @param node that fills the width
   * @param under if below 1, only its children under this share of it: an opened run of thin frames
   */
  public record Zoom(long node, double under) {}

  /** The state that the screen starts with. */
  public static ViewState initial(
      StateSet states, TaskFilter filter, int passHz, int cpuHz, long refreshNanos) {
    return new ViewState(
        List.of(),
        GraphQuery.ROOT,
        List.of(GraphQuery.ROOT),
        false,
        -1,
        null,
        false,
        false,
        1,
        states,
        refreshNanos,
        null,
        null,
        false,
        "",
        false,
        -1,
        filter,
        filter,
        passHz,
        cpuHz,
        true,
        "",
        View.GRAPH,
        QualityTable.FIRST);
  }

  /** The node that fills the width. */
  public long zoom() {
    return zooms.isEmpty() ? GraphQuery.ROOT : zooms.get(zooms.size() - 1).node();
  }

  /** See {@link Zoom#under}. */
  public double under() {
    return zooms.isEmpty() ? 1 : zooms.get(zooms.size() - 1).under();
  }

  public long windowNanos() {
    return WINDOWS[window];
  }

  String windowLabel() {
    return WINDOW_LABELS[window];
  }

  /** What to ask the profile for, for a picture that is {@code columns} wide. */
  public GraphQuery query(int columns) {
    int finer = columns;
    for (Zoom z : zooms) {
      if (z.under() < 1 && finer < columns * FINER * FINER) {
        finer *= FINER;
      }
    }
    return new GraphQuery(
        windowNanos(),
        states,
        zoom(),
        selected,
        finer,
        // The selection may be led on from the deepest of them.
        LEVELS + trail.size() / LEVELS_MORE * LEVELS_MORE,
        search == null ? null : search.pattern());
  }

  private ViewState with(Consumer<Draft> change) {
    Draft draft = new Draft(this);
    change.accept(draft);
    return draft.state();
  }

  /** The scroll is found anew: the zoomed node near the edge. */
  ViewState withZooms(List<Zoom> value) {
    return with(
        d -> {
          d.zooms = List.copyOf(value);
          d.scroll = -1;
        });
  }

  ViewState zoomedTo(Zoom zoom) {
    List<Zoom> next = new ArrayList<>(zooms);
    next.add(zoom);
    return withZooms(next);
  }

  ViewState withSelected(long node, List<Long> path) {
    return with(
        d -> {
          d.selected = node;
          d.trail = path;
          d.run = false;
          d.runNode = -1;
        });
  }

  ViewState withRun(long parent, long member, List<Long> path) {
    return with(
        d -> {
          d.selected = parent;
          d.trail = path;
          d.run = true;
          d.runNode = member;
        });
  }

  ViewState withSearch(Search value) {
    return with(d -> d.search = value);
  }

  ViewState withFrozen(boolean value) {
    return with(d -> d.frozen = value);
  }

  ViewState flipped() {
    return with(d -> d.flame = !flame);
  }

  ViewState withWindow(int value) {
    return with(d -> d.window = value);
  }

  ViewState withStates(StateSet value) {
    return with(d -> d.states = value);
  }

  ViewState withRefresh(long nanos) {
    return with(d -> d.refreshNanos = nanos);
  }

  ViewState withPick(PickList value) {
    return with(d -> d.pick = value);
  }

  /** The pane of the source shows this; null closes it. */
  ViewState withSource(Source value) {
    return with(d -> d.source = value);
  }

  /** The same with an answer in the pane of the source, if it is still open. */
  public ViewState withAnswer(Source value) {
    return source == null ? this : withSource(value);
  }

  ViewState withHelp(boolean value) {
    return with(d -> d.help = value);
  }

  /** The same with an answer. */
  public ViewState withMessage(String text, boolean isTrouble) {
    return with(
        d -> {
          d.message = text;
          d.trouble = isTrouble;
        });
  }

  ViewState withScroll(int levels) {
    return with(d -> d.scroll = levels);
  }

  /** A filter shows the whole graph of what it admits. */
  ViewState withFilter(TaskFilter value) {
    return with(
        d -> {
          d.filter = value;
          d.zooms = List.of();
          d.scroll = -1;
        });
  }

  ViewState withRates(int pass, int cpu) {
    return with(
        d -> {
          d.passHz = pass;
          d.cpuHz = cpu;
        });
  }

  ViewState withView(View value) {
    return with(d -> d.view = value);
  }

  ViewState withTable(QualityTable value) {
    return with(d -> d.table = value);
  }

  /**
   * The same at another pace.
   *
   * @param said what is lower than was asked for, and why; empty if nothing is
   */
  public ViewState withPace(Budget.Pace pace, String said) {
    return with(
        d -> {
          d.refreshNanos = pace.refreshNanos();
          d.fine = pace.fine();
          d.passHz = pace.passHz();
          d.cpuHz = pace.cpuHz();
          d.lowered = said;
        });
  }

  /** A state that is being made. */
  private static final class Draft {
    List<Zoom> zooms;
    long selected;
    List<Long> trail;
    boolean run;
    long runNode;
    Search search;
    boolean frozen;
    boolean flame;
    int window;
    StateSet states;
    long refreshNanos;
    PickList pick;
    Source source;
    boolean help;
    String message;
    boolean trouble;
    int scroll;
    TaskFilter filter;
    TaskFilter base;
    int passHz;
    int cpuHz;
    boolean fine;
    String lowered;
    View view;
    QualityTable table;

    Draft(ViewState from) {
      zooms = from.zooms;
      selected = from.selected;
      trail = from.trail;
      run = from.run;
      runNode = from.runNode;
      search = from.search;
      frozen = from.frozen;
      flame = from.flame;
      window = from.window;
      states = from.states;
      refreshNanos = from.refreshNanos;
      pick = from.pick;
      source = from.source;
      help = from.help;
      message = from.message;
      trouble = from.trouble;
      scroll = from.scroll;
      filter = from.filter;
      base = from.base;
      passHz = from.passHz;
      cpuHz = from.cpuHz;
      fine = from.fine;
      lowered = from.lowered;
      view = from.view;
      table = from.table;
    }

    ViewState state() {
      return new ViewState(
          zooms,
          selected,
          trail,
          run,
          runNode,
          search,
          frozen,
          flame,
          window,
          states,
          refreshNanos,
          pick,
          source,
          help,
          message,
          trouble,
          scroll,
          filter,
          base,
          passHz,
          cpuHz,
          fine,
          lowered,
          view,
          table);
    }
  }
}

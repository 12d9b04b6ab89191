package flametop.view.state;

import flametop.profile.answer.Function;
import flametop.profile.answer.GraphQuery;
import flametop.profile.answer.Moment;
import flametop.profile.answer.RootOrder;
import flametop.profile.answer.Shape;
import flametop.profile.answer.Source;
import flametop.profile.answer.StateSet;
import flametop.profile.answer.TasksQuery;
import flametop.profile.answer.TopQuery;
import flametop.sampler.Budget;
import flametop.sampler.State;
import flametop.view.base.Action;
import flametop.view.base.Colouring;
import flametop.view.base.Prompt;
import flametop.view.base.View;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The choices of the user. Immutable; {@code Keys} makes the next state. Choices of one view are a
 * value of their own, like {@link Place} and {@link TablePlace}.
 */
public final class ViewState implements Cloneable {
  /** An open pane of the source, before the first answer. */
  public static final Source NO_SOURCE = new Source(-1, "", 0, List.of(), 0);

  // Fields are written only in a copy that nobody else has yet.
  private View view = View.GRAPH;
  private Place graph = Place.ROOT;
  private Place callers = Place.ROOT;
  private SandwichPlace sandwich = SandwichPlace.NONE;

  /** The functions that went along to the callers and to the table of functions last. */
  private @Nullable Function toCallers;

  private @Nullable Function toTop;
  private boolean bringing;
  private @Nullable Function coming;

  private boolean flame;
  private boolean bySize;
  private @Nullable Source source;
  private Map<View, TablePlace<?, ?>> tables =
      Map.of(
          View.TOP, TablePlace.first(TopQuery.Order.CPU),
          View.TASKS, TablePlace.first(TasksQuery.Order.CPU),
          View.CPUS, TablePlace.first(null),
          View.IDLE, TablePlace.first(null),
          View.QUALITY, TablePlace.first(null),
          View.EVENTS, TablePlace.first(null));
  private TimeChoice time = TimeChoice.NONE;
  private Colouring colouring = Colouring.KIND;

  private @Nullable Search search;
  private Map<Typed, List<String>> typed = Map.of();
  private @Nullable PickList pick;
  private FormatList formats = FormatList.CLOSED;
  private @Nullable SourceList sources;
  private int helpPage = -1;
  private Said said = Said.NOTHING;
  private int exports;

  private Moment moment = Windows.FIRST;
  private StateSet states;

  /** The states of time, while the measure is another one; null while time is shown. */
  private @Nullable StateSet statesOfTime;

  private Shaping shaping;
  private @Nullable Split split;
  private @Nullable Action awaited;

  private Budget.Pace pace;
  private String lowered = "";

  private ViewState(StateSet states, Shape base, Budget.Pace pace) {
    this.states = states;
    this.shaping = Shaping.of(base);
    this.pace = pace;
  }

  /**
   * The state that the screen starts with.
   *
   * @param base the shape that the command line gave
   */
  public static ViewState initial(
      StateSet states, Shape base, int passHz, int cpuHz, long refreshNanos) {
    return new ViewState(states, base, new Budget.Pace(refreshNanos, true, passHz, cpuHz));
  }

  private ViewState with(Consumer<ViewState> change) {
    try {
      ViewState next = (ViewState) clone();
      change.accept(next);
      return next;
    } catch (CloneNotSupportedException e) {
      throw new AssertionError(e);
    }
  }

  /** The view on the screen. */
  public View view() {
    return view;
  }

  /** The place in the graph of this view, which has outermost frames first, or innermost. */
  Place inView() {
    return view == View.CALLERS ? callers : graph;
  }

  /** The place in the graph, whatever view is shown. */
  public Place inGraph() {
    return graph;
  }

  /**
   * The place in the graph that the keys act on: in a sandwich, the place in one of both halves.
   */
  public Place place() {
    return view == View.SANDWICH ? sandwich.place() : inView();
  }

  /** The function of the sandwich, and the places in its halves. */
  public SandwichPlace sandwich() {
    return sandwich;
  }

  /** Whether the root is at the bottom. */
  public boolean flame() {
    return view == View.SANDWICH ? !sandwich.below() : flame;
  }

  /** The last answer in the pane of the source; null if the pane is closed. */
  public @Nullable Source source() {
    return source;
  }

  /** The place in the table of a view. Each table knows the types of its keys and orders. */
  @SuppressWarnings("unchecked")
  public <K, O> TablePlace<K, O> table(View of) {
    return (TablePlace<K, O>) Objects.requireNonNull(tables.get(of));
  }

  /** The choice on the strip of time. */
  public TimeChoice time() {
    return time;
  }

  /** The meaning of the colours of frames. */
  public Colouring colouring() {
    return colouring;
  }

  /** The search of the view: in graphs, or the filter of a table. Null if there is none. */
  public @Nullable Search search() {
    return switch (view) {
      case TOP, TASKS -> table(view).filter();
      default -> search;
    };
  }

  /** The search in graphs, whatever view is shown. Null if there is none. */
  @Nullable Search searchInGraph() {
    return search;
  }

  /** The past lines of one kind, the latest first. */
  public List<String> typed(Typed of) {
    return typed.getOrDefault(of, List.of());
  }

  /** The open pick list; null if none is open. */
  public @Nullable PickList pick() {
    return pick;
  }

  /** The list of export formats, the last choice first. */
  public FormatList formats() {
    return formats;
  }

  /** The open list of sources of events; null if it is closed. */
  public @Nullable SourceList sources() {
    return sources;
  }

  /** Whether the help is shown. */
  public boolean help() {
    return helpPage >= 0;
  }

  /** The page of the help, from 0; negative if no help is shown. */
  public int helpPage() {
    return helpPage;
  }

  /** The answer to the last key, in words. */
  public Said said() {
    return said;
  }

  /** The answer to the last key; empty if the picture is the answer. */
  public String message() {
    return said.text();
  }

  /** Which moment is shown. */
  public Moment moment() {
    return moment;
  }

  /**
   * The states whose time counts. By CPU only time on a CPU has a place in the graph, unless the
   * user wants no such time.
   */
  public StateSet states() {
    return isOnCpus() ? StateSet.ON_CPU : states;
  }

  /** Whether the graph has time on a CPU only, since it is grouped by CPU. */
  public boolean isOnCpus() {
    return chosenShape().group() == RootOrder.CPU
        && statesOfTime == null
        && states.contains(State.RUN);
  }

  /** The chosen shape: the shape of the graph, except in the view of callers. */
  public Shape chosenShape() {
    return shaping.now();
  }

  /** The shape that the command line gave. */
  public Shape base() {
    return shaping.base();
  }

  /** The shape that the graph has in this view. */
  public Shape shape() {
    return view == View.CALLERS ? chosenShape().plus(new Shape.Reverse()) : chosenShape();
  }

  /** Whether the breadcrumb has a step to show. */
  public boolean hasCrumbs() {
    return view == View.CALLERS || !chosenShape().steps().isEmpty();
  }

  /** The chosen shape, with the shapes before and after it. */
  public Shaping shaping() {
    return shaping;
  }

  /** Two files side by side; null for one file. */
  public @Nullable Split split() {
    return split;
  }

  /** Whether two files are shown in this view, if the screen is {@code columns} wide. */
  public boolean isSplit(int columns) {
    return split != null && view.hasStacks() && columns >= Split.MIN_COLUMNS;
  }

  /** The action that waits for more about the selected node; null for none. */
  public @Nullable Action awaited() {
    return awaited;
  }

  /** Whether a pressed key still waits for an answer. */
  public boolean awaits() {
    return awaited != null
        || search != null && search.awaited() != 0
        || pick != null && pick.chosen()
        || sources != null && sources.asked() >= 0;
  }

  /**
   * How often there is a picture and a sample, and whether edges are drawn in eighths of a cell.
   */
  public Budget.Pace pace() {
    return pace;
  }

  /** The rates that the budget lowered, and why; empty if the budget lowered nothing. */
  public String lowered() {
    return lowered;
  }

  public List<Zoom> zooms() {
    return place().zooms();
  }

  public long selected() {
    return place().selected();
  }

  /** The node that fills the width. */
  public long zoom() {
    return place().zoom();
  }

  /** Whether siblings of the graph stand by size; else by name. */
  public boolean bySize() {
    return bySize;
  }

  public ViewState withBySize(boolean value) {
    return with(next -> next.bySize = value);
  }

  /** The same with another view. */
  public ViewState withView(View value) {
    return with(
        next -> {
          next.view = value;
          next.bringing = false;
          next.coming = null;
        });
  }

  /**
   * The same with another view, which selects a function if the view can show one. The selection
   * there stays if this function was brought there the last time.
   *
   * @param function null for none, or until the function is known
   */
  public ViewState withView(View value, @Nullable Function function) {
    ViewState next = withView(value);
    boolean same = function != null && function.equals(toCallers);
    if (value == View.CALLERS && graph.selected() != GraphQuery.ROOT && !same) {
      next.callers = Place.ROOT.withSelected(graph.selected(), Place.ROOT.trail());
      next.toCallers = function;
    } else if (value == View.TOP && (view == View.GRAPH || function != null)) {
      next.bringing = true;
      next.coming = function;
    }
    return next;
  }

  /** Whether the selected function is to go to the table of functions when that has its rows. */
  public boolean bringing() {
    return bringing;
  }

  /** That function; null as long as its name is not known. */
  public @Nullable Function next() {
    return coming;
  }

  /**
   * The same with a function marked in the table of functions, unless the same function was brought
   * there before, or the table would not show its first rows then.
   *
   * @param onTop whether the function is among the first rows
   */
  public ViewState withBrought(Function function, boolean onTop) {
    TablePlace<Function, TopQuery.Order> top = table(View.TOP);
    ViewState next = withView(view);
    next.toTop = function;
    return onTop && !function.equals(toTop)
        ? next.withTable(View.TOP, top.withMarked(function, top.place()))
        : next;
  }

  public ViewState withPlace(Place value) {
    return switch (view) {
      case SANDWICH -> withSandwich(sandwich.with(value));
      case CALLERS -> with(next -> next.callers = value);
      default -> withGraph(value);
    };
  }

  /** The same at another place in the graph, whatever view is shown. */
  public ViewState withGraph(Place value) {
    return with(next -> next.graph = value);
  }

  public ViewState withSandwich(SandwichPlace value) {
    return with(next -> next.sandwich = value);
  }

  /** The same with the sandwich of a function; one step back leads to the view of now. */
  public ViewState withSandwich(Function function) {
    return withSandwich(sandwich.of(function, view)).withView(View.SANDWICH);
  }

  /** The same at the root of everything. */
  public ViewState atRoot() {
    return with(
        next -> {
          next.graph = Place.ROOT;
          next.callers = Place.ROOT;
          next.sandwich = sandwich.atFunction();
          next.toCallers = null;
        });
  }

  /** The same with nothing zoomed: each graph is shown whole. */
  public ViewState unzoomed() {
    return with(
        next -> {
          next.graph = graph.withZooms(List.of());
          next.callers = callers.withZooms(List.of());
          next.sandwich = sandwich.unzoomed();
        });
  }

  /**
   * The same with other zooms. The next picture scrolls so that the zoomed node is near the edge.
   */
  public ViewState withZooms(List<Zoom> value) {
    return withPlace(place().withZooms(value));
  }

  public ViewState zoomedTo(Zoom zoom) {
    List<Zoom> next = new ArrayList<>(zooms());
    next.add(zoom);
    return withZooms(next);
  }

  public ViewState withSelected(long node, List<Long> path) {
    return withPlace(place().withSelected(node, path));
  }

  public ViewState flipped() {
    return with(next -> next.flame = !flame);
  }

  /** The same with an answer in the pane of the source; null closes the pane. */
  public ViewState withSource(@Nullable Source value) {
    return with(next -> next.source = value);
  }

  /** The same with an answer in the pane of the source, if it is still open. */
  public ViewState withAnswer(Source value) {
    return source == null ? this : withSource(value);
  }

  public ViewState withColouring(Colouring value) {
    return with(next -> next.colouring = value);
  }

  public ViewState withTable(View of, TablePlace<?, ?> value) {
    Map<View, TablePlace<?, ?>> changed = new EnumMap<>(tables);
    changed.put(of, value);
    return with(next -> next.tables = changed);
  }

  public ViewState withTime(TimeChoice value) {
    return with(next -> next.time = value);
  }

  public ViewState withSources(@Nullable SourceList value) {
    return with(next -> next.sources = value);
  }

  /** The same with another search in its view. */
  public ViewState withSearch(@Nullable Search value) {
    return switch (view) {
      case TOP, TASKS -> withTable(view, table(view).withFilter(value));
      default -> with(next -> next.search = value);
    };
  }

  /** The same with the past lines of one kind, the latest first. */
  public ViewState withTyped(Typed of, List<String> lines) {
    Map<Typed, List<String>> changed = new EnumMap<>(Typed.class);
    changed.putAll(typed);
    changed.put(of, lines);
    return with(next -> next.typed = changed);
  }

  /** The same after a line was used. */
  public ViewState withUsed(Typed of, String line) {
    return withTyped(of, Prompt.remember(typed(of), line));
  }

  public ViewState withPick(@Nullable PickList value) {
    return with(next -> next.pick = value);
  }

  public ViewState withHelp(boolean value) {
    return withHelpPage(value ? 0 : -1);
  }

  public ViewState withHelpPage(int value) {
    return with(next -> next.helpPage = value);
  }

  /** How many exports are being written. */
  public int exports() {
    return exports;
  }

  /** The same with so many exports that are being written. */
  public ViewState withExports(int value) {
    return with(next -> next.exports = value);
  }

  /** The same with an answer to a key. */
  public ViewState withMessage(String text) {
    return with(next -> next.said = new Said(text, false, 1));
  }

  /** The same with a message about something that failed. */
  public ViewState withTrouble(String text) {
    return with(next -> next.said = new Said(text, true, 1));
  }

  public ViewState withoutMessage() {
    return with(next -> next.said = Said.NOTHING);
  }

  /** The same with the message counted, if the state {@code before} had the same message. */
  public ViewState after(ViewState before) {
    Said counted = said.after(before.said);
    return counted.equals(said) ? this : with(next -> next.said = counted);
  }

  public ViewState withMoment(Moment value) {
    return with(next -> next.moment = value);
  }

  /**
   * The same of events, or of time. Events have no states, so that none may be left out; the states
   * of time wait meanwhile.
   */
  public ViewState ofEvents(boolean events) {
    if (events == (statesOfTime != null)) {
      return this;
    }
    return with(
        next -> {
          next.states = statesOfTime == null ? StateSet.ALL : statesOfTime;
          next.statesOfTime = events ? states : null;
        });
  }

  public ViewState withStates(StateSet value) {
    return with(next -> next.states = value);
  }

  /** The same with another shape, which undo takes back. */
  public ViewState withShape(Shape value) {
    return withShaping(shaping.to(value));
  }

  public ViewState withShaping(Shaping value) {
    return with(next -> next.shaping = value);
  }

  public ViewState withSplit(@Nullable Split value) {
    return with(next -> next.split = value);
  }

  public ViewState awaiting(@Nullable Action value) {
    return with(next -> next.awaited = value);
  }

  public ViewState withFormats(FormatList value) {
    return with(next -> next.formats = value);
  }

  /**
   * The same at another pace.
   *
   * @param said what is lower than the user asked for, and why; empty if nothing is
   */
  public ViewState withPace(Budget.Pace value, String said) {
    ViewState next = withPace(value);
    next.lowered = said;
    return next;
  }

  /** The same at the pace that a key asks for. */
  public ViewState withPace(Budget.Pace value) {
    return with(next -> next.pace = value);
  }
}

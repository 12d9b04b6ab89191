package flametop.view.layout;

import flametop.profile.answer.Capability;
import flametop.profile.answer.Page;
import flametop.profile.answer.Selection;
import flametop.profile.answer.Snapshot;
import flametop.profile.answer.Source;
import flametop.profile.answer.SplitAnswer;
import flametop.profile.answer.TimeRange;
import flametop.view.base.Action;
import flametop.view.base.CellGrid;
import flametop.view.base.Colouring;
import flametop.view.base.View;
import flametop.view.state.PaintOptions;
import flametop.view.state.Place;
import flametop.view.state.SandwichPlace;
import flametop.view.state.Search;
import flametop.view.state.Split;
import flametop.view.state.ViewState;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The layout of one picture: rows of panels, boxes of the graph, levels in sight, the selected box.
 */
public final class Scene {
  public static final int MIN_COLUMNS = 40;
  public static final int MIN_ROWS = 10;

  /** The arguments of the layout, maybe of the file of the other pane. */
  private final Snapshot givenSnapshot;

  private final @Nullable Page givenPage;
  private final List<String> notices;

  /** The graph, and what the source tells beside it. */
  public final Snapshot snapshot;

  /**
   * The page that the view shows beside the graph; null or the page of another view until its own
   * has come.
   */
  public final @Nullable Page page;

  public final ViewState state;
  public final PaintOptions options;
  public final int columns;
  public final int rows;

  /** The graph that the keys act on; without a box before the first snapshot. */
  public final Plot plot;

  /** The halves of a sandwich; null if none is shown. */
  public final @Nullable SandwichLayout sandwich;

  /** The boxes of the plot. */
  public final Geometry geometry;

  /** The box drawn as selected; -1 if there is no graph. */
  public final int selectedBox;

  public final int cpuTop;

  /** Rows of the panel of CPUs; 0 for no panel. */
  public final int cpuRows;

  public final CpuPanel cpuLayout;

  /** Row of the line above the graph, which holds notices; -1 without room or need for the line. */
  public final int upperRule;

  /**
   * Row of the breadcrumb: the line above the graph, unless a notice stands there; -1 for no
   * breadcrumb.
   */
  public final int crumbRow;

  public final int graphTop;
  public final int graphRows;

  /** The columns of the graph: all, or the columns of its pane. */
  public final int graphLeft;

  public final int graphColumns;

  /** Row with the names of the panes' files; -1 for one pane. */
  public final int headRow;

  /** The other pane; null for one pane, or if this scene is the other pane. */
  public final @Nullable Scene other;

  /** Whether the selected node is in this file. The file of the other pane may lack it. */
  public final boolean hasSelected;

  /** Rows of the pane of the source, below the graph; 0 if the pane is closed. */
  public final int sourceRows;

  public final int stripTop;
  public final int stripRows;
  public final int selectionTop;
  public final int selectionRows;

  /**
   * @param before the scene before, whose edges stay; may be null
   * @param beside the pane with the keys, if this scene is the other pane; else null
   */
  private Scene(
      Snapshot someSnapshot,
      @Nullable Page somePage,
      ViewState state,
      PaintOptions options,
      int columns,
      int rows,
      @Nullable Scene before,
      @Nullable Scene beside) {
    givenSnapshot = someSnapshot;
    givenPage = somePage;
    SplitAnswer given = somePage instanceof SplitAnswer b ? b : null;
    boolean crossed = given != null && OtherPane.isCrossed(someSnapshot, given, state.split());
    SplitAnswer two = given != null && crossed ? given.crossed(someSnapshot) : given;
    snapshot = given != null && crossed ? given.snapshot() : someSnapshot;
    page = two == null ? somePage : two.own();
    Split panes = two != null && state.isSplit(columns) ? state.split() : null;
    boolean split = panes != null;
    this.state = state;
    this.options = options;
    this.columns = columns;
    this.rows = rows;
    notices =
        beside != null
            ? beside.notices
            : two != null && panes != null ? OtherPane.notices(this, panes, two) : allNotices();

    boolean hasCpus = !snapshot.isOpening() && options.origin().has(Capability.CPUS);
    int cpus = hasCpus ? Math.max(1, snapshot.live().host().cpus().size()) : 1;
    cpuTop = 1;
    // A panel that the source lacks leaves its room to the graph.
    boolean hasTime = options.origin().has(Capability.TIME);
    cpuLayout = CpuPanel.of(cpus, columns, rows);
    // A sandwich on a small screen needs these rows for itself.
    boolean bare =
        !options.origin().has(Capability.CPUS) || rows < 14 && state.view() == View.SANDWICH;
    cpuRows = bare ? 0 : cpuLayout.rows();
    int rule = !hasTime || rows < 14 ? 0 : 1;
    boolean noticed = !notices.isEmpty();
    boolean crumbs = state.hasCrumbs();
    int upper = (noticed ? 1 : 0) + (crumbs ? 1 : 0);
    upperRule = rule > 0 || upper > 0 ? cpuTop + cpuRows : -1;
    crumbRow = !crumbs ? -1 : noticed ? upperRule + 1 : upperRule;
    int head = split ? 1 : 0;
    graphTop = cpuTop + cpuRows + Math.max(rule, upper) + head;
    headRow = split ? graphTop - 1 : -1;
    graphColumns = split ? Split.pane(columns) : columns;
    graphLeft = panes != null && panes.onRight() ? columns - graphColumns : 0;
    selectionRows = rows < 24 ? 1 : 2;
    selectionTop = rows - 1 - selectionRows;
    stripRows =
        !hasTime || rows < 14 ? 0 : HeatCells.stripRows(state, options, rows, rows < 32 ? 1 : 3);
    stripTop = selectionTop - stripRows;
    int room = stripTop - rule - graphTop;
    Source source = state.view() == View.SANDWICH ? null : state.source();
    sourceRows = source == null ? 0 : Math.min(sourceRows(source), Math.max(2, room / 2));
    graphRows = room - sourceRows;

    boolean nothing = tooSmall() || snapshot.isOpening();
    boolean coarse = options.ascii() || !state.pace().fine();
    boolean live = !nothing && isLive();
    if (state.view() == View.SANDWICH) {
      sandwich =
          nothing
              ? null
              : SandwichLayout.of(
                  page,
                  state.sandwich(),
                  graphColumns,
                  coarse,
                  graphTop,
                  graphRows,
                  before == null ? null : before.sandwich,
                  live);
      plot = sandwich == null ? Plot.EMPTY : sandwich.at(state.sandwich().below());
    } else {
      sandwich = null;
      plot =
          nothing
              ? Plot.EMPTY
              : new Plot(
                  Plot.boxes(
                      snapshot.graph(),
                      state.place(),
                      graphColumns,
                      coarse,
                      before == null || before.sandwich != null ? null : before.geometry,
                      live),
                  state.place(),
                  0,
                  state.flame(),
                  graphTop,
                  graphRows);
    }
    geometry = plot.geometry;
    selectedBox = plot.selectedBox;
    hasSelected = beside == null || OtherPane.hasSelected(beside, this);
    other =
        two == null || panes == null || beside != null || tooSmall()
            ? null
            : new Scene(
                two.snapshot(),
                two.crossed(snapshot),
                OtherPane.state(this, panes, two),
                options,
                columns,
                rows,
                before == null ? null : before.other,
                this);
  }

  /**
   * Rows that an answer needs. The answer before stays until the next one comes, so that the graph
   * does not jump.
   */
  private static int sourceRows(Source source) {
    int rows = 1;
    for (Source.Place place : source.places()) {
      rows += Math.max(1, place.calls().size());
    }
    return Math.max(2, rows + (source.others() > 0 ? 1 : 0));
  }

  /** Lays a picture out; {@link Snapshot#OPENING} until the first snapshot has come. */
  public static Scene of(
      Snapshot snapshot, ViewState state, int columns, int rows, PaintOptions options) {
    return of(snapshot, null, state, columns, rows, options);
  }

  /** The same with the page of the view. */
  public static Scene of(
      Snapshot snapshot,
      @Nullable Page page,
      ViewState state,
      int columns,
      int rows,
      PaintOptions options) {
    return new Scene(snapshot, page, state, options, columns, rows, null, null);
  }

  /** The next scene. Parts that did not change are not laid out again. */
  public Scene next(
      Snapshot aSnapshot,
      @Nullable Page aPage,
      ViewState aState,
      int someColumns,
      int someRows,
      PaintOptions someOptions) {
    return new Scene(aSnapshot, aPage, aState, someOptions, someColumns, someRows, this, null);
  }

  /** Whether the scene is the layout of just these values. A changed value is another object. */
  @SuppressWarnings("ReferenceEquality")
  public boolean isOf(
      Snapshot aSnapshot,
      @Nullable Page aPage,
      ViewState aState,
      int someColumns,
      int someRows,
      PaintOptions someOptions) {
    return columns == someColumns
        && rows == someRows
        && givenSnapshot == aSnapshot
        && givenPage == aPage
        && state == aState
        && options == someOptions;
  }

  /** Notices about parts that do not work, a line each, the newest last. */
  public List<String> notices() {
    return notices;
  }

  private List<String> allNotices() {
    List<String> all = new ArrayList<>(options.notices());
    all.addAll(snapshot.notices());
    return all;
  }

  /** How many files are open; 0 for stacks of no file, or until something is read. */
  public int files() {
    return isOfFile() ? snapshot.reading().files() : 0;
  }

  /** Whether there is a picture, and it is of a file. */
  public boolean isOfFile() {
    return snapshot.context() instanceof Snapshot.File;
  }

  /** Whether the picture follows the present: nothing is frozen, and no range of time is shown. */
  public boolean isLive() {
    return !state.moment().frozen()
        && snapshot.context() instanceof Snapshot.Live of
        && !of.time().frozen()
        && !of.time().ranged();
  }

  /**
   * Whether amounts are told apart by state: only times are, and of those only what a live source
   * knows.
   */
  public boolean hasStates() {
    return options.origin().has(Capability.TASKS) && snapshot.measure().isTime();
  }

  /** Whether the source has a capability: a file, as far as the file was read. */
  public boolean has(Capability capability) {
    boolean files = options.origin().has(Capability.FILES);
    return options.origin().has(capability)
        && (!files
            || capability == Capability.FILES
            || isOfFile() && snapshot.reading().says().contains(capability));
  }

  /** The meaning of the colours of frames in this scene. */
  public Colouring colouring() {
    return hasStates() ? state.colouring() : Colouring.KIND;
  }

  /** Whether an action means nothing here: to the measure of the picture, or to the file. */
  public boolean lacks(Action action) {
    Capability needed = action.needs();
    return options.origin().has(Capability.FILES)
        ? needed != null && !has(needed)
        : action.isOfStates() && !hasStates();
  }

  /** Whether an action is of no use: it goes to another file, and only one is open. */
  boolean isVain(Action action) {
    return lacks(action)
        || files() < 2
            && (action == Action.PREVIOUS_FILE
                || action == Action.NEXT_FILE
                || action == Action.SPLIT);
  }

  /** Whether the graph is compared with a baseline. */
  public boolean compares() {
    return snapshot.graph().baseline() != null;
  }

  /** The held time that the graph is compared with; empty: none, or another file. */
  public Optional<TimeRange> baseline() {
    return snapshot.context() instanceof Snapshot.Live live
        ? live.time().baseline()
        : Optional.empty();
  }

  /** Whether a column belongs to the graph. */
  public boolean isInPane(int x) {
    return x >= graphLeft && x < graphLeft + graphColumns;
  }

  /** The part of a grid in which the graph is painted. */
  public CellGrid window(CellGrid grid) {
    return headRow < 0 ? grid : grid.window(graphLeft, graphColumns);
  }

  public boolean tooSmall() {
    return columns < MIN_COLUMNS || rows < MIN_ROWS;
  }

  /** The same picture in another state. */
  public Scene with(ViewState changed) {
    return new Scene(givenSnapshot, givenPage, changed, options, columns, rows, this, null);
  }

  /** The selected node in full, as the profile last told. */
  public Selection selection() {
    if (state.view() == View.SANDWICH) {
      return sandwich == null ? Selection.NONE : sandwich.page().selection();
    }
    return snapshot.selection();
  }

  /**
   * The words about the selected node. A file has them all in the graph, so that nobody asks the
   * profile for each node.
   */
  public Selection described() {
    Selection told = selection();
    if (!isOfFile() || state.view() == View.SANDWICH) {
      return told;
    }
    int index = snapshot.graph().find(state.selected());
    return index < 0 || !snapshot.graph().isWhole(index)
        ? told
        : Selection.of(snapshot.graph(), index);
  }

  /** Whether the boxes know the matches of the current search. */
  @SuppressWarnings("ReferenceEquality") // each typed pattern is another object
  public boolean answered() {
    Pattern pattern = Search.patternOf(state.search());
    return state.view() == View.SANDWICH
        ? sandwich != null && pattern != null && sandwich.page().search() == pattern
        : found() != null;
  }

  /** Whether this picture has all that another state of the same graph shows. */
  public boolean suffices(ViewState other) {
    if (!isOfFile() || other.awaited() != null) {
      return false;
    }
    int index = snapshot.graph().find(other.selected());
    return index >= 0 && snapshot.graph().isWhole(index);
  }

  /** The answer to the current search; null without a search, or until the answer has come. */
  @SuppressWarnings("ReferenceEquality") // each typed pattern is another object
  public Snapshot.@Nullable Search found() {
    Snapshot.Search found = snapshot.search();
    return found != null && found.pattern() == Search.patternOf(state.search()) ? found : null;
  }

  /**
   * The state after this picture: with selection and zoom at their nodes of now, and with the
   * scroll of this picture.
   */
  @SuppressWarnings("ReferenceEquality") // an unchanged value is the same object
  public ViewState settled() {
    if (sandwich != null) {
      SandwichPlace next = sandwich.settled(state.sandwich());
      return next == state.sandwich() ? state : state.withSandwich(next);
    }
    // The snapshot is of another view: the snapshot of this view is on its way.
    if (geometry.size() == 0 || snapshot.reversed() != state.shape().reversed()) {
      return state;
    }
    Place next = plot.settled(snapshot.selection().node());
    return next == state.place() ? state : state.withPlace(next);
  }
}

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

/**
 * Where everything of one picture is: rows of the panels, boxes of the graph, the levels in sight,
 * the box that is selected.
 */
public final class Scene {
  public static final int MIN_COLUMNS = 40;
  public static final int MIN_ROWS = 10;

  /** What it was laid out of, which may be of the file of the other pane. */
  private final Snapshot givenSnapshot;

  private final Page givenPage;
  private final List<String> notices;

  public final Snapshot snapshot;

  /** What the view shows beside it; null or that of another view until its own is there. */
  public final Page page;

  public final ViewState state;
  public final PaintOptions options;
  public final int columns;
  public final int rows;

  /** The graph that the keys act on; null before the first snapshot. */
  public final Plot plot;

  /** The halves of a sandwich; null if none is shown. */
  public final SandwichLayout sandwich;

  /** Of the plot; null if there is none. */
  public final Geometry geometry;

  /** The box drawn as selected; -1 if there is no graph. */
  public final int selectedBox;

  public final int cpuTop;

  /** Rows of the CPUs; 0 if they have none. */
  public final int cpuRows;

  public final CpuPanel cpuLayout;

  /**
   * Row of the line above the graph, where notices stand; -1 if there is no room for one and no
   * need.
   */
  public final int upperRule;

  /** Row of the breadcrumb, which is that line if no notice stands there; -1 if there is none. */
  public final int crumbRow;

  public final int graphTop;
  public final int graphRows;

  /** The columns of the graph: all, or those of a pane. */
  public final int graphLeft;

  public final int graphColumns;

  /** Row that says whose a pane is; -1 if there is one pane. */
  public final int headRow;

  /**
   * The other pane, as it is laid out where the keys act on it; null if there is one pane, or if
   * this is the other.
   */
  public final Scene other;

  /** Whether what is selected is in this file; in that of the other pane it may not be. */
  public final boolean hasSelected;

  /** Rows of the pane of the source, below the graph; 0 if it is closed. */
  public final int sourceRows;

  public final int stripTop;
  public final int stripRows;
  public final int selectionTop;
  public final int selectionRows;

  /**
   * @param before the picture before, whose geometry goes on; may be null
   * @param beside the pane with the keys, if this is the other one; else null
   */
  private Scene(
      Snapshot someSnapshot,
      Page somePage,
      ViewState state,
      PaintOptions options,
      int columns,
      int rows,
      Scene before,
      Scene beside) {
    givenSnapshot = someSnapshot;
    givenPage = somePage;
    SplitAnswer given = somePage instanceof SplitAnswer b ? b : null;
    boolean crossed = given != null && OtherPane.isCrossed(someSnapshot, given, state.split());
    SplitAnswer two = crossed ? given.crossed(someSnapshot) : given;
    snapshot = crossed ? given.snapshot() : someSnapshot;
    page = two == null ? somePage : two.own();
    boolean split = two != null && state.isSplit(columns);
    this.state = state;
    this.options = options;
    this.columns = columns;
    this.rows = rows;
    notices = beside != null ? beside.notices : split ? OtherPane.notices(this, two) : allNotices();

    boolean hasCpus = snapshot != null && options.origin().has(Capability.CPUS);
    int cpus = hasCpus ? Math.max(1, snapshot.live().host().cpus().size()) : 1;
    cpuTop = 1;
    // What a source lacks leaves its room to the graph.
    boolean hasTime = options.origin().has(Capability.TIME);
    cpuLayout = CpuPanel.of(cpus, columns, rows);
    // A sandwich on a small screen needs them for itself.
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
    graphLeft = split && state.split().onRight() ? columns - graphColumns : 0;
    selectionRows = rows < 24 ? 1 : 2;
    selectionTop = rows - 1 - selectionRows;
    stripRows = !hasTime || rows < 14 ? 0 : rows < 32 ? 1 : 3;
    stripTop = selectionTop - stripRows;
    int room = stripTop - rule - graphTop;
    boolean sourced = state.source() != null && state.view() != View.SANDWICH;
    sourceRows = !sourced ? 0 : Math.min(sourceRows(state.source()), Math.max(2, room / 2));
    graphRows = room - sourceRows;

    boolean nothing = tooSmall() || snapshot == null;
    boolean coarse = options.ascii() || !state.fine();
    boolean live =
        !nothing
            && !state.moment().frozen()
            && snapshot.context() instanceof Snapshot.Live of
            && !of.time().frozen()
            && !of.time().ranged();
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
      plot = sandwich == null ? null : sandwich.at(state.sandwich().below());
    } else {
      sandwich = null;
      plot =
          nothing
              ? null
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
    geometry = plot == null ? null : plot.geometry;
    selectedBox = plot == null ? -1 : plot.selectedBox;
    hasSelected = beside == null || OtherPane.hasSelected(beside, this);
    other =
        !split || beside != null || tooSmall()
            ? null
            : new Scene(
                two.snapshot(),
                two.crossed(snapshot),
                OtherPane.state(this, two),
                options,
                columns,
                rows,
                before == null ? null : before.other,
                this);
  }

  /**
   * Rows that an answer needs. The one before goes on to stand for one that is not here yet, so
   * that the graph does not jump.
   */
  private static int sourceRows(Source source) {
    int rows = 1;
    for (Source.Place place : source.places()) {
      rows += Math.max(1, place.calls().size());
    }
    return Math.max(2, rows + (source.others() > 0 ? 1 : 0));
  }

  /** Lays a picture out; {@code snapshot} is null as long as there is none. */
  public static Scene of(
      Snapshot snapshot, ViewState state, int columns, int rows, PaintOptions options) {
    return of(snapshot, null, state, columns, rows, options);
  }

  /** The same with what the view shows beside it. */
  public static Scene of(
      Snapshot snapshot, Page page, ViewState state, int columns, int rows, PaintOptions options) {
    return new Scene(snapshot, page, state, options, columns, rows, null, null);
  }

  /** The next one; what is where it was is not laid out anew. */
  public Scene next(
      Snapshot aSnapshot,
      Page aPage,
      ViewState aState,
      int someColumns,
      int someRows,
      PaintOptions someOptions) {
    return new Scene(aSnapshot, aPage, aState, someOptions, someColumns, someRows, this, null);
  }

  /** Whether it was laid out of just these; each is made anew when it changes. */
  @SuppressWarnings("ReferenceEquality")
  public boolean isOf(
      Snapshot aSnapshot,
      Page aPage,
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

  /** What does not work as it should, a line each, the newest last. */
  public List<String> notices() {
    return notices;
  }

  private List<String> allNotices() {
    List<String> all = new ArrayList<>(options.notices());
    if (snapshot != null) {
      all.addAll(snapshot.notices());
    }
    return all;
  }

  /** How many files are open; 0 where the stacks are of none, or nothing is read yet. */
  public int files() {
    return isOfFile() ? snapshot.reading().files() : 0;
  }

  /** Whether there is a picture, and it is of a file. */
  public boolean isOfFile() {
    return snapshot != null && snapshot.context() instanceof Snapshot.File;
  }

  /**
   * Whether amounts are told apart by state: only times are, and of those only what a live source
   * knows.
   */
  public boolean hasStates() {
    return options.origin().has(Capability.STATES)
        && (snapshot == null || snapshot.measure().isTime());
  }

  /** Whether an action is of no use: it goes to another file, and there is one only. */
  boolean isVain(Action action) {
    return files() < 2
        && (action == Action.PREVIOUS_FILE || action == Action.NEXT_FILE || action == Action.SPLIT);
  }

  /** Whether the graph is compared, so that there is a change to tell. */
  public boolean compares() {
    return snapshot != null && snapshot.graph().baseline() != null;
  }

  /** The held time that the graph is compared with; empty: none, or another file. */
  public Optional<TimeRange> baseline() {
    return snapshot != null && snapshot.context() instanceof Snapshot.Live live
        ? live.time().baseline()
        : Optional.empty();
  }

  /** Whether a column is one of the graph. */
  public boolean isInPane(int x) {
    return x >= graphLeft && x < graphLeft + graphColumns;
  }

  /** The part of a picture that the graph is painted in. */
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

  /** The selected node in full, as last told; null if nothing was. */
  public Selection selection() {
    if (state.view() == View.SANDWICH) {
      return sandwich == null ? null : sandwich.page().selection();
    }
    return snapshot == null ? null : snapshot.selection();
  }

  /**
   * What is told of the selected node: of a file all of that is in the graph, so that it is not
   * asked for each node.
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

  /** Whether the boxes tell what matches the search that is asked now. */
  @SuppressWarnings("ReferenceEquality") // each pattern that is typed is another
  public boolean answered() {
    return state.view() == View.SANDWICH
        ? sandwich != null
            && state.search() != null
            && state.search().pattern() != null
            && sandwich.page().search() == state.search().pattern()
        : found() != null;
  }

  /** Whether nothing is lacking to show another state, which asks for the same graph. */
  public boolean suffices(ViewState other) {
    if (!isOfFile() || other.awaited() != null) {
      return false;
    }
    int index = snapshot.graph().find(other.selected());
    return index >= 0 && snapshot.graph().isWhole(index);
  }

  /** The answer to the search that is asked now; null if there is none, or it is not here yet. */
  public Snapshot.Search found() {
    Search search = state.search();
    boolean here =
        search != null
            && search.pattern() != null
            && snapshot != null
            && snapshot.search() != null
            && snapshot.search().pattern() == search.pattern();
    return here ? snapshot.search() : null;
  }

  /**
   * The state that goes on from this picture: selection and zoom where the profile says that they
   * are now, and the scroll that was used.
   */
  @SuppressWarnings("ReferenceEquality") // what did not change is the same
  public ViewState settled() {
    if (sandwich != null) {
      SandwichPlace next = sandwich.settled(state.sandwich());
      return next == state.sandwich() ? state : state.withSandwich(next);
    }
    // That of another view: the one of this view is on its way.
    if (plot == null || snapshot.reversed() != state.shape().reversed()) {
      return state;
    }
    Selection selection = snapshot.selection();
    Place next = plot.settled(selection == null ? -1 : selection.node());
    return next == state.place() ? state : state.withPlace(next);
  }
}

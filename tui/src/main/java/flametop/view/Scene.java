package flametop.view;

import flametop.profile.GraphQuery;
import flametop.profile.GraphSlice;
import flametop.profile.Page;
import flametop.profile.Selection;
import flametop.profile.Snapshot;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Where everything of one picture is: rows of the panels, boxes of the graph, the levels in sight,
 * the box that is selected.
 */
public final class Scene {
  static final int MIN_COLUMNS = 40;
  static final int MIN_ROWS = 10;

  final Snapshot snapshot;

  /** What the view shows beside it; null or that of another view until its own is there. */
  final Page page;

  final ViewState state;
  final PaintOptions options;
  final int columns;
  final int rows;

  /** Null before the first snapshot. */
  final Geometry geometry;

  /** The box drawn as selected; -1 if there is no graph. */
  final int selectedBox;

  final int cpuTop;
  final CpuLayout cpuLayout;

  /**
   * Row of the line above the graph, where notices stand; -1 if there is no room for one and no
   * need.
   */
  final int upperRule;

  final int graphTop;
  final int graphRows;

  /** Rows of the pane of the source, below the graph; 0 if it is closed. */
  final int sourceRows;

  final int stripTop;
  final int stripRows;
  final int selectionTop;
  final int selectionRows;

  /** First level in sight, and how many are. */
  final int firstLevel;

  final int levelsInSight;

  /**
   * @param before whose geometry is taken over if it is the same; may be null
   */
  private Scene(
      Snapshot snapshot,
      Page page,
      ViewState state,
      PaintOptions options,
      int columns,
      int rows,
      Geometry before) {
    this.snapshot = snapshot;
    this.page = page;
    this.state = state;
    this.options = options;
    this.columns = columns;
    this.rows = rows;

    int cpus = snapshot == null ? 1 : Math.max(1, snapshot.cpus().size());
    cpuTop = 1;
    // Stacks of a file have nothing beside them: the graph gets the room.
    boolean file = options.origin() == Origin.FILE;
    cpuLayout = CpuLayout.of(cpus, columns, rows);
    int cpuRows = file ? 0 : cpuLayout.rows();
    int rule = file || rows < 14 ? 0 : 1;
    upperRule = rule > 0 || !notices().isEmpty() ? cpuTop + cpuRows : -1;
    graphTop = cpuTop + cpuRows + (upperRule < 0 ? 0 : 1);
    selectionRows = rows < 24 ? 1 : 2;
    selectionTop = rows - 1 - selectionRows;
    stripRows = file || rows < 14 ? 0 : rows < 32 ? 1 : 3;
    stripTop = selectionTop - stripRows;
    int room = stripTop - rule - graphTop;
    sourceRows = state.source() == null ? 0 : Math.max(2, room / 2);
    graphRows = room - sourceRows;

    geometry = tooSmall() || snapshot == null ? null : layOut(before);
    selectedBox = geometry == null ? -1 : boxOfSelection();
    int levels = geometry == null ? 0 : geometry.levels();
    if (geometry == null || levels <= graphRows) {
      firstLevel = 0;
      levelsInSight = levels;
    } else {
      // A hint takes a row at each end behind which there is more.
      int selectedLevel = selectedBox < 0 ? 0 : geometry.level(selectedBox);
      int first = state.scroll() < 0 ? Math.max(0, geometry.zoomLevel() - 2) : state.scroll();
      int sight = Math.max(1, graphRows - 2);
      first = Math.max(first, selectedLevel - sight + (selectedLevel + 1 < levels ? 2 : 1));
      first = Math.max(0, Math.min(first, Math.min(selectedLevel, levels - graphRows + 1)));
      if (first == 1) {
        first = selectedLevel < graphRows - 1 ? 0 : 2;
      }
      firstLevel = first;
      int below = graphRows - (first > 0 ? 1 : 0);
      levelsInSight = Math.max(1, first + below >= levels ? levels - first : below - 1);
    }
  }

  /** Lays a picture out; {@code snapshot} is null as long as there is none. */
  public static Scene of(
      Snapshot snapshot, ViewState state, int columns, int rows, PaintOptions options) {
    return of(snapshot, null, state, columns, rows, options);
  }

  /** The same with what the view shows beside it. */
  public static Scene of(
      Snapshot snapshot, Page page, ViewState state, int columns, int rows, PaintOptions options) {
    return new Scene(snapshot, page, state, options, columns, rows, null);
  }

  /** The next one; what is where it was is not laid out anew. */
  public Scene next(
      Snapshot aSnapshot,
      Page aPage,
      ViewState aState,
      int someColumns,
      int someRows,
      PaintOptions someOptions) {
    return new Scene(aSnapshot, aPage, aState, someOptions, someColumns, someRows, geometry);
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
        && snapshot == aSnapshot
        && page == aPage
        && state == aState
        && options == someOptions;
  }

  /** What does not work as it should, a line each, the newest last. */
  List<String> notices() {
    List<String> notices = new ArrayList<>(options.notices());
    if (snapshot != null) {
      notices.addAll(snapshot.notices());
    }
    return notices;
  }

  public boolean tooSmall() {
    return columns < MIN_COLUMNS || rows < MIN_ROWS;
  }

  private Geometry layOut(Geometry before) {
    GraphSlice slice = snapshot.graph();
    int zoom = slice.zoomIndex();
    boolean wanted = false;
    // Between a key and the next snapshot the slice is still that of the old zoom: what it has of
    // the new one is shown.
    for (int i = 0; i < slice.size(); i++) {
      if (slice.node()[i] == state.zoom()) {
        zoom = i;
        wanted = true;
        break;
      }
    }
    boolean wholeCells = options.ascii() || !state.fine();
    double under = wanted ? state.under() : 1;
    return before != null && before.isOf(slice, zoom, columns, wholeCells, under)
        ? before
        : Geometry.of(slice, zoom, columns, wholeCells, under);
  }

  private int boxOfSelection() {
    if (geometry.size() == 0) {
      return -1;
    }
    if (state.run()) {
      int run = runBox();
      if (run >= 0) {
        return run;
      }
    }
    int box = geometry.boxOfNode(state.selected());
    List<Long> trail = state.trail();
    for (int i = trail.size() - 1; box < 0 && i >= 0; i--) {
      box = geometry.boxOfNode(trail.get(i));
    }
    return Math.max(0, box);
  }

  /** The selected run of thin frames: by a node that it holds, else any run on the same box. */
  private int runBox() {
    int member = state.runNode() < 0 ? -1 : geometry.boxOfNode(state.runNode());
    if (member >= 0) {
      return member;
    }
    int parent = geometry.boxOfNode(state.selected());
    for (int i = 0; parent >= 0 && i < geometry.size(); i++) {
      if (geometry.parent(i) == parent && geometry.isRun(i)) {
        return i;
      }
    }
    return -1;
  }

  /** Nodes from the root to the box's; for a run to the one that it stands on. */
  List<Long> trail(int box) {
    List<Long> path = new ArrayList<>();
    for (int i = geometry.isRun(box) ? geometry.parent(box) : box; i >= 0; i = geometry.parent(i)) {
      path.add(nodeOf(i));
    }
    Collections.reverse(path);
    return List.copyOf(path);
  }

  /** The node number of a box; for a run, of the box that it stands on. */
  long nodeOf(int box) {
    int at = geometry.isRun(box) ? geometry.parent(box) : box;
    return at < 0 ? GraphQuery.ROOT : geometry.slice().node()[geometry.node(at)];
  }

  /** Row of a level; -1 if it is out of sight. */
  int rowOf(int level) {
    int i = level - firstLevel;
    if (i < 0 || i >= levelsInSight) {
      return -1;
    }
    int fromEdge = i + (firstLevel > 0 ? 1 : 0);
    return state.flame() ? graphTop + graphRows - 1 - fromEdge : graphTop + fromEdge;
  }

  /** Level that is drawn in a row; -1 if none is. */
  int levelAt(int row) {
    for (int i = 0; i < levelsInSight; i++) {
      if (rowOf(firstLevel + i) == row) {
        return firstLevel + i;
      }
    }
    return -1;
  }

  /** Levels out of sight towards the leaves. */
  int levelsBeyond() {
    return geometry == null ? 0 : geometry.levels() - firstLevel - levelsInSight;
  }

  /** The selected node in full; null if there is none, or it is not here yet. */
  Selection selection() {
    if (snapshot.reading() == null) {
      return snapshot.selection();
    }
    // Of a file the graph has all that there is.
    GraphSlice slice = snapshot.graph();
    int index = slice.find(state.selected());
    return index < 0 ? snapshot.selection() : Selection.of(slice, index);
  }

  /** Whether all that is shown of a node is here already. */
  public boolean has(long node) {
    return snapshot != null && snapshot.reading() != null && snapshot.graph().find(node) >= 0;
  }

  /** The answer to the search that is asked now; null if there is none, or it is not here yet. */
  Snapshot.Search found() {
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
  public ViewState settled() {
    if (geometry == null || geometry.size() == 0) {
      return state;
    }
    ViewState next = state;
    GraphSlice slice = snapshot.graph();
    if (geometry.boxOfNode(state.selected()) < 0
        && snapshot.selection() != null
        && snapshot.selection().node() != state.selected()
        && geometry.boxOfNode(snapshot.selection().node()) >= 0) {
      int box = geometry.boxOfNode(snapshot.selection().node());
      next = next.withSelected(snapshot.selection().node(), trail(box));
    } else if (selectedBox >= 0
        && !geometry.isRun(selectedBox)
        && nodeOf(selectedBox) == state.selected()) {
      List<Long> trail = trail(selectedBox);
      if (!trail.equals(state.trail())) {
        next = next.withSelected(state.selected(), trail);
      }
    }
    return slice.size() > 0 && firstLevel != state.scroll() && state.scroll() >= 0
        ? next.withScroll(firstLevel)
        : next;
  }
}

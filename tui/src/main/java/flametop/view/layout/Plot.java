package flametop.view.layout;

import flametop.profile.answer.GraphQuery;
import flametop.profile.answer.GraphSlice;
import flametop.profile.answer.Siblings;
import flametop.profile.answer.Snapshot;
import flametop.view.state.Place;
import flametop.view.state.Zoom;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A slice laid out in some rows of the screen: its boxes, the levels in sight, the box that is
 * selected.
 */
public final class Plot {
  public final Geometry geometry;

  /** The box drawn as selected; -1 for none. */
  public final int selectedBox;

  public final int top;
  public final int rows;

  /** Whether the root is at the bottom. */
  public final boolean flame;

  /** The first level in sight, and the count of levels in sight. */
  public final int firstLevel;

  public final int levelsInSight;

  /** The first level with a row; levels before it are shown elsewhere. */
  private final int base;

  private final Place place;

  /** The plot where there is no graph: it has no box. */
  static final Plot EMPTY =
      new Plot(Geometry.of(Snapshot.OPENING.graph(), 0, 1, true), Place.ROOT, 0, false, 0, 0);

  /**
   * Puts boxes into rows.
   *
   * @param place the place in the boxes
   * @param base the first level with a row
   * @param flame whether the root is at the bottom
   * @param top first row
   */
  Plot(Geometry geometry, Place place, int base, boolean flame, int top, int rows) {
    this.geometry = geometry;
    this.place = place;
    this.base = base;
    this.flame = flame;
    this.top = top;
    this.rows = rows;
    selectedBox = boxOfSelection();
    int levels = levels();
    int first = levels <= rows ? 0 : firstInSight(levels);
    firstLevel = base + first;
    if (levels <= rows) {
      levelsInSight = levels;
    } else {
      int below = rows - (first > 0 ? 1 : 0);
      levelsInSight = Math.max(1, first + below >= levels ? levels - first : below - 1);
    }
  }

  /** The first level in sight. A hint takes a row at each end with levels out of sight. */
  private int firstInSight(int levels) {
    int first = place.scroll() < 0 ? geometry.zoomLevel() - 2 - base : place.scroll();
    int last = levels - rows + 1;
    if (selectedBox >= 0 && atBase()) {
      first = Math.max(0, Math.min(first, last));
      return first == 1 ? 0 : first;
    }
    int selectedLevel = selectedBox < 0 ? 0 : geometry.level(selectedBox) - base;
    int sight = Math.max(1, rows - 2);
    first = Math.max(first, selectedLevel - sight + (selectedLevel + 1 < levels ? 2 : 1));
    first = Math.max(0, Math.min(first, Math.min(selectedLevel, last)));
    if (first == 1) {
      first = selectedLevel < rows - 1 ? 0 : 2;
    }
    return first;
  }

  /**
   * Lays the boxes of a slice out.
   *
   * @param place the place in the slice
   * @param columns width in cells
   * @param wholeCells edges at whole cells only
   * @param before the layout before, returned if nothing changed; may be null
   * @param live whether edges stay in their places as long as they can
   */
  static Geometry boxes(
      GraphSlice slice,
      Place place,
      int columns,
      boolean wholeCells,
      @Nullable Geometry before,
      boolean live) {
    // Between a key and the next snapshot the slice is still the slice of the old zoom. Its part of
    // the new zoom is shown.
    int wanted = slice.find(place.zoom());
    int zoom = wanted >= 0 ? wanted : slice.zoomIndex();
    if (before != null && before.isOf(slice, zoom, columns, wholeCells)) {
      return before;
    }
    return live && before != null
        ? Geometry.after(before, slice, zoom, columns, wholeCells)
        : Geometry.of(slice, zoom, columns, wholeCells);
  }

  private int boxOfSelection() {
    if (geometry.size() == 0) {
      return -1;
    }
    if (place.run()) {
      int run = runBox();
      if (run >= 0) {
        return run;
      }
    }
    int box = geometry.boxOfNode(place.selected());
    List<Long> trail = place.trail();
    for (int i = trail.size() - 1; box < 0 && i >= 0; i--) {
      box = geometry.boxOfNode(trail.get(i));
    }
    return Math.min(Math.max(Math.max(0, base - 1), box), geometry.size() - 1);
  }

  /** The selected run of thin frames: the run with the known node, else any run on the same box. */
  private int runBox() {
    int member = place.runNode() < 0 ? -1 : geometry.boxOfNode(place.runNode());
    if (member >= 0) {
      return member;
    }
    int parent = geometry.boxOfNode(place.selected());
    for (int i = 0; parent >= 0 && i < geometry.size(); i++) {
      if (geometry.parent(i) == parent && geometry.isRun(i)) {
        return i;
      }
    }
    return -1;
  }

  /** How many levels have a row, in sight or not. */
  public int levels() {
    return Math.max(0, geometry.levels() - base);
  }

  /** Whether the selected box is on a level before the first one with a row. */
  public boolean atBase() {
    return selectedBox < 0 || geometry.level(selectedBox) < base;
  }

  /** Nodes from the root to the node of a box; for a run, to the parent of the run. */
  public List<Long> trail(int box) {
    List<Long> path = new ArrayList<>();
    for (int i = geometry.isRun(box) ? geometry.parent(box) : box; i >= 0; i = geometry.parent(i)) {
      path.add(nodeOf(i));
    }
    Collections.reverse(path);
    return List.copyOf(path);
  }

  /** The number of a box's node; for a run, of the parent of the run. */
  public long nodeOf(int box) {
    int at = geometry.isRun(box) ? geometry.parent(box) : box;
    return at < 0 ? GraphQuery.ROOT : geometry.slice().node()[geometry.node(at)];
  }

  /** A node of a run; -1 if the slice lists none of its nodes. */
  public long memberOf(int run) {
    return geometry.node(run) < 0 ? -1 : geometry.slice().node()[geometry.node(run)];
  }

  /** Row of a level; -1 if it is out of sight. */
  public int rowOf(int level) {
    int i = level - firstLevel;
    if (i < 0 || i >= levelsInSight) {
      return -1;
    }
    int fromEdge = i + (levelsBefore() > 0 ? 1 : 0);
    return flame ? top + rows - 1 - fromEdge : top + fromEdge;
  }

  /** The level in a row; -1 for none. */
  public int levelAt(int row) {
    for (int i = 0; i < levelsInSight; i++) {
      if (rowOf(firstLevel + i) == row) {
        return firstLevel + i;
      }
    }
    return -1;
  }

  /** Levels out of sight towards the root. */
  public int levelsBefore() {
    return firstLevel - base;
  }

  /** Levels out of sight towards the leaves. */
  public int levelsBeyond() {
    return levels() - levelsBefore() - levelsInSight;
  }

  /** Levels out of sight above the widest box of the last level in sight, towards the leaves. */
  public int levelsOfWidest() {
    int level = firstLevel + levelsInSight - 1;
    int widest = -1;
    for (int box = geometry.levelStart(level); box < geometry.levelStart(level + 1); box++) {
      boolean wider = widest < 0 || width(box) > width(widest);
      widest = wider && !geometry.isRun(box) ? box : widest;
    }
    int levels = -1;
    for (int box = widest; box >= 0 && !geometry.isRun(box); box = geometry.child(box)) {
      levels++;
    }
    return Math.max(0, levels);
  }

  private int width(int box) {
    return geometry.right(box) - geometry.left(box);
  }

  /**
   * The place after this picture.
   *
   * @param now the number of the selected node now, from the profile; -1 if the profile does not
   *     tell
   */
  Place settled(long now) {
    if (geometry.size() == 0) {
      return place;
    }
    Place next = place;
    boolean lost = geometry.boxOfNode(place.selected()) < 0;
    boolean before = selectedBox >= 0 && place.selected() == GraphQuery.ROOT && base > 1;
    if (before && nodeOf(selectedBox) != GraphQuery.ROOT) {
      next = place.withSelected(nodeOf(selectedBox), trail(selectedBox));
    } else if (lost && geometry.boxOfNode(now) >= 0) {
      next = place.withSelected(now, trail(geometry.boxOfNode(now)));
    } else if (place.run() && selectedBox >= 0 && !geometry.isRun(selectedBox)) {
      // The frame of a run has a box of its own now.
      next = place.withSelected(nodeOf(selectedBox), trail(selectedBox));
    } else if (place.run() && selectedBox >= 0 && place.runNode() < 0) {
      // The frames of the run were not listed before.
      next = place.withRun(nodeOf(selectedBox), memberOf(selectedBox), trail(selectedBox));
    } else if (selectedBox >= 0
        && !geometry.isRun(selectedBox)
        && nodeOf(selectedBox) == place.selected()) {
      List<Long> trail = trail(selectedBox);
      if (!trail.equals(place.trail())) {
        next = place.withSelected(place.selected(), trail);
      }
    }
    GraphSlice slice = geometry.slice();
    if (!slice.has(place.zoom())) {
      // The zoom comes from a tree of another shape; the profile found its node in this tree.
      next = next.withZooms(zooms(slice));
    }
    return levelsBefore() != place.scroll() && place.scroll() >= 0
        ? next.withScroll(levelsBefore())
        : next;
  }

  /** The zooms, the last of which leads to the zoomed node of the slice. */
  private List<Zoom> zooms(GraphSlice slice) {
    int at = slice.zoomIndex();
    if (slice.node()[at] == GraphQuery.ROOT && !slice.opened()) {
      return List.of();
    }
    Siblings siblings = null;
    for (int i = at + 1; slice.opened() && i < slice.size(); i++) {
      if (slice.parent()[i] == at) {
        long first = siblings == null ? slice.node()[i] : siblings.first();
        siblings = new Siblings(first, slice.last()[i]);
      }
    }
    List<Zoom> zooms = new ArrayList<>(place.zooms().subList(0, place.zooms().size() - 1));
    zooms.add(new Zoom(slice.node()[at], siblings));
    return zooms;
  }
}

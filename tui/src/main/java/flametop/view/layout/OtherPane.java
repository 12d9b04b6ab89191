package flametop.view.layout;

import flametop.profile.answer.GraphQuery;
import flametop.profile.answer.GraphSlice;
import flametop.profile.answer.Sandwich;
import flametop.profile.answer.Selection;
import flametop.profile.answer.Snapshot;
import flametop.profile.answer.SplitAnswer;
import flametop.view.base.View;
import flametop.view.state.Place;
import flametop.view.state.SandwichPlace;
import flametop.view.state.Split;
import flametop.view.state.ViewState;
import flametop.view.state.Zoom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The pane without the keys. It shows its own file, zoomed and selected by the same paths as the
 * pane with the keys.
 */
public final class OtherPane {
  private OtherPane() {}

  /**
   * Whether the keys went to the other pane after the question was asked: then the panes of the
   * answer change their roles.
   */
  static boolean isCrossed(Snapshot snapshot, SplitAnswer beside, @Nullable Split split) {
    return split != null
        && number(snapshot) == split.other()
        && number(beside.snapshot()) == split.active();
  }

  private static int number(Snapshot snapshot) {
    return snapshot.reading().number();
  }

  /** Notices of both files from the left, each with the name of its file. */
  static List<String> notices(Scene scene, Split split, SplitAnswer two) {
    List<String> notices = new ArrayList<>(scene.options.notices());
    boolean right = split.onRight();
    add(notices, right ? two.snapshot() : scene.snapshot);
    add(notices, right ? scene.snapshot : two.snapshot());
    return notices;
  }

  private static void add(List<String> notices, Snapshot of) {
    String name = of.reading().name();
    for (String notice : of.notices()) {
      notices.add(notice.startsWith(name) ? notice : name + ": " + notice);
    }
  }

  /** The state of the other pane, at the same place as the pane with the keys. */
  static ViewState state(Scene scene, Split split, SplitAnswer two) {
    ViewState s = scene.state;
    Place from = s.place();
    SandwichLayout layout = scene.sandwich;
    if (s.view() != View.SANDWICH) {
      Place place =
          place(scene.plot, two.snapshot().graph(), from, two.snapshot().selection())
              .withScroll(scene.plot.levelsBefore());
      return s.withPlace(place).withSplit(split.passed(from, place));
    }
    ViewState passed = s.withSplit(split.passed(null, null));
    if (layout == null
        || !(two.page() instanceof Sandwich there)
        || !there.function().equals(layout.page().function())) {
      return passed;
    }
    SandwichPlace at = s.sandwich();
    return passed.withSandwich(
        at.with(
            place(
                layout.callers(),
                there.callers(),
                at.callers(),
                at.below() ? null : there.selection()),
            place(
                layout.callees(),
                there.callees(),
                at.callees(),
                at.below() ? there.selection() : null)));
  }

  /**
   * The same place in the other graph.
   *
   * @param plot the graph with the keys
   * @param other the graph beside it, zoomed by the same path
   * @param place the place in {@code plot}
   * @param selection the selected node of {@code other}; null for none
   */
  private static Place place(
      Plot plot, GraphSlice other, Place place, @Nullable Selection selection) {
    GraphSlice mine = plot.geometry.slice();
    List<Zoom> zooms = new ArrayList<>();
    for (Zoom zoom : place.zooms()) {
      int level = mine.find(zoom.node());
      if (level >= 0 && level <= Math.min(mine.zoomIndex(), other.zoomIndex())) {
        add(zooms, other.node()[level]);
      }
    }
    if (other.size() > 0) {
      add(zooms, other.node()[other.zoomIndex()]);
    }
    Place zoomed = Place.ROOT.withZooms(zooms);
    if (selection == null || other.size() == 0 || place.selected() == GraphQuery.ROOT) {
      return zoomed;
    }
    int nearest = nearest(other, selection);
    List<Long> trail = new ArrayList<>();
    for (int i = nearest; i >= 0; i = other.parent()[i]) {
      trail.add(other.node()[i]);
    }
    Collections.reverse(trail);
    return zoomed.withSelected(selection.node(), List.copyOf(trail));
  }

  private static void add(List<Zoom> zooms, long node) {
    if (node != GraphQuery.ROOT
        && (zooms.isEmpty() || zooms.get(zooms.size() - 1).node() != node)) {
      zooms.add(new Zoom(node, null));
    }
  }

  /** Index of the selected node, or of the innermost listed node on its path. */
  private static int nearest(GraphSlice slice, Selection selection) {
    int at = slice.find(selection.node());
    if (at >= 0) {
      return at;
    }
    at = 0;
    String[] path = selection.path();
    int depth = 1;
    for (int i = 1; i < slice.size() && depth < path.length && slice.parent()[i] >= at; i++) {
      if (slice.parent()[i] == at && slice.name()[i].equals(path[depth])) {
        at = i;
        depth++;
      }
    }
    return at;
  }

  /** Whether a pane has the node that is selected in the pane with the keys. */
  static boolean hasSelected(Scene keys, Scene other) {
    Selection selection = keys.selection();
    Selection there = other.selection();
    return keys.state.selected() == GraphQuery.ROOT
        || !selection.isNone()
            && !there.isNone()
            && !keys.state.place().run()
            && Arrays.equals(selection.path(), there.path());
  }

  /** Whether the selections of both panes are known for the node that is selected now. */
  public static boolean isTold(Scene keys, Scene other) {
    Selection selection = keys.selection();
    return !selection.isNone()
        && (keys.state.selected() == GraphQuery.ROOT || selection.node() == keys.state.selected())
        && !keys.snapshot.refolding()
        && !other.snapshot.refolding();
  }
}

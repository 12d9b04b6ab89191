package flametop.view.layout;

import flametop.view.base.ExportFormat;
import flametop.view.base.TextWidth;
import flametop.view.base.Zone;
import flametop.view.state.FormatList;
import flametop.view.state.PickList;
import flametop.view.state.Rows;
import flametop.view.state.SourceList;
import java.util.ArrayList;
import java.util.List;

/** The place of a list over the view: a row with the typed text, heads, entries. */
public final class ListBox {
  public final int x;
  public final int width;

  /** The row with the typed text. */
  public final int top;

  private final int columns;
  private final int height;
  private final int heads;
  private final int entries;
  private final int index;

  /**
   * @param heads rows above the first entry
   * @param most rows that the list has at most
   * @param index of the marked entry
   */
  ListBox(Scene scene, int heads, int most, int entries, int index) {
    this(
        scene, heads, Math.min(Math.max(4, scene.graphRows), most), index, entries, scene.graphTop);
  }

  private ListBox(Scene scene, int heads, int rows, int index, int entries, int firstRow) {
    columns = scene.columns;
    x = columns >= 100 ? 4 : columns >= 70 ? 2 : 0;
    width = columns - 2 * x;
    top = firstRow;
    height = rows;
    this.heads = heads;
    this.entries = entries;
    this.index = index;
  }

  /** Rows for entries. */
  int room() {
    return height - heads;
  }

  /** Row of the screen for an entry. */
  public int row(int entry) {
    return top + heads + entry - first();
  }

  /** Index of the first entry in sight. */
  public int first() {
    return Rows.first(index, entries, room());
  }

  /** One more than the index of the last entry in sight. */
  public int end() {
    return Math.min(entries, first() + room());
  }

  /** The place of the open pick list. */
  public static ListBox ofPick(Scene scene, PickList pick) {
    return new ListBox(scene, 2, Integer.MAX_VALUE, pick.matching().size() + 1, pick.index());
  }

  /** The place of the open list of sources of events. */
  public static ListBox ofSources(Scene scene, SourceList list) {
    int top = 2;
    // Two lines at least, so that rows stay where they are while the mark moves.
    int heads = 1 + Math.max(2, about(scene, list).size() + (list.isAtColumn() ? 1 : 0));
    int rows = scene.rows - 1 - top;
    return new ListBox(scene, heads, rows, list.index(), list.rows().size() + 1, top);
  }

  /** Lines below the spec: why it cannot be had, or what is said of the marked row. */
  public static List<String> about(Scene scene, SourceList list) {
    boolean refused = !list.trouble().isEmpty();
    return TextWidth.lines(
        refused ? list.trouble() : list.about(), scene.columns - 10, refused ? 3 : 2);
  }

  /** The place of the open list of export formats. */
  public static ListBox ofFormats(Scene scene) {
    FormatList list = scene.state.formats();
    int most = 2 + ExportFormat.values().length;
    return new ListBox(scene, 1, most, list.matching().size(), list.index());
  }

  /** The rows of the list over the whole width of the screen. */
  public Zone<ListBox> zone() {
    return new Zone<>(0, top, columns, height, this);
  }

  /** Indexes of the entries in sight. */
  public List<Zone<Integer>> entries() {
    List<Zone<Integer>> zones = new ArrayList<>();
    for (int entry = first(); entry < end(); entry++) {
      zones.add(Zone.line(0, row(entry), columns, entry));
    }
    return zones;
  }
}

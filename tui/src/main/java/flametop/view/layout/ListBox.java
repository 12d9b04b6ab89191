package flametop.view.layout;

import flametop.view.base.ExportFormat;
import flametop.view.base.Zone;
import flametop.view.state.FormatList;
import flametop.view.state.PickList;
import flametop.view.state.Rows;
import java.util.ArrayList;
import java.util.List;

/** Where a list stands that is open over the view: a row with what is typed, then its own. */
public final class ListBox {
  public final int x;
  public final int width;

  /** The row with what is typed. */
  public final int top;

  private final int columns;
  private final int height;
  private final int heads;
  private final int entries;
  private final int index;

  /**
   * @param heads rows above the first entry
   * @param most rows that it has at most
   * @param index of the marked entry
   */
  ListBox(Scene scene, int heads, int most, int entries, int index) {
    columns = scene.columns;
    x = columns >= 100 ? 4 : columns >= 70 ? 2 : 0;
    width = columns - 2 * x;
    top = scene.graphTop;
    height = Math.min(Math.max(4, scene.graphRows), most);
    this.heads = heads;
    this.entries = entries;
    this.index = index;
  }

  /** Rows for entries. */
  int room() {
    return height - heads;
  }

  /** Row of the screen for one of them. */
  public int row(int entry) {
    return top + heads + entry - first();
  }

  /** Index of the first entry in sight. */
  public int first() {
    return Rows.first(index, entries, room());
  }

  /** One more than that of the last. */
  public int end() {
    return Math.min(entries, first() + room());
  }

  /** The pick list that is open. */
  public static ListBox ofPick(Scene scene) {
    PickList pick = scene.state.pick();
    int entries = pick.rows() == null ? 1 : pick.matching().size() + 1;
    return new ListBox(scene, 2, Integer.MAX_VALUE, entries, pick.index());
  }

  /** The list of export formats that is open. */
  public static ListBox ofFormats(Scene scene) {
    FormatList list = scene.state.formats();
    int most = 2 + ExportFormat.values().length;
    return new ListBox(scene, 1, most, list.matching().size(), list.index());
  }

  /** Its rows, and what is left and right of it. */
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

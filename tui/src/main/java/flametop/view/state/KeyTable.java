package flametop.view.state;

import flametop.view.base.Action;
import flametop.view.base.Origin;
import flametop.view.base.View;
import java.util.ArrayList;
import java.util.List;

/** All keys as rows of the reference. */
public final class KeyTable {
  /**
   * What a key does.
   *
   * @param group heading that the help has above it
   * @param keys by default, as the configuration names them
   * @param id name in the configuration
   * @param views labels of the views that have it
   */
  public record Row(String group, List<String> keys, String id, String sentence, String views) {}

  private KeyTable() {}

  public static List<Row> rows() {
    List<Row> rows = new ArrayList<>();
    for (Action action : Action.values()) {
      rows.add(
          new Row(
              action.group().title(),
              List.of(action.keys().split(" ")),
              action.id(),
              action.sentence(),
              views(action)));
    }
    return rows;
  }

  /** Where an action is live and in files: one list if both are the same. */
  private static String views(Action action) {
    String live = views(action, Origin.LIVE);
    String file = views(action, Origin.FILE);
    if (live.isEmpty()) {
      return "files: " + file;
    }
    return file.isEmpty() ? "live: " + live : live.equals(file) ? live : live + "; files: " + file;
  }

  private static String views(Action action, Origin origin) {
    List<String> with = new ArrayList<>();
    int views = 0;
    for (View view : View.values()) {
      if (view.isOf(origin)) {
        views++;
        if (ViewActions.of(view, origin).has(action)) {
          with.add(view.label());
        }
      }
    }
    return with.size() == views ? "all" : String.join(", ", with);
  }
}

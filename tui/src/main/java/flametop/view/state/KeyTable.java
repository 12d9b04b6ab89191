package flametop.view.state;

import flametop.view.base.Action;
import flametop.view.base.Origin;
import flametop.view.base.View;
import java.util.ArrayList;
import java.util.Arrays;
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
    List<View> views = Arrays.stream(View.values()).filter(view -> view.isOf(origin)).toList();
    List<String> with =
        views.stream()
            .filter(view -> ViewActions.of(view, origin).has(action))
            .map(View::label)
            .toList();
    return with.size() == views.size() ? "all" : String.join(", ", with);
  }
}

package flametop.view;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The keys of the view at hand in groups, over it; below them what does not work. */
final class HelpPainter {
  private static final int BACKGROUND = Paint.of(Role.CHROME);

  /** Cells for the keys of a line. */
  private static final int KEYS = 10;

  private HelpPainter() {}

  /**
   * Groups of lines, each its keys and what they do; the first line of a group is its title. Those
   * with something that only this view has come first; legends after them.
   */
  private static List<String[][]> groups(Scene scene, boolean legends) {
    View view = scene.state.view();
    List<String[][]> groups = new ArrayList<>();
    List<String[][]> common = new ArrayList<>();
    for (Action.Group group : Action.Group.values()) {
      List<String[]> lines = new ArrayList<>();
      lines.add(new String[] {group.title()});
      boolean own = false;
      List<Action> line = new ArrayList<>();
      for (Action action : Action.values()) {
        if (action.group() == group && Keymap.has(view, action)) {
          if (!line.isEmpty() && !line.get(0).help().equals(action.help())) {
            add(lines, scene.options.keymap(), line);
          }
          line.add(action);
          own |= Keymap.isOwn(view, action);
        }
      }
      add(lines, scene.options.keymap(), line);
      if (lines.size() > 1) {
        (own ? groups : common).add(lines.toArray(new String[0][]));
      }
    }
    String[][] legend = view.painter().legend();
    if (legends && legend.length > 0) {
      groups.add(legend);
    }
    groups.addAll(common);
    return groups;
  }

  private static void add(List<String[]> lines, Keymap keymap, List<Action> actions) {
    if (!actions.isEmpty()) {
      String keys = keys(keymap, actions);
      if (!keys.isEmpty()) {
        lines.add(new String[] {keys, actions.get(0).help()});
      }
      actions.clear();
    }
  }

  /** First keys of all, then second keys, as long as there is room; narrow ones stand close. */
  private static String keys(Keymap keymap, List<Action> actions) {
    StringBuilder text = new StringBuilder();
    for (int n = 0; n < 2; n++) {
      StringBuilder part = new StringBuilder();
      boolean close = actions.size() > 2;
      for (Action action : actions) {
        close &=
            keymap.keys(action).size() > n && keymap.keys(action).get(n).symbol().length() == 1;
      }
      for (Action action : actions) {
        if (keymap.keys(action).size() > n) {
          String symbol = keymap.keys(action).get(n).symbol();
          part.append(part.isEmpty() || close ? "" : " ").append(symbol);
        }
      }
      // Of a pair the first keys say it all, unless they are off the home row.
      boolean worth = actions.size() != 2 || part.toString().matches("[a-z ]*");
      if (text.isEmpty()) {
        text.append(part);
      } else if (worth && !part.isEmpty() && TextWidth.of(text + " " + part) <= KEYS) {
        text.append(' ').append(part);
      }
    }
    return text.toString();
  }

  static void paint(Scene scene, CellGrid grid) {
    int top = 1;
    int height = scene.rows - 2;
    for (int y = top; y < top + height; y++) {
      grid.fill(0, y, scene.columns, BACKGROUND);
    }
    grid.text(
        2, top, scene.columns - 3, "keys — any key closes", Paint.of(Role.DIM), BACKGROUND, 0);
    int columns = scene.columns >= 140 ? 4 : scene.columns >= 76 ? 2 : 1;
    int first = top + (height >= 16 ? 2 : 1);
    List<String[][]> groups = groups(scene, true);
    if (lines(null, groups, columns, first, 0, scene) > top + height) {
      groups = groups(scene, false);
    }
    int y = 0;
    for (int spare = 2; spare >= 0; spare--) {
      if (spare == 0 || lines(null, groups, columns, first, spare, scene) <= top + height) {
        y = lines(grid, groups, columns, first, spare, scene);
        break;
      }
    }
    List<String> notices = scene.notices();
    for (int i = notices.size() - 1; i >= 0 && y < top + height; i--) {
      grid.text(2, y++, scene.columns - 3, notices.get(i), Paint.of(Role.WORSE), BACKGROUND, 0);
    }
  }

  /**
   * Lays the groups out in columns, each where there is most room; paints them unless {@code grid}
   * is null.
   *
   * @param spare rows for each group beside its lines: a title, and an empty one below it
   * @return the row below the lowest line
   */
  private static int lines(
      CellGrid grid, List<String[][]> groups, int columns, int top, int spare, Scene scene) {
    int width = (scene.columns - 2) / columns;
    int[] bottom = new int[columns];
    Arrays.fill(bottom, top);
    int lowest = top;
    for (String[][] group : groups) {
      int column = 0;
      for (int i = 1; i < columns; i++) {
        column = bottom[i] < bottom[column] ? i : column;
      }
      int x = 2 + column * width;
      int y = bottom[column];
      for (int line = spare > 0 ? 0 : 1; line < group.length; line++, y++) {
        if (grid == null || y >= scene.rows - 1) {
          continue;
        }
        if (line == 0) {
          grid.text(x, y, width - 2, group[0][0], Paint.of(Role.ACCENT), BACKGROUND, CellGrid.BOLD);
        } else {
          grid.text(x, y, KEYS, group[line][0], Paint.of(Role.TEXT), BACKGROUND, CellGrid.BOLD);
          int at = x + KEYS + 1;
          grid.text(at, y, width - KEYS - 3, group[line][1], Paint.of(Role.DIM), BACKGROUND, 0);
        }
      }
      lowest = Math.max(lowest, y);
      bottom[column] = y + (spare > 1 ? 1 : 0);
    }
    return lowest;
  }
}

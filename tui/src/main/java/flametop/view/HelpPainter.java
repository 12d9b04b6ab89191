package flametop.view;

import java.util.ArrayList;
import java.util.List;

/** The keys of the view at hand in groups, over it; below them what does not work. */
final class HelpPainter {
  private static final int BACKGROUND = Paint.of(Role.CHROME);

  /** Cells for the keys of a line. */
  private static final int KEYS = 10;

  private HelpPainter() {}

  /**
   * Groups of lines, each its keys and what they do; the first line of a group is its title. Those
   * with something that only this view has come first.
   */
  private static List<String[][]> groups(Scene scene) {
    ViewKeys view = scene.keys(scene.state);
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
    String[][] legend = scene.state.view().painter().legend(scene);
    if (legend.length > 0) {
      groups.add(legend);
    }
    groups.addAll(common);
    return groups;
  }

  /** A line for all of them, and one for each that has no key, with the setting that gives one. */
  private static void add(List<String[]> lines, Keymap keymap, List<Action> actions) {
    if (!actions.isEmpty()) {
      String keys = keys(keymap, actions);
      if (!keys.isEmpty()) {
        lines.add(new String[] {keys, actions.get(0).help()});
      }
      for (Action action : actions) {
        if (keymap.keys(action).isEmpty()) {
          lines.add(new String[] {"none", action.help() + " (key." + action.id() + ")"});
        }
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

  /** Where the groups are: below each other in columns, of which a page shows some rows. */
  private record Layout(List<String[][]> groups, int columns, int first, int rows, int spare) {
    static Layout of(Scene scene) {
      int columns =
          scene.columns >= 150 ? 4 : scene.columns >= 116 ? 3 : scene.columns >= 76 ? 2 : 1;
      int height = scene.rows - 2;
      int first = height >= 16 ? 2 : 1;
      List<String[][]> groups = new ArrayList<>();
      for (String[][] group : HelpPainter.groups(scene)) {
        groups.add(wrapped(group, (scene.columns - 2) / columns - KEYS - 3));
      }
      for (int spare = 2; spare >= 0; spare--) {
        Layout layout = new Layout(groups, columns, 1 + first, height - first, spare);
        if (layout.pages(scene) == 1) {
          return layout;
        }
      }
      // What goes on another page is found by its titles.
      return new Layout(groups, columns, 1 + first, height - first, 1);
    }

    int pages(Scene scene) {
      int rows = lines(null, scene, 0) + notices(scene).size();
      return Math.max(1, (rows + this.rows - 1) / this.rows);
    }

    /**
     * Puts each group into the column where there is most room; paints what is on a page unless
     * {@code grid} is null.
     *
     * @return how many rows there are on all pages
     */
    int lines(CellGrid grid, Scene scene, int page) {
      int width = (scene.columns - 2) / columns;
      int[] bottom = new int[columns];
      int lowest = 0;
      for (String[][] group : groups) {
        int column = 0;
        for (int i = 1; i < columns; i++) {
          column = start(group, bottom[i]) < start(group, bottom[column]) ? i : column;
        }
        int x = 2 + column * width;
        int row = start(group, bottom[column]);
        for (int line = spare > 0 ? 0 : 1; line < group.length; line++, row++) {
          int y = row - page * rows;
          if (grid == null || y < 0 || y >= rows) {
            continue;
          }
          y += first;
          if (line == 0) {
            grid.text(
                x, y, width - 2, group[0][0], Paint.of(Role.ACCENT), BACKGROUND, CellGrid.BOLD);
          } else {
            grid.text(x, y, KEYS, group[line][0], Paint.of(Role.TEXT), BACKGROUND, CellGrid.BOLD);
            int at = x + KEYS + 1;
            grid.text(at, y, width - KEYS - 3, group[line][1], Paint.of(Role.DIM), BACKGROUND, 0);
          }
        }
        lowest = Math.max(lowest, row);
        bottom[column] = row + (spare > 1 ? 1 : 0);
      }
      return lowest;
    }

    /** The first row of a group below another: it stays together, maybe on the next page. */
    private int start(String[][] group, int row) {
      int left = rows - row % rows;
      return group.length > left && group.length <= rows ? row + left : row;
    }
  }

  /** The same with what is longer than a column on lines below it. */
  private static String[][] wrapped(String[][] group, int width) {
    List<String[]> lines = new ArrayList<>();
    for (String[] line : group) {
      if (line.length < 2) {
        lines.add(line);
        continue;
      }
      String keys = line[0];
      for (String part : wrapped(line[1], width)) {
        lines.add(new String[] {keys, part});
        keys = "";
      }
    }
    return lines.toArray(new String[0][]);
  }

  private static List<String> wrapped(String text, int width) {
    List<String> lines = new ArrayList<>();
    String rest = text;
    while (TextWidth.exceeds(rest, width)) {
      int end = rest.length();
      while (end > 0 && TextWidth.exceeds(rest.substring(0, end), width)) {
        end = rest.lastIndexOf(' ', end - 1);
      }
      if (end <= 0) {
        break;
      }
      lines.add(rest.substring(0, end));
      rest = rest.substring(end + 1);
    }
    lines.add(rest);
    return lines;
  }

  private static List<String> notices(Scene scene) {
    List<String> lines = new ArrayList<>();
    for (String notice : scene.notices()) {
      lines.addAll(wrapped(notice, scene.columns - 3));
    }
    return lines;
  }

  /** Which page a key leads to; below 0: it closes the help. */
  static int turned(Scene scene, Key key) {
    int page = scene.state.helpPage();
    boolean back = key.kind() == Key.Kind.UP || key.kind() == Key.Kind.PAGE_UP;
    boolean on =
        key.kind() == Key.Kind.DOWN || key.kind() == Key.Kind.PAGE_DOWN || key.equals(Key.of(' '));
    if (back && page > 0) {
      return page - 1;
    }
    return on && page + 1 < Layout.of(scene).pages(scene) ? page + 1 : -1;
  }

  static void paint(Scene scene, CellGrid grid) {
    for (int y = 1; y < scene.rows - 1; y++) {
      grid.fill(0, y, scene.columns, BACKGROUND);
    }
    Layout layout = Layout.of(scene);
    int pages = layout.pages(scene);
    // The screen may have become larger since.
    int page = Math.min(scene.state.helpPage(), pages - 1);
    String title =
        page + 1 < pages
            ? "keys " + (page + 1) + "/" + pages + " — space: the next, any other key closes"
            : pages > 1
                ? "keys " + pages + "/" + pages + " — any key closes"
                : "keys — any key closes";
    grid.text(2, 1, scene.columns - 3, title, Paint.of(Role.DIM), BACKGROUND, 0);
    int row = layout.lines(grid, scene, page) - page * layout.rows;
    for (String notice : notices(scene)) {
      if (row >= 0 && row < layout.rows) {
        grid.text(
            2, layout.first + row, scene.columns - 3, notice, Paint.of(Role.WORSE), BACKGROUND, 0);
      }
      row++;
    }
  }
}

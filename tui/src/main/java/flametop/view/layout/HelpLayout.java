package flametop.view.layout;

import flametop.view.base.Action;
import flametop.view.base.Key;
import flametop.view.base.TextWidth;
import flametop.view.base.Zone;
import flametop.view.state.Keymap;
import flametop.view.state.ViewActions;
import java.util.ArrayList;
import java.util.List;

/**
 * The help: the keys of the current view in groups, and notices below them.
 *
 * @param lines all lines at their places, by rows of all pages
 * @param top row of the screen for the first row of a page
 * @param rows of a page
 */
public record HelpLayout(List<Zone<HelpLayout.Line>> lines, int top, int rows) {
  /** Cells for the keys of a line. */
  public static final int KEYS = 10;

  /** A title, keys and their meaning, or a notice. */
  public sealed interface Line {
    record Title(String text) implements Line {}

    record Entry(String keys, String text) implements Line {}

    record Notice(String text) implements Line {}
  }

  /**
   * The layout of the keys of a view.
   *
   * @param legend lines of a word and its meaning, below titles; empty for none
   */
  public static HelpLayout of(Scene scene, List<String[]> legend) {
    int columns = scene.columns >= 150 ? 4 : scene.columns >= 116 ? 3 : scene.columns >= 76 ? 2 : 1;
    List<String[][]> groups = new ArrayList<>();
    for (String[][] group : groups(scene, legend)) {
      groups.add(wrapped(group, (scene.columns - 2) / columns - KEYS - 3));
    }
    for (int spare = 2; spare >= 0; spare--) {
      HelpLayout layout = of(scene, groups, columns, spare);
      if (layout.pages() == 1) {
        return layout;
      }
    }
    // With several pages, titles are needed to find a key.
    return of(scene, groups, columns, 1);
  }

  /** How many pages there are. */
  public int pages() {
    int end = 1 + lines.stream().mapToInt(Zone::y).max().orElse(-1);
    return Math.max(1, (end + rows - 1) / rows);
  }

  /** The page in sight. The screen may have become larger since a key chose the page. */
  public int page(Scene scene) {
    return Math.min(scene.state.helpPage(), pages() - 1);
  }

  /** The lines of a page at their places on the screen. */
  public List<Zone<Line>> page(int page) {
    List<Zone<Line>> inSight = new ArrayList<>();
    for (Zone<Line> line : lines) {
      int row = line.y() - page * rows;
      if (row >= 0 && row < rows) {
        inSight.add(Zone.line(line.x(), top + row, line.width(), line.what()));
      }
    }
    return inSight;
  }

  /** Puts each group into the column with the most room, then the notices below. */
  private static HelpLayout of(Scene scene, List<String[][]> groups, int columns, int spare) {
    int height = scene.rows - 2;
    int first = height >= 16 ? 2 : 1;
    HelpLayout to = new HelpLayout(new ArrayList<>(), 1 + first, height - first);
    int width = (scene.columns - 2) / columns;
    int[] bottom = new int[columns];
    int lowest = 0;
    for (String[][] group : groups) {
      int column = 0;
      for (int i = 1; i < columns; i++) {
        column = to.start(group, bottom[i]) < to.start(group, bottom[column]) ? i : column;
      }
      int x = 2 + column * width;
      int row = to.start(group, bottom[column]);
      for (int i = spare > 0 ? 0 : 1; i < group.length; i++, row++) {
        Line line = i == 0 ? new Line.Title(group[0][0]) : new Line.Entry(group[i][0], group[i][1]);
        to.lines.add(Zone.line(x, row, width - 2, line));
      }
      lowest = Math.max(lowest, row);
      bottom[column] = row + (spare > 1 ? 1 : 0);
    }
    for (String notice : notices(scene)) {
      to.lines.add(Zone.line(2, lowest++, scene.columns - 3, new Line.Notice(notice)));
    }
    return to;
  }

  /**
   * The first row of a group below another group: a group stays together, maybe on the next page.
   */
  private int start(String[][] group, int row) {
    int left = rows - row % rows;
    return group.length > left && group.length <= rows ? row + left : row;
  }

  /**
   * Groups of lines: a title, then keys and their meaning. Groups with an action that only this
   * view has come first.
   */
  private static List<String[][]> groups(Scene scene, List<String[]> legend) {
    ViewActions view = ViewActions.of(scene.state.view(), scene.options.origin());
    List<String[][]> groups = new ArrayList<>();
    List<String[][]> common = new ArrayList<>();
    for (Action.Group group : Action.Group.values()) {
      List<String[]> lines = new ArrayList<>();
      lines.add(new String[] {group.title()});
      boolean own = false;
      List<Action> line = new ArrayList<>();
      for (Action action : Action.values()) {
        if (action.group() == group && view.has(action) && !scene.lacks(action)) {
          if (!line.isEmpty() && !line.get(0).help().equals(action.help())) {
            add(lines, scene.options.keymap(), line);
          }
          line.add(action);
          own |= view.isOwn(action);
        }
      }
      add(lines, scene.options.keymap(), line);
      if (lines.size() > 1) {
        (own ? groups : common).add(lines.toArray(new String[0][]));
      }
    }
    groups.addAll(parted(legend));
    groups.addAll(common);
    return groups;
  }

  /** A legend in groups: a line of one word begins the next. */
  private static List<String[][]> parted(List<String[]> legend) {
    List<String[][]> groups = new ArrayList<>();
    int from = 0;
    for (int i = 1; i <= legend.size(); i++) {
      if (i == legend.size() || legend.get(i).length == 1) {
        groups.add(legend.subList(from, i).toArray(new String[0][]));
        from = i;
      }
    }
    return groups;
  }

  /**
   * Adds a line for actions that share a help text, and a line for each action without a key, with
   * the setting that gives it one.
   */
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

  /**
   * The first key of each action, then the second keys, as long as there is room; narrow keys stand
   * close.
   */
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
      // A pair needs no second keys, unless the first keys are off the home row.
      boolean worth = actions.size() != 2 || part.toString().matches("[a-z ]*");
      if (text.isEmpty()) {
        text.append(part);
      } else if (worth && !part.isEmpty() && TextWidth.of(text + " " + part) <= KEYS) {
        text.append(' ').append(part);
      }
    }
    return text.toString();
  }

  /** The same group with long texts wrapped. */
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

  /** The page that a key leads to; negative if the key closes the help. */
  public static int turned(Scene scene, Key key, List<String[]> legend) {
    int page = scene.state.helpPage();
    boolean back = key.kind() == Key.Kind.UP || key.kind() == Key.Kind.PAGE_UP;
    boolean on =
        key.kind() == Key.Kind.DOWN || key.kind() == Key.Kind.PAGE_DOWN || key.equals(Key.of(' '));
    if (back && page > 0) {
      return page - 1;
    }
    return on && page + 1 < of(scene, legend).pages() ? page + 1 : -1;
  }
}

package flametop.view.layout;

import flametop.view.base.Action;
import flametop.view.base.Key;
import flametop.view.base.TextWidth;
import flametop.view.base.Zone;
import flametop.view.state.ViewActions;
import flametop.view.state.ViewState;
import java.util.ArrayList;
import java.util.List;

/**
 * The keys in the last row: as many as fit beside the answer to the last key.
 *
 * @param entries keys and their meaning, from the left
 * @param zones the actions of clicks
 */
public record KeyLine(List<Entry> entries, List<Zone<Action>> zones) {
  private static final String[][] PICKING = {
    {"↵", "only it"}, {"^X", "without it"}, {"esc", "closes"}, {"a-z", "narrows"}, {"↑↓", "moves"}
  };

  private static final String[][] ADDING = {
    {"↵", "adds it"},
    {"tab", "takes it into the line"},
    {"esc", "closes"},
    {"↑↓", "moves"},
    {"^P", "older ones"}
  };

  /** Cells between two entries. */
  private static final int BETWEEN = 2;

  /**
   * Keys that share one label.
   *
   * @param x first column
   */
  public record Entry(int x, String keys, String label) {
    public int width() {
      return TextWidth.of(keys) + 1 + TextWidth.of(label);
    }

    /** The column of the next entry. */
    int next() {
      return x + width() + BETWEEN;
    }
  }

  /** The keys of the open list, else of the view. */
  public static KeyLine of(Scene scene) {
    KeyLine line = new KeyLine(new ArrayList<>(), new ArrayList<>());
    if (scene.state.pick() != null) {
      line.addList(scene, PICKING);
    } else if (scene.state.sources() != null) {
      line.addList(scene, ADDING);
    } else {
      line.addView(scene);
    }
    return line;
  }

  /** Adds the keys of a list; a click on them does nothing. */
  private void addList(Scene scene, String[][] keys) {
    int x = 1;
    for (String[] key : keys) {
      Entry entry = new Entry(x, key[0], key[1]);
      if (!hasRoom(scene, entry)) {
        return;
      }
      add(scene, entry, List.of());
      x = entry.next();
    }
  }

  private void addView(Scene scene) {
    ViewState state = scene.state;
    int x = 1;
    List<Action> actions = ViewActions.of(state.view(), scene.options.origin()).keyLine(state);
    for (int i = 0; i < actions.size(); ) {
      StringBuilder keys = new StringBuilder();
      List<Zone<Action>> clicks = new ArrayList<>();
      String label = label(scene, actions.get(i));
      do {
        Action action = actions.get(i);
        List<Key> own = scene.options.keymap().keys(action);
        if (!own.isEmpty() && !scene.isVain(action)) {
          String symbol = symbol(own.get(0));
          clicks.add(
              Zone.line(
                  x + TextWidth.of(keys.toString()), scene.rows - 1, TextWidth.of(symbol), action));
          keys.append(symbol);
        }
        i++;
      } while (i < actions.size()
          && actions.get(i) != Action.NEXT_VIEW
          && label(scene, actions.get(i)).equals(label));
      if (!keys.isEmpty()) {
        Entry entry = new Entry(x, keys.toString(), label);
        if (!hasRoom(scene, entry)) {
          return;
        }
        int end = x + TextWidth.of(entry.keys);
        clicks.add(Zone.line(end, scene.rows - 1, x + entry.width() - end, clicks.get(0).what()));
        add(scene, entry, clicks);
        x = entry.next();
      }
    }
  }

  private static boolean hasRoom(Scene scene, Entry entry) {
    return entry.x + entry.width() <= scene.columns - 1;
  }

  /** Adds an entry, unless the answer covers its place: the other entries do not move. */
  private void add(Scene scene, Entry entry, List<Zone<Action>> clicks) {
    ViewState state = scene.state;
    int uncovered = state.message().isEmpty() ? 0 : 1 + TextWidth.of(state.said().counted()) + 3;
    if (entry.x >= uncovered) {
      entries.add(entry);
      zones.addAll(clicks);
    }
  }

  private static String symbol(Key key) {
    return key.kind() == Key.Kind.ENTER ? "↵" : key.symbol();
  }

  private static String label(Scene scene, Action action) {
    ViewState state = scene.state;
    boolean matches = state.search() != null && state.view().hasStacks();
    return switch (action) {
      case FREEZE -> state.moment().frozen() ? "thaw" : action.label();
      case LEFT, RIGHT -> state.time().on() ? "moves" : action.label();
      case KEEP -> matches ? "only them" : action.label();
      case DROP -> matches ? "without them" : action.label();
      case ZOOM -> state.time().on() ? "keeps" : action.label();
      case SPLIT -> state.split() == null ? action.label() : "one file";
      case NEXT_VIEW -> state.view().next(scene.options.origin()).label();
      case SEARCH -> state.search() == null ? action.label() : "edit";
      case BACK -> state.time().on() ? "drops" : state.search() == null ? action.label() : "close";
      default -> action.label();
    };
  }
}

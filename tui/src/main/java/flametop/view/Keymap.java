package flametop.view;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Which key does what, in each view. Immutable. */
public final class Keymap {
  /** Nothing is remapped. */
  public static final Keymap DEFAULT = new Keymap(defaults());

  private final EnumMap<Action, List<Key>> keys;

  /** By the keys of a view, made when first asked for: the first picture needs none of it. */
  private final Map<ViewKeys, Map<Key, Action>> actions = new HashMap<>();

  /** A key that would do two things in a view. */
  public record Conflict(View view, Key key, Action first, Action second) {}

  private Keymap(EnumMap<Action, List<Key>> keys) {
    this.keys = keys;
  }

  private static EnumMap<Action, List<Key>> defaults() {
    EnumMap<Action, List<Key>> keys = new EnumMap<>(Action.class);
    for (Action action : Action.values()) {
      List<Key> own = new ArrayList<>();
      for (String name : action.keys().split(" ", -1)) {
        own.add(Key.parse(name));
      }
      keys.put(action, own);
    }
    return keys;
  }

  /** The same with other keys for an action, maybe none. Ctrl-C goes on to quit. */
  public Keymap with(Action action, List<Key> own) {
    EnumMap<Action, List<Key>> changed = new EnumMap<>(keys);
    List<Key> all = new ArrayList<>(own);
    if (action == Action.QUIT && !all.contains(Key.CTRL_C)) {
      all.add(Key.CTRL_C);
    }
    changed.put(action, List.copyOf(all));
    return new Keymap(changed);
  }

  /** What a key does in a view; null for nothing. */
  synchronized Action action(View of, Origin origin, Key key) {
    ViewKeys view = of.keys(origin);
    Map<Key, Action> byKey = actions.get(view);
    if (byKey == null) {
      byKey = new HashMap<>();
      for (Action action : Action.values()) {
        if (has(view, action)) {
          for (Key own : keys(action)) {
            byKey.putIfAbsent(own, action);
          }
        }
      }
      for (Action action : view.refused()) {
        for (Key own : keys(action)) {
          byKey.putIfAbsent(own, action);
        }
      }
      actions.put(view, byKey);
    }
    return byKey.get(key);
  }

  /** The keys of an action; the first is the one to tell of. */
  public List<Key> keys(Action action) {
    return keys.get(action);
  }

  /** Whether a view has an action, of its own or because all have it. */
  static boolean has(ViewKeys view, Action action) {
    return isOwn(view, action)
        || contains(Keys.EVERYWHERE, action) && !contains(view.refused(), action);
  }

  /** Whether a view has an action that not all have. */
  static boolean isOwn(ViewKeys view, Action action) {
    return contains(view.actions(), action);
  }

  static boolean contains(Action[] actions, Action wanted) {
    for (Action action : actions) {
      if (action == wanted) {
        return true;
      }
    }
    return false;
  }

  /** Every key that two actions of the same view have, live or of a file. */
  public List<Conflict> conflicts() {
    Set<Conflict> conflicts = new LinkedHashSet<>();
    for (View view : View.values()) {
      conflicts(view, Origin.LIVE, conflicts);
      if (view.isOf(Origin.FILE)) {
        conflicts(view, Origin.FILE, conflicts);
      }
    }
    return List.copyOf(conflicts);
  }

  private void conflicts(View view, Origin origin, Set<Conflict> found) {
    Map<Key, Action> taken = new HashMap<>();
    for (Action action : Action.values()) {
      if (has(view.keys(origin), action)) {
        for (Key key : keys(action)) {
          Action other = taken.putIfAbsent(key, action);
          if (other != null && other != action) {
            found.add(new Conflict(view, key, other, action));
          }
        }
      }
    }
  }
}

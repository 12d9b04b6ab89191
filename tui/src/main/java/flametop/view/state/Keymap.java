package flametop.view.state;

import flametop.view.base.Action;
import flametop.view.base.Key;
import flametop.view.base.Origin;
import flametop.view.base.View;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Which key does what, in each view. Immutable.
 *
 * <p>A key that the user gave to an action is taken from every other action that has the key by
 * default and shares a view with that action. So no setting of the user fails at a default, neither
 * now nor when a later version has more defaults.
 */
public final class Keymap {
  /** Nothing is remapped. */
  public static final Keymap DEFAULT = new Keymap(new EnumMap<>(Action.class));

  /** The keys that the user set. */
  private final EnumMap<Action, List<Key>> own;

  private final EnumMap<Action, List<Key>> keys = new EnumMap<>(Action.class);

  /** A key with two actions in one view. */
  public record Conflict(View view, Key key, Action first, Action second) {}

  private Keymap(EnumMap<Action, List<Key>> own) {
    this.own = own;
    for (Action action : Action.values()) {
      List<Key> said = own.get(action);
      keys.put(action, said != null ? said : left(action));
    }
  }

  /** The default keys of an action that the user did not give to another. */
  private List<Key> left(Action action) {
    List<Key> left = new ArrayList<>();
    for (String name : action.keys().split(" ", -1)) {
      Key key = Key.parse(name);
      boolean taken = false;
      for (Map.Entry<Action, List<Key>> other : own.entrySet()) {
        taken |= other.getValue().contains(key) && meet(action, other.getKey());
      }
      if (!taken) {
        left.add(key);
      }
    }
    return left;
  }

  /** Whether any view has both actions. */
  private static boolean meet(Action one, Action other) {
    for (View view : View.values()) {
      for (Origin origin : Origin.values()) {
        ViewActions actions = ViewActions.of(view, origin);
        if (view.isOf(origin) && actions.has(one) && actions.has(other)) {
          return true;
        }
      }
    }
    return false;
  }

  /** The same with other keys for an action, maybe none. Ctrl-C always quits. */
  public Keymap with(Action action, List<Key> said) {
    EnumMap<Action, List<Key>> changed = new EnumMap<>(own);
    List<Key> all = new ArrayList<>(said);
    if (action == Action.QUIT && !all.contains(Key.CTRL_C)) {
      all.add(Key.CTRL_C);
    }
    changed.put(action, List.copyOf(all));
    return new Keymap(changed);
  }

  /** The same with the default keys of an action, except taken ones. */
  public Keymap withDefault(Action action) {
    EnumMap<Action, List<Key>> changed = new EnumMap<>(own);
    changed.remove(action);
    return new Keymap(changed);
  }

  /**
   * The action of a key in a view: one that the view has, else one that the view refuses; null for
   * none.
   */
  public @Nullable Action action(View of, Origin origin, Key key) {
    ViewActions view = ViewActions.of(of, origin);
    Action refused = null;
    for (Action action : Action.values()) {
      if (keys(action).contains(key)) {
        if (view.has(action)) {
          return action;
        }
        refused = refused == null && view.refuses(action) ? action : refused;
      }
    }
    return refused;
  }

  /** The keys of an action, maybe none. Help and messages show the first. */
  public List<Key> keys(Action action) {
    return Objects.requireNonNull(keys.get(action));
  }

  /** Every key that the user gave to two actions of the same view, live or of a file. */
  public List<Conflict> conflicts() {
    Set<Conflict> conflicts = new LinkedHashSet<>();
    for (View view : View.values()) {
      for (Origin origin : List.of(Origin.LIVE, Origin.FILE)) {
        if (view.isOf(origin)) {
          conflicts(view, origin, conflicts);
        }
      }
    }
    return List.copyOf(conflicts);
  }

  private void conflicts(View view, Origin origin, Set<Conflict> found) {
    ViewActions actions = ViewActions.of(view, origin);
    Map<Key, Action> taken = new HashMap<>();
    for (Action action : Action.values()) {
      if (actions.has(action)) {
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

package flametop.view;

import java.util.List;

/** The last row: what was answered, the search that is typed, or the keys of this view. */
final class KeyLine {
  private static final int GROUND = Paint.of(Role.GROUND);

  private static final String[][] PICKING = {
    {"↵", "only it"}, {"^X", "without it"}, {"esc", "closes"}, {"a-z", "narrows"}, {"↑↓", "moves"}
  };

  private KeyLine() {}

  static void paint(Scene scene, CellGrid grid) {
    int y = scene.rows - 1;
    grid.fill(0, y, scene.columns, GROUND);
    ViewState state = scene.state;
    if (state.search() != null && state.search().typing()) {
      typing(scene, grid, y);
      return;
    }
    if (!state.message().isEmpty()) {
      Role role = state.trouble() ? Role.WORSE : Role.ACCENT;
      grid.text(1, y, scene.columns - 2, state.answer(), Paint.of(role), GROUND, CellGrid.BOLD);
    }
    if (state.pick() != null) {
      picking(scene, grid);
    } else {
      keys(scene, grid, -1);
    }
  }

  /** The keys of a list, whose first are the first that an answer covers. */
  private static void picking(Scene scene, CellGrid grid) {
    int uncovered = uncovered(scene.state);
    int x = 1;
    for (int i = 0; i < PICKING.length && x > 0; i++) {
      x = entry(scene, x < uncovered ? null : grid, x, PICKING[i][0], PICKING[i][1]);
    }
  }

  /** What a column of the line does; null for nothing. */
  static Action actionAt(Scene scene, int x) {
    return keys(scene, null, x);
  }

  /** Where the keys are in sight: an answer lies over the first of them, the others stay. */
  private static int uncovered(ViewState state) {
    return state.message().isEmpty() ? 0 : 1 + TextWidth.of(state.answer()) + 3;
  }

  /**
   * Paints the keys, unless {@code grid} is null.
   *
   * @return the action at column {@code wanted}
   */
  private static Action keys(Scene scene, CellGrid grid, int wanted) {
    ViewState state = scene.state;
    int x = 1;
    Action found = null;
    int uncovered = uncovered(state);
    Action[] actions = scene.keys(state).keyLine(state);
    for (int i = 0; i < actions.length && x > 0; ) {
      int from = x;
      Action first = null;
      StringBuilder keys = new StringBuilder();
      String label = label(scene, actions[i]);
      do {
        List<Key> own = scene.options.keymap().keys(actions[i]);
        if (!own.isEmpty() && !FileKeys.isVain(scene, actions[i])) {
          int at = from + TextWidth.of(keys.toString());
          keys.append(symbol(own.get(0)));
          first = first == null ? actions[i] : first;
          found =
              at <= wanted && wanted < from + TextWidth.of(keys.toString()) ? actions[i] : found;
        }
        i++;
      } while (i < actions.length
          && actions[i] != Action.NEXT_VIEW
          && label(scene, actions[i]).equals(label));
      if (!keys.isEmpty()) {
        boolean covered = from < uncovered;
        x = entry(scene, covered ? null : grid, x, keys.toString(), label);
        int end = x < 0 || covered ? from : x - 2;
        found = wanted < from || wanted >= end ? null : found == null ? first : found;
        if (found != null) {
          return found;
        }
      }
    }
    return null;
  }

  private static String symbol(Key key) {
    return key.kind() == Key.Kind.ENTER ? "↵" : key.symbol();
  }

  private static String label(Scene scene, Action action) {
    ViewState state = scene.state;
    return switch (action) {
      case FREEZE -> state.frozen() ? "thaw" : action.label();
      case LEFT, RIGHT -> state.time().on() ? "moves" : action.label();
      case KEEP ->
          state.search() == null || !state.view().hasStacks() ? action.label() : "only them";
      case DROP ->
          state.search() == null || !state.view().hasStacks() ? action.label() : "without them";
      case ZOOM -> state.time().on() ? "keeps" : action.label();
      case SPLIT -> state.split() == null ? action.label() : "one file";
      case NEXT_VIEW -> state.view().next(scene.options.origin()).label();
      case SEARCH -> state.search() == null ? action.label() : "edit";
      case BACK -> state.time().on() ? "drops" : state.search() == null ? action.label() : "close";
      default -> action.label();
    };
  }

  /** Where the next entry begins; -1 if this one has no room any more. */
  private static int entry(Scene scene, CellGrid grid, int x, String key, String label) {
    int y = scene.rows - 1;
    int width = TextWidth.of(key) + 1 + TextWidth.of(label);
    if (x + width > scene.columns - 1) {
      return -1;
    }
    if (grid == null) {
      return x + width + 2;
    }
    int at = x + grid.text(x, y, width, key, Paint.of(Role.ACCENT), GROUND, CellGrid.BOLD) + 1;
    return at + grid.text(at, y, width, label, Paint.of(Role.DIM), GROUND, 0) + 2;
  }

  private static void typing(Scene scene, CellGrid grid, int y) {
    Search search = scene.state.search();
    String answer = search.trouble();
    String said = scene.state.answer();
    String hint =
        !answer.isEmpty()
            ? "no regex: " + answer
            : !said.isEmpty()
                ? said
                : scene.columns < 100
                    ? "enter keeps it, esc drops it"
                    : "enter keeps it, esc drops it, tab completes, ↑ older ones";
    int hintX = scene.columns - 1 - TextWidth.of(hint);
    int room = Math.max(10, (answer.isEmpty() && hintX < 20 ? scene.columns : hintX) - 4);
    int x = 1 + grid.text(1, y, 1, "/", Paint.of(Role.ACCENT), GROUND, CellGrid.BOLD);
    x += PromptPainter.paint(grid, x, y, room + 1, search.prompt(), GROUND);
    if (hintX > x) {
      grid.text(
          hintX,
          y,
          scene.columns,
          hint,
          Paint.of(answer.isEmpty() ? Role.DIM : Role.WORSE),
          GROUND,
          0);
    }
  }
}

package flametop.view;

import java.util.List;

/**
 * What keys and mouse do in the rows of a table.
 *
 * @param <R> a row
 * @param <O> what rows are ordered by
 */
abstract class TableKeys<R, O> implements ViewKeys {
  private final Action[] actions;
  private final Action[] keyLine;

  /**
   * @param own actions beside those that move
   * @param keyLine what the line of keys shows
   */
  TableKeys(Action[] own, Action[] keyLine) {
    actions = Rows.moves(own);
    this.keyLine = keyLine;
  }

  @Override
  public final Action[] actions() {
    return actions;
  }

  @Override
  public final Action[] keyLine(ViewState s) {
    return keyLine;
  }

  @Override
  public final Keys.Step act(Scene scene, ViewState s, Action action) {
    int by = Rows.by(action, room(scene));
    return by == 0 ? acted(scene, s, action) : move(scene, s, by);
  }

  /** Does one of its own actions; null for another. */
  abstract Keys.Step acted(Scene scene, ViewState s, Action action);

  /** The rows that are there, in their order. */
  abstract List<R> rows(Scene scene, ViewState s);

  /** How many there are, those included that were not asked for. */
  int count(Scene scene, List<R> rows) {
    return rows.size();
  }

  /** Index of the marked row, of one or more. */
  abstract int marked(ViewState s, List<R> rows);

  /** Where the mark is, or will be when the row that it is to be on has come. */
  int place(ViewState s, List<R> rows) {
    return marked(s, rows);
  }

  /**
   * @param row null if what is there was not asked for yet
   */
  abstract ViewState withMarked(ViewState s, R row, int place);

  /** Rows in sight. */
  abstract int room(Scene scene);

  abstract boolean isHead(Scene scene, int y);

  /** Index of the row at a row of the screen; -1 if there is none. */
  abstract int rowAt(Scene scene, ViewState s, List<R> rows, int y);

  /** Row of the breadcrumb; -1 if there is none. */
  int crumbRow(Scene scene) {
    return -1;
  }

  /** The order after the one that there is, of those that mean something. */
  abstract O nextOrder(Scene scene, ViewState s);

  /** The order that the head at a column of the screen stands for; null for none. */
  abstract O orderAt(Scene scene, int x);

  abstract String label(O order);

  abstract ViewState ordered(ViewState s, O order);

  /** What a second click on the marked row does. */
  abstract Keys.Step enter(Scene scene, ViewState s);

  /** The next order. */
  final Keys.Step sorted(Scene scene, ViewState s) {
    return sorted(s, nextOrder(scene, s));
  }

  private Keys.Step sorted(ViewState s, O order) {
    return Keys.Step.to(ordered(s, order).withMessage("first by " + label(order), false));
  }

  private Keys.Step sortAt(Scene scene, ViewState s, int x) {
    O order = orderAt(scene, x);
    return order == null
        ? Keys.Step.to(s.withMessage("no order of that column", false))
        : sorted(s, order);
  }

  private Keys.Step move(Scene scene, ViewState s, int by) {
    List<R> rows = rows(scene, s);
    if (rows.isEmpty()) {
      return Keys.Step.to(s.withMessage("nothing to move in yet", false));
    }
    int last = count(scene, rows) - 1;
    int at = Math.min(last, place(s, rows));
    int to = Rows.moved(at, by, last);
    if (to == at) {
      return Rows.end(s, by);
    }
    return Keys.Step.to(withMarked(s, to < rows.size() ? rows.get(to) : null, to));
  }

  /** A click marks a row, a second enters it; one on a head sorts by it. */
  @Override
  public final Keys.Step mouse(Scene scene, ViewState s, Mouse mouse) {
    if (mouse.wheel() != 0) {
      return move(scene, s, mouse.wheel());
    }
    if (!mouse.isPress()) {
      return null;
    }
    if (mouse.y() == crumbRow(scene)) {
      return ShapeKeys.crumbAt(scene, s, mouse.x());
    }
    if (isHead(scene, mouse.y())) {
      return sortAt(scene, s, mouse.x());
    }
    List<R> rows = rows(scene, s);
    int row = rows.isEmpty() ? -1 : rowAt(scene, s, rows, mouse.y());
    if (row < 0) {
      return null;
    }
    ViewState marked = withMarked(s, rows.get(row), row);
    return mouse.kind() == Mouse.Kind.DOUBLE ? enter(scene, marked) : Keys.Step.to(marked);
  }
}

package flametop.view.table;

import flametop.profile.answer.Measure;
import flametop.profile.answer.Page;
import flametop.view.base.Action;
import flametop.view.base.CellGrid;
import flametop.view.base.Mouse;
import flametop.view.base.Paint;
import flametop.view.base.Units;
import flametop.view.base.View;
import flametop.view.base.Zone;
import flametop.view.keys.ShapeKeys;
import flametop.view.keys.ViewKeys;
import flametop.view.layout.Heading;
import flametop.view.layout.Scene;
import flametop.view.paint.KeyLinePainter;
import flametop.view.paint.LinePainter;
import flametop.view.paint.ViewPainter;
import flametop.view.state.Effect;
import flametop.view.state.Rows;
import flametop.view.state.Step;
import flametop.view.state.TablePlace;
import flametop.view.state.ViewState;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A view that is a table: a list of columns, rows, and verbs. Widths, heads, the mark, sorting,
 * scrolling and the mouse are the same for all tables, and stand here.
 *
 * <p>Columns stand from the left with a cell between two. Their places depend on the width of the
 * screen alone, so that nothing jumps.
 *
 * @param <R> a row
 * @param <K> identifies a row from one report to the next
 * @param <O> an order of rows
 */
public abstract class Table<R, K, O> implements ViewKeys, ViewPainter {
  private final View view;
  private final String thing;
  private final O first;
  private final List<Column<R, O>> columns = new ArrayList<>();

  /**
   * @param thing the kind of a row, in one word
   * @param first the order that the table begins with
   */
  Table(View view, String thing, O first) {
    this.view = view;
    this.thing = thing;
    this.first = first;
  }

  /** Adds columns at the right. */
  @SafeVarargs
  final void add(Column<R, O>... more) {
    for (Column<R, O> column : more) {
      columns.add(column);
    }
  }

  /** The place in the table. */
  public final TablePlace<K, O> place(ViewState s) {
    return s.table(view);
  }

  /** A state with another place in the table. */
  public final ViewState with(ViewState s, TablePlace<K, O> place) {
    return s.withTable(view, place);
  }

  // What a table says of itself.

  /** The rows in their order; null until they have come. */
  abstract @Nullable List<R> rows(Scene scene);

  abstract K key(R row);

  /** The kind of its rows, and how many there are. */
  abstract String title(Scene scene);

  /** How rows are ordered, beside the title. */
  String subtitle(Scene scene) {
    return firstBy(scene, order(scene, scene.state));
  }

  /** The lines above the heads. */
  Heading heading(Scene scene) {
    return Heading.of(scene, missing(scene));
  }

  /** Reasons for figures that are missing. */
  List<String> missing(Scene scene) {
    return List.of();
  }

  /** Rows of the screen between the heads and the first row. */
  int rowsBelowHeads() {
    return 0;
  }

  /** Rows of the screen between the last row and the line of keys. */
  int rowsBelow(Scene scene) {
    return 0;
  }

  /** Whether there is room for all columns, and long titles. */
  boolean isWide(Scene scene) {
    return true;
  }

  /** How many rows there are, also those that nobody asked for. */
  int count(Scene scene, List<R> rows) {
    return rows.size();
  }

  /** Whether a row is written faintly. */
  boolean isFaint(R row) {
    return false;
  }

  /** Whether a row is written in bold: a sum. */
  boolean isStrong(R row) {
    return false;
  }

  /** The sentence that stands for rows until they come. */
  String waiting() {
    return "counting…";
  }

  /** The sentence that stands for rows where none are. */
  String nothing(Scene scene) {
    return "";
  }

  /** The order in force. */
  O order(Scene scene, ViewState s) {
    return place(s).orderOr(first);
  }

  /** The order after the one in force, of those that mean something. */
  O nextOrder(Scene scene, ViewState s) {
    List<O> orders = new ArrayList<>();
    for (Column<R, O> column : columns) {
      if (column.label() != null && column.order() != null) {
        orders.add(column.order());
      }
    }
    return orders.get((orders.indexOf(order(scene, s)) + 1) % orders.size());
  }

  /** Does the action of a second click on the marked row. */
  abstract Step enter(Scene scene, ViewState s);

  /** Does an action that only this table has; null for another. */
  @Nullable Step acted(Scene scene, ViewState s, Action action) {
    return null;
  }

  /** The text that is copied of a row. */
  String copied(R row) {
    return "";
  }

  /** The kind of a row, in one word. */
  String thing(ViewState s) {
    return thing;
  }

  /** Paints what stands above and below the table. */
  void around(Scene scene, CellGrid grid, TableLayout<R, O> layout) {}

  /** Paints what stands in the line of the title from a column on. */
  void legend(Scene scene, CellGrid grid, int y, int x) {}

  // How its columns are made.

  final Column<R, O> right(String title, Column.Width width, Column.Cell<R> cell) {
    return right(scene -> title, width, cell);
  }

  final Column<R, O> right(Function<Scene, String> title, Column.Width width, Column.Cell<R> cell) {
    return new Column<>(title, true, width, cell, null, null, null, List.of());
  }

  final Column<R, O> left(String title, Column.Width width, Column.Cell<R> cell) {
    return left(scene -> title, width, cell);
  }

  final Column<R, O> left(Function<Scene, String> title, Column.Width width, Column.Cell<R> cell) {
    return new Column<>(title, false, width, cell, null, null, null, List.of());
  }

  /** So many cells on every screen. */
  static Column.Width cells(int cells) {
    return from(0, cells);
  }

  /** So many cells on screens of so many columns or more; left out on others. */
  static Column.Width from(int columns, int cells) {
    return new Column.OneOfTwo(room -> room.columns() >= columns, cells, 0);
  }

  /** Cells where there is room for all columns, and cells elsewhere. */
  final Column.Width either(int wide, int narrow) {
    return new Column.OneOfTwo(room -> isWide(room.scene()), wide, narrow);
  }

  /** Cells of all columns with a width of their own, each with the cell behind it. */
  final int most() {
    int sum = 0;
    for (Column<R, O> column : columns) {
      int most = column.width().most();
      sum += most > 0 ? most + 1 : 0;
    }
    return sum;
  }

  /** A number of events each second: few with a tenth. */
  static String perSecond(double number) {
    return Double.isNaN(number)
        ? "n/a"
        : number > 0 && number < 10
            ? Units.oneDecimal(number)
            : Measure.grouped(Math.round(number));
  }

  /** The page that the rows of the table stand in. */
  static <P extends Page> P page(Scene scene, Class<P> sort) {
    return sort.cast(Objects.requireNonNull(scene.page));
  }

  // Where things stand.

  /** Where heads and rows stand. */
  public final TableLayout<R, O> layout(Scene scene) {
    Heading heading = heading(scene);
    List<R> rows = rows(scene);
    List<R> there = rows == null ? List.of() : rows;
    int top = heading.end + 1 + rowsBelowHeads();
    int room = Math.max(1, scene.rows - 1 - rowsBelow(scene) - top);
    int marked = marked(scene, there);
    int first = first(scene, marked, there.size(), room);
    return new TableLayout<>(heading, heads(scene, heading.end), there, top, room, first, marked);
  }

  /** Index of the marked row; -1 in a table that marks none. */
  int marked(Scene scene, List<R> rows) {
    return place(scene.state).index(rows, this::key);
  }

  /** Index of the first row in sight. */
  int first(Scene scene, int marked, int count, int room) {
    return Rows.first(marked, count, room);
  }

  /** The columns that have room. From the first on that would reach beyond the edge, none has. */
  private List<Zone<Column<R, O>>> heads(Scene scene, int y) {
    List<Zone<Column<R, O>>> heads = new ArrayList<>();
    int x = 1;
    int before = 0;
    for (Column<R, O> column : columns) {
      int width = column.width().in(new Column.Room(scene, scene.columns - 1 - x, before));
      if (width > 0) {
        if (x + width > scene.columns) {
          break;
        }
        heads.add(Zone.line(x, y, width, column));
        before = width;
        x += width + 1;
      }
    }
    return heads;
  }

  // How it is painted.

  @Override
  public final void paint(Scene scene, CellGrid grid) {
    TableLayout<R, O> layout = layout(scene);
    grid.fill(0, 1, scene.columns, scene.rows - 1, Paint.GROUND);
    around(scene, grid, layout);
    int x = LinePainter.heading(layout.heading(), scene, grid, title(scene), subtitle(scene));
    if (x > 0) {
      legend(scene, grid, layout.heading().title, x);
    }
    if (layout.rows().isEmpty()) {
      empty(scene, grid, layout);
    } else {
      paintHeads(scene, grid, layout);
      for (Zone<Integer> zone : layout.zones(scene.columns)) {
        paintRow(scene, grid, layout, zone.what(), zone.y());
      }
    }
    KeyLinePainter.paint(scene, grid);
  }

  /** Paints what stands for rows where there are none. */
  void empty(Scene scene, CellGrid grid, TableLayout<R, O> layout) {
    boolean waits = rows(scene) == null;
    int y = waits ? layout.head() : layout.top();
    String text = waits ? waiting() : nothing(scene);
    if (!waits) {
      paintHeads(scene, grid, layout);
    }
    grid.text(1, y, scene.columns - 2, text, Paint.DIM, Paint.GROUND, 0);
  }

  /** Paints the titles; the title of the column by which rows are ordered stands out. */
  void paintHeads(Scene scene, CellGrid grid, TableLayout<R, O> layout) {
    O by = order(scene, scene.state);
    for (Zone<Column<R, O>> head : layout.heads()) {
      boolean sorts = head.what().sorts(by);
      Spot.Line line = new Spot.Line(scene, grid, head.y(), false, false, false, 0);
      new Spot(line, head.x(), head.width(), head.what().right())
          .text(
              head.what().title().apply(scene),
              sorts ? Paint.ACCENT : Paint.DIM,
              sorts ? CellGrid.BOLD : 0);
    }
  }

  void paintRow(Scene scene, CellGrid grid, TableLayout<R, O> layout, int index, int y) {
    boolean marked = index == layout.marked();
    paintRow(scene, grid, layout, layout.rows().get(index), y, marked, index == layout.first());
  }

  final void paintRow(
      Scene scene,
      CellGrid grid,
      TableLayout<R, O> layout,
      R row,
      int y,
      boolean marked,
      boolean first) {
    int attribute = isStrong(row) ? CellGrid.BOLD : 0;
    Spot.Line line = new Spot.Line(scene, grid, y, marked, first, isFaint(row), attribute);
    grid.fill(0, y, scene.columns, line.background());
    for (Zone<Column<R, O>> head : layout.heads()) {
      Column<R, O> column = head.what();
      column.cell().write(row, new Spot(line, head.x(), head.width(), column.right()));
    }
  }

  @Override
  public final List<String[]> legend(Scene scene) {
    List<String[]> lines = new ArrayList<>();
    lines.add(new String[] {"columns"});
    for (Column<R, O> column : columns) {
      for (Column.Meaning of : column.meanings()) {
        if (of.needs().test(scene)) {
          lines.add(new String[] {of.word(), of.meaning()});
        }
      }
    }
    return lines;
  }

  // What keys and mouse do.

  @Override
  public final @Nullable Step act(Scene scene, ViewState s, Action action) {
    int by = Rows.by(action, layout(scene).room());
    if (by != 0) {
      return move(scene, s, by);
    }
    Step own = acted(scene, s, action);
    if (own != null) {
      return own;
    }
    return switch (action) {
      case BACK -> Step.to(s.withView(View.GRAPH));
      case OPEN, PICK -> enter(scene, s);
      case SORT -> sorted(scene, s, nextOrder(scene, s));
      case COPY -> {
        R row = row(scene, s);
        yield row == null ? none(s) : Step.to(s, new Effect.Copy(copied(row)));
      }
      default -> null;
    };
  }

  /** The marked row; null if there is none. */
  final @Nullable R row(Scene scene, ViewState s) {
    List<R> rows = rows(scene);
    return rows == null || rows.isEmpty() ? null : rows.get(place(s).index(rows, this::key));
  }

  /** The answer where no row is marked. */
  final Step none(ViewState s) {
    return Step.answer(s, "no " + thing(s) + " is marked yet");
  }

  private Step sorted(Scene scene, ViewState s, O order) {
    return Step.answer(with(s, place(s).by(order)), firstBy(scene, order));
  }

  /** An order in words. */
  String firstBy(Scene scene, O order) {
    return "first by " + label(order);
  }

  /** The name of an order. */
  final String label(O order) {
    for (Column<R, O> column : columns) {
      if (column.label() != null && order.equals(column.order())) {
        return column.label();
      }
    }
    throw new IllegalArgumentException("no column has the order " + order);
  }

  Step move(Scene scene, ViewState s, int by) {
    List<R> rows = rows(scene);
    if (rows == null || rows.isEmpty()) {
      return Step.answer(s, "nothing to move in yet");
    }
    TablePlace<K, O> place = place(s);
    int last = count(scene, rows) - 1;
    int at = place.marked() == null ? place.place() : place.index(rows, this::key);
    at = Math.min(last, at);
    int to = Rows.moved(at, by, last);
    if (to == at) {
      return Rows.end(s, by);
    }
    return Step.to(with(s, place.withMarked(to < rows.size() ? key(rows.get(to)) : null, to)));
  }

  /** A click marks a row, a second enters it; one on a head sorts by it. */
  @Override
  public final @Nullable Step mouse(Scene scene, ViewState s, Mouse mouse) {
    if (mouse.wheel() != 0) {
      return move(scene, s, mouse.wheel());
    }
    if (!mouse.isPress()) {
      return null;
    }
    TableLayout<R, O> layout = layout(scene);
    return mouse.y() == layout.heading().crumb
        ? ShapeKeys.crumbAt(scene, s, mouse.x(), mouse.y())
        : pressed(scene, s, mouse, layout);
  }

  @Nullable Step pressed(Scene scene, ViewState s, Mouse mouse, TableLayout<R, O> layout) {
    if (mouse.y() == layout.head()) {
      Column<R, O> column = layout.headAt(mouse.x());
      O order = column == null ? null : column.order();
      return order == null ? Step.answer(s, "this column has no order") : sorted(scene, s, order);
    }
    Integer row = Zone.at(layout.zones(scene.columns), mouse.x(), mouse.y());
    if (row == null) {
      return null;
    }
    ViewState marked = with(s, place(s).withMarked(key(layout.rows().get(row)), row));
    return mouse.kind() == Mouse.Kind.DOUBLE ? enter(scene, marked) : Step.to(marked);
  }
}

package flametop.view.table;

import flametop.profile.answer.Capability;
import flametop.profile.answer.PageQuery;
import flametop.profile.answer.StateSet;
import flametop.view.base.Action;
import flametop.view.base.CellGrid;
import flametop.view.base.Paint;
import flametop.view.base.TextWidth;
import flametop.view.base.Units;
import flametop.view.base.View;
import flametop.view.keys.CommonKeys;
import flametop.view.keys.SearchKeys;
import flametop.view.layout.Heading;
import flametop.view.layout.Scene;
import flametop.view.paint.CpuPanelPainter;
import flametop.view.paint.GraphPainter;
import flametop.view.paint.Legend;
import flametop.view.paint.Words;
import flametop.view.state.Step;
import flametop.view.state.ViewState;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A table of many rows, which a search narrows. The CPUs stand above it, the marked row in full
 * below it.
 */
abstract class FilteredTable<R, K, O extends Enum<O> & PageQuery.RowOrder<O>>
    extends Table<R, K, O> {
  /** From so many rows on the CPUs are above the table. */
  private static final int CPU_ROWS = 20;

  /** The orders that a key goes through. */
  private final List<O> orders;

  FilteredTable(View view, String thing, O[] orders) {
    super(view, thing, orders[0]);
    this.orders = List.of(orders);
  }

  /** Whether an order means something here. */
  boolean means(Scene scene, O order) {
    return order == order.in(scene.compares(), scene.hasStates());
  }

  @Override
  final O order(Scene scene, ViewState s) {
    return super.order(scene, s).in(scene.compares(), scene.hasStates());
  }

  @Override
  final O nextOrder(Scene scene, ViewState s) {
    int at = orders.indexOf(order(scene, s));
    do {
      at = (at + 1) % orders.size();
    } while (!means(scene, orders.get(at)));
    return orders.get(at);
  }

  /** States whose colours are in the table; null for none. */
  abstract @Nullable StateSet states(Scene scene);

  /** The name that a search is completed to. */
  abstract String name(R row);

  /** Writes the marked row in full. */
  abstract void detail(Scene scene, Detail detail, R row);

  /** Shows only the row's thing, or all but that. */
  abstract Step narrowed(Scene scene, ViewState s, R row, boolean out);

  /** The lines below the table. */
  record Detail(Scene scene, CellGrid grid, int top, int rows) {
    /** Writes a line: what comes first stands out. */
    void line(int line, String first, List<String> more) {
      if (line >= rows) {
        return;
      }
      int y = top + line;
      int fg = line == 0 ? Paint.ACCENT : Paint.TEXT;
      int style = line == 0 ? CellGrid.BOLD : 0;
      Words words = new Words(grid, 1, y, scene.columns - 1, Paint.CHROME).write(first, fg, style);
      for (String text : more) {
        words.skip(words.x() > 1 ? 2 : 0).write(text, Paint.TEXT);
      }
    }
  }

  /** The same column, with the meaning of what a comparison adds to a table. */
  final Column<R, O> ofChanges(Column<R, O> column) {
    return column
        .meaning(Scene::compares, "was", "in what it is compared with")
        .meaning(Scene::compares, "change", "coloured if beyond the noise")
        .meaning(Scene::compares, "underlined", "gone");
  }

  /** The width of a column that only a comparison has. */
  static Column.Width compared(int columns, int cells) {
    return room -> room.scene().compares() && room.columns() >= columns ? cells : 0;
  }

  /** How many rows there are, and of how many where a search narrows them. */
  static String count(int matching, int all, String what) {
    String of = Units.right(Units.count(all), 3) + " " + what;
    return matching == all ? of : Units.count(matching) + " of " + of.strip();
  }

  private static boolean hasCpus(Scene scene) {
    return scene.rows >= CPU_ROWS && scene.options.origin().has(Capability.CPUS);
  }

  @Override
  final Heading heading(Scene scene) {
    return Heading.of(scene, scene.cpuTop + (hasCpus(scene) ? scene.cpuLayout.rows() : 0));
  }

  @Override
  final int rowsBelow(Scene scene) {
    return scene.rows < 24 ? 1 : 2;
  }

  @Override
  final void around(Scene scene, CellGrid grid, TableLayout<R, O> layout) {
    int rows = rowsBelow(scene);
    Detail detail = new Detail(scene, grid, scene.rows - 1 - rows, rows);
    grid.fill(0, detail.top, scene.columns, rows, Paint.CHROME);
    if (hasCpus(scene)) {
      CpuPanelPainter.paint(scene, grid);
    }
    if (!layout.rows().isEmpty()) {
      detail(scene, detail, layout.rows().get(layout.marked()));
    }
  }

  @Override
  final void legend(Scene scene, CellGrid grid, int y, int x) {
    StateSet states = states(scene);
    if (states != null) {
      Legend.states(scene, grid, y, x, states);
    }
  }

  @Override
  final void empty(Scene scene, CellGrid grid, TableLayout<R, O> layout) {
    paintHeads(scene, grid, layout);
    String text =
        scene.snapshot.isOpening()
            ? GraphPainter.opening(scene)
            : rows(scene) == null ? waiting() : nothing(scene);
    int x = Math.max(1, (scene.columns - TextWidth.of(text)) / 2);
    int y = layout.top() + layout.room() / 2;
    grid.text(x, y, scene.columns - x - 1, text, Paint.TEXT, Paint.GROUND, 0);
  }

  @Override
  @Nullable Step acted(Scene scene, ViewState s, Action action) {
    return switch (action) {
      case BACK ->
          s.search() == null
              ? Step.to(s.withView(View.GRAPH))
              : Step.answer(s.withSearch(null), "all " + thing(s) + "s");
      case SEARCH -> SearchKeys.begun(s);
      case KEEP, DROP -> {
        R row = row(scene, s);
        yield row == null ? none(s) : narrowed(scene, s, row, action == Action.DROP);
      }
      case COMPARE, COMPARE_END -> CommonKeys.compare(scene, s, action);
      default -> null;
    };
  }

  @Override
  public final List<String> namesInSight(Scene scene) {
    List<String> names = new ArrayList<>();
    TableLayout<R, O> layout = layout(scene);
    for (R row : layout.rows().subList(layout.first(), layout.end())) {
      if (!names.contains(name(row))) {
        names.add(name(row));
      }
    }
    return names;
  }

  @Override
  public final Step searched(Scene scene, ViewState kept) {
    return Step.to(kept);
  }
}

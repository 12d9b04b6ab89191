package flametop.view.screen;

import flametop.view.base.View;
import flametop.view.keys.GraphKeys;
import flametop.view.keys.SandwichKeys;
import flametop.view.keys.ViewKeys;
import flametop.view.layout.Scene;
import flametop.view.paint.GraphViewPainter;
import flametop.view.paint.SandwichPainter;
import flametop.view.paint.ViewPainter;
import flametop.view.table.CpusTable;
import flametop.view.table.EventsTable;
import flametop.view.table.IdleTable;
import flametop.view.table.QualityTable;
import flametop.view.table.Table;
import flametop.view.table.TasksTable;
import flametop.view.table.TopTable;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** The keys and the painter of each view. */
final class Views {
  private record Parts(ViewKeys keys, ViewPainter painter) {}

  private static final Map<View, Parts> PARTS = new EnumMap<>(View.class);

  static {
    GraphKeys graph = new GraphKeys();
    add(View.GRAPH, graph, new GraphViewPainter());
    add(View.CALLERS, graph, new GraphViewPainter());
    add(View.SANDWICH, new SandwichKeys(), new SandwichPainter());
    add(View.TOP, new TopTable());
    add(View.TASKS, new TasksTable());
    add(View.CPUS, CpusTable.TABLE);
    add(View.IDLE, new IdleTable());
    add(View.QUALITY, QualityTable.TABLE);
    add(View.EVENTS, EventsTable.TABLE);
  }

  private Views() {}

  private static void add(View view, Table<?, ?, ?> table) {
    add(view, table, table);
  }

  private static void add(View view, ViewKeys keys, ViewPainter painter) {
    PARTS.put(view, new Parts(keys, painter));
  }

  /** Each view was added above. */
  private static Parts of(View view) {
    return Objects.requireNonNull(PARTS.get(view), view.label());
  }

  static ViewKeys keys(View view) {
    return of(view).keys;
  }

  static ViewPainter painter(View view) {
    return of(view).painter;
  }

  /** The lines that the help of the current view explains beside the keys. */
  static List<String[]> legend(Scene scene) {
    return painter(scene.state.view()).legend(scene);
  }
}

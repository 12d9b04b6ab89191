package flametop.view.screen;

import flametop.view.base.Origin;
import flametop.view.base.View;
import flametop.view.keys.CpusKeys;
import flametop.view.keys.FileKeys;
import flametop.view.keys.GraphKeys;
import flametop.view.keys.IdleKeys;
import flametop.view.keys.QualityKeys;
import flametop.view.keys.SandwichKeys;
import flametop.view.keys.TasksKeys;
import flametop.view.keys.TopKeys;
import flametop.view.keys.ViewKeys;
import flametop.view.paint.CpusPainter;
import flametop.view.paint.GraphViewPainter;
import flametop.view.paint.IdlePainter;
import flametop.view.paint.QualityPainter;
import flametop.view.paint.SandwichPainter;
import flametop.view.paint.TasksPainter;
import flametop.view.paint.TopPainter;
import flametop.view.paint.ViewPainter;
import java.util.EnumMap;
import java.util.Map;

/** The keys and the painter of each view. */
final class Views {
  private static final Map<View, ViewKeys> LIVE = new EnumMap<>(View.class);
  private static final Map<View, ViewKeys> OF_FILES = new EnumMap<>(View.class);
  private static final Map<View, ViewPainter> PAINTERS = new EnumMap<>(View.class);

  static {
    GraphKeys graph = new GraphKeys();
    add(View.GRAPH, graph, new GraphViewPainter());
    add(View.CALLERS, graph, new GraphViewPainter());
    add(View.SANDWICH, new SandwichKeys(), new SandwichPainter());
    add(View.TOP, new TopKeys(), new TopPainter());
    add(View.TASKS, new TasksKeys(), new TasksPainter());
    add(View.CPUS, new CpusKeys(), new CpusPainter());
    add(View.IDLE, new IdleKeys(), new IdlePainter());
    add(View.QUALITY, new QualityKeys(), new QualityPainter());
  }

  private Views() {}

  private static void add(View view, ViewKeys keys, ViewPainter painter) {
    LIVE.put(view, keys);
    OF_FILES.put(view, new FileKeys(keys));
    PAINTERS.put(view, painter);
  }

  /** What the keys do in a view whose stacks come from there. */
  static ViewKeys keys(View view, Origin origin) {
    return (origin == Origin.FILE ? OF_FILES : LIVE).get(view);
  }

  static ViewPainter painter(View view) {
    return PAINTERS.get(view);
  }
}

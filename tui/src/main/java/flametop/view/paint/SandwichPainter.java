package flametop.view.paint;

import flametop.profile.answer.Capability;
import flametop.profile.answer.Function;
import flametop.profile.answer.Sandwich;
import flametop.sampler.State;
import flametop.view.base.CellGrid;
import flametop.view.base.Paint;
import flametop.view.base.Role;
import flametop.view.base.ShortName;
import flametop.view.base.StateNames;
import flametop.view.base.TextWidth;
import flametop.view.base.Units;
import flametop.view.layout.Geometry;
import flametop.view.layout.SandwichLayout;
import flametop.view.layout.Scene;
import flametop.view.layout.WindowWords;
import flametop.view.state.SandwichPlace;
import java.util.List;

/** Paints a sandwich: callers above the function, callees below. */
public final class SandwichPainter implements ViewPainter {
  /** How many forms the middle has, from all words to the share alone. */
  private static final int FORMS = 4;

  private static final List<String[]> LEGEND =
      List.of(
          new String[] {"sandwich"},
          new String[] {"above", "who calls the function"},
          new String[] {"below", "what it calls"},
          new String[] {"self", "in itself"},
          new String[] {"total", "also in what it calls"});

  @Override
  public List<String[]> legend(Scene scene) {
    return LEGEND;
  }

  @Override
  public void paint(Scene scene, CellGrid grid) {
    GraphViewPainter.around(scene, grid);
    halves(scene, scene.window(grid));
    Scene other = scene.other;
    if (other != null) {
      halves(other, other.window(grid));
      SplitPainter.paint(scene, other, grid);
    }
  }

  private static void halves(Scene scene, CellGrid grid) {
    int y = scene.graphTop + scene.graphRows / 2;
    SandwichLayout layout = scene.sandwich;
    if (layout == null || layout.empty()) {
      GraphPainter.sentence(grid, y, nothing(scene));
      return;
    }
    boolean below = scene.state.sandwich().below();
    GraphPainter.paint(scene, layout.callers(), !below && scene.hasSelected, grid);
    GraphPainter.paint(scene, layout.callees(), below && scene.hasSelected, grid);
    middle(scene, grid, layout);
    if (!layout.page().refolding()) {
      if (layout.callers().levels() == 0) {
        aside(
            grid,
            layout.middle() - 1,
            scene.isOfFile()
                ? "nothing but an outermost frame calls it"
                : "nothing calls it: it is where stacks begin");
      }
      if (layout.callees().levels() == 0) {
        aside(grid, layout.middle() + 1, "it calls nothing");
      }
    }
  }

  private static void aside(CellGrid grid, int y, String text) {
    int fg = Paint.DIM;
    grid.text(1, y, grid.columns() - 2, text, fg, Paint.GROUND, 0);
  }

  private static String nothing(Scene scene) {
    if (scene.snapshot.isOpening()) {
      return GraphPainter.opening(scene);
    }
    boolean file = scene.options.origin().has(Capability.FILES);
    SandwichPlace place = scene.state.sandwich();
    Function function = place.function();
    if (function == null) {
      return "select a function in the graph, press s";
    }
    String name = ShortName.form(function.name(), Math.max(12, scene.graphColumns / 3));
    if (scene.sandwich == null || scene.sandwich.page().refolding()) {
      return "looking for " + name + (file ? "…" : " in the past…");
    }
    if (file) {
      return name + " is not in what is shown";
    }
    String when = " " + WindowWords.within(scene, scene.state);
    String states = StateNames.of(scene.state.states());
    return name + (states.equals("all") ? " was not seen" : " was not seen " + states) + when;
  }

  /** Paints the function and its cost. */
  private static void middle(Scene scene, CellGrid grid, SandwichLayout layout) {
    Geometry g = layout.callees().geometry;
    Function function = layout.page().function();
    int row = layout.middle();
    int box = g.levelStart(SandwichLayout.BASE - 1);
    int bg = GraphPainter.background(scene, g, box);
    int fg = Paint.INK;
    grid.fill(0, row, grid.columns(), bg);
    int end = grid.columns() - 1;
    String numbers = "";
    for (int form = 0; form < FORMS; form++) {
      numbers = numbers(scene, layout.page(), form);
      if (TextWidth.of(function.name()) + TextWidth.of(numbers) + 5 <= end) {
        break;
      }
    }
    int width = TextWidth.of(numbers);
    int room = Math.max(8, end - width - 4);
    String name = ShortName.form(function.name(), room);
    boolean selected = scene.plot.atBase() && scene.hasSelected;
    int ground = selected ? Paint.of(Role.SELECT) : bg;
    if (selected) {
      grid.fill(0, row, Math.min(room, TextWidth.of(name)) + 2, ground);
    }
    int x = 1 + grid.text(1, row, room, name, fg, ground, CellGrid.BOLD);
    int left = end - width - x - 4;
    if (!function.module().isEmpty() && left >= TextWidth.of(function.module())) {
      grid.text(x + 2, row, left, function.module(), fg, bg, 0);
    }
    grid.text(end - width, row, width, numbers, fg, bg, 0);
  }

  private static String numbers(Scene scene, Sandwich page, int form) {
    long all = scene.snapshot.total();
    String total = Units.share(page.total(), all);
    if (form == FORMS - 1) {
      return total;
    }
    String self = Units.share(page.self(), all);
    String of = form < 1 ? " of all" : "";
    if (form > 1) {
      return "self " + self + "  total " + total;
    }
    long run = page.totalByState()[State.RUN.ordinal()];
    String worth =
        scene.hasStates()
            ? Units.cpus(run, scene.snapshot.live().time().nanos())
            : scene.snapshot.measure().text(page.total());
    return "self " + self + "  total " + total + of + "  " + worth;
  }
}

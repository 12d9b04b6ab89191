package flametop.view.keys;

import flametop.profile.answer.CpuReport;
import flametop.profile.answer.CpuRow;
import flametop.profile.answer.Shape;
import flametop.view.base.Action;
import flametop.view.base.View;
import flametop.view.layout.CpusLayout;
import flametop.view.layout.Scene;
import flametop.view.layout.TableLayout;
import flametop.view.state.CpusTable;
import flametop.view.state.Step;
import flametop.view.state.ViewState;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** What the keys do in the view of the CPUs. */
public final class CpusKeys extends TableKeys<CpuRow, CpusLayout.Column, CpusTable.Sort> {
  private static final String ALL_CPUS = "no CPU marked: sum and graph are of all";

  @Override
  Step acted(Scene scene, ViewState s, Action action) {
    return switch (action) {
      case MARK -> enter(scene, s);
      case BACK ->
          marked(scene, s).isEmpty()
              ? Step.to(s.withView(View.GRAPH))
              : Step.to(marking(s, Set.of()).withMessage(ALL_CPUS, false));
      case SORT -> sorted(scene, s);
      default -> null;
    };
  }

  /** Marks the selected, or takes its mark away. */
  @Override
  Step enter(Scene scene, ViewState s) {
    List<CpuRow> rows = rows(scene, s);
    if (rows.isEmpty()) {
      return Step.to(s.withMessage("nothing to mark yet", false));
    }
    int cpu = rows.get(s.cpus().index(rows)).cpu();
    Set<Integer> marked = marked(scene, s);
    if (!marked.remove(cpu)) {
      marked.add(cpu);
    }
    int n = marked.size();
    String text =
        n == 0
            ? ALL_CPUS
            : n + (n == 1 ? " CPU" : " CPUs") + " marked: sum and graph are of what ran there";
    return Step.to(
        marking(s.withCpus(s.cpus().withSelected(cpu)), marked).withMessage(text, false));
  }

  /** Numbers of the marked CPUs. */
  private Set<Integer> marked(Scene scene, ViewState s) {
    Set<Integer> marked = new TreeSet<>();
    for (CpuRow row : rows(scene, s)) {
      if (CpusTable.isMarked(s.chosenShape(), row.cpu())) {
        marked.add(row.cpu());
      }
    }
    return marked;
  }

  /** The graph is of what ran on these CPUs; of everything if there are none. */
  private static ViewState marking(ViewState s, Set<Integer> cpus) {
    return s.withShape(
        cpus.isEmpty()
            ? s.chosenShape().without(Shape.Cpus.class)
            : s.chosenShape().with(new Shape.Cpus(Set.copyOf(cpus), false)));
  }

  @Override
  CpusTable.Sort nextOrder(Scene scene, ViewState s) {
    return s.cpus().sort().next();
  }

  @Override
  TableLayout<CpusLayout.Column> layout(Scene scene) {
    return CpusLayout.of(scene);
  }

  @Override
  CpusTable.Sort order(CpusLayout.Column column) {
    return column.sort;
  }

  @Override
  String label(CpusTable.Sort order) {
    return order.label();
  }

  @Override
  ViewState ordered(ViewState s, CpusTable.Sort order) {
    return s.withCpus(s.cpus().by(order));
  }

  @Override
  List<CpuRow> rows(Scene scene, ViewState s) {
    return scene.page instanceof CpuReport report ? s.cpus().rows(report) : List.of();
  }

  @Override
  int marked(ViewState s, List<CpuRow> rows) {
    return s.cpus().index(rows);
  }

  @Override
  ViewState withMarked(ViewState s, CpuRow row, int place) {
    return s.withCpus(s.cpus().withSelected(row.cpu()));
  }
}

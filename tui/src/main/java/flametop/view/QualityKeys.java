package flametop.view;

import flametop.profile.PageQuery;
import flametop.profile.QualityReport;
import flametop.profile.Shape;
import java.util.List;
import java.util.Set;

/** What the keys do in the view of the quality. */
final class QualityKeys implements ViewKeys {
  private static final Action[] ACTIONS = {
    Action.DOWN,
    Action.UP,
    Action.PAGE_UP,
    Action.PAGE_DOWN,
    Action.FIRST,
    Action.LAST,
    Action.PICK,
    Action.BACK,
    Action.SORT,
    Action.BY_MODULE,
    Action.COPY,
  };

  private static final Action[] KEY_LINE = {
    Action.NEXT_VIEW,
    Action.BY_MODULE,
    Action.SORT,
    Action.PICK,
    Action.WINDOW,
    Action.FREEZE,
    Action.HELP,
    Action.QUIT,
  };

  @Override
  public Action[] actions() {
    return ACTIONS;
  }

  @Override
  public Action[] keyLine(ViewState s) {
    return KEY_LINE;
  }

  @Override
  public PageQuery page(ViewState s, int columns) {
    return new QualityReport.Query(s.windowNanos());
  }

  @Override
  public Keys.Step act(Scene scene, ViewState s, Action action) {
    int by = Rows.by(action, QualityPainter.room(scene));
    if (by != 0) {
      return move(scene, s, by);
    }
    return switch (action) {
      case PICK -> pick(scene, s);
      case BACK -> Keys.Step.to(s.withView(View.GRAPH));
      case BY_MODULE -> {
        QualityTable turned = s.table().turned();
        String text = turned.modules() ? "by module" : "by process";
        yield Keys.Step.to(s.withTable(turned).withMessage(text, false));
      }
      case SORT -> {
        QualityTable sorted = s.table().resorted();
        String text = "first by " + sorted.sort().label();
        yield Keys.Step.to(s.withTable(sorted).withMessage(text, false));
      }
      case COPY -> {
        List<QualityReport.Row> rows = rows(scene, s);
        yield rows.isEmpty()
            ? Keys.Step.to(s.withMessage("nothing to copy yet", false))
            : Keys.Step.to(s, new Effect.Copy(rows.get(s.table().index(rows)).name()));
      }
      default -> null;
    };
  }

  /** A click marks a row, a second shows its graph; one on the heads sorts. */
  @Override
  public Keys.Step mouse(Scene scene, ViewState s, Mouse mouse) {
    if (mouse.wheel() != 0) {
      return move(scene, s, mouse.wheel());
    }
    if (!mouse.isPress()) {
      return null;
    }
    if (QualityPainter.isHead(scene, mouse.y())) {
      return act(scene, s, Action.SORT);
    }
    List<QualityReport.Row> rows = rows(scene, s);
    int row = QualityPainter.rowAt(scene, rows, mouse.y());
    if (row < 0) {
      return null;
    }
    ViewState marked = s.withTable(s.table().withMarked(rows.get(row)));
    return mouse.kind() == Mouse.Kind.DOUBLE ? pick(scene, marked) : Keys.Step.to(marked);
  }

  private static Keys.Step move(Scene scene, ViewState s, int by) {
    List<QualityReport.Row> rows = rows(scene, s);
    if (rows.isEmpty()) {
      return Keys.Step.to(s.withMessage("nothing to move in yet", false));
    }
    int at = s.table().index(rows);
    int to = Rows.moved(at, by, rows.size() - 1);
    if (to == at) {
      return Rows.end(s, by);
    }
    return Keys.Step.to(s.withTable(s.table().withMarked(rows.get(to))));
  }

  private static Keys.Step pick(Scene scene, ViewState s) {
    List<QualityReport.Row> rows = rows(scene, s);
    if (rows.isEmpty()) {
      return Keys.Step.to(s.withMessage("nothing to pick yet", false));
    }
    QualityReport.Row row = rows.get(s.table().index(rows));
    if (row.pid() == 0) {
      String text = s.table().modules() ? "a module is no filter; b lists processes" : "no process";
      return Keys.Step.to(s.withMessage(text, false));
    }
    Shape filter = s.filter().with(new Shape.Processes(Set.of(row.pid()), false));
    String text = "only pid " + row.pid() + " " + row.name() + ", its past too";
    ViewState graph = s.withView(View.GRAPH);
    return filter.equals(s.filter())
        ? Keys.Step.to(graph.withMessage("shown already", false))
        : Keys.Step.to(graph.withFilter(filter).withMessage(text, false));
  }

  private static List<QualityReport.Row> rows(Scene scene, ViewState s) {
    return scene.page instanceof QualityReport report ? s.table().rows(report) : List.of();
  }
}

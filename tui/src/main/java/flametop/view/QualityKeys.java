package flametop.view;

import flametop.profile.answer.PageQuery;
import flametop.profile.answer.QualityReport;
import flametop.profile.answer.Shape;
import java.util.List;
import java.util.Set;

/** What the keys do in the view of the quality. */
final class QualityKeys extends TableKeys<QualityReport.Row, QualityTable.Order> {
  private static final Action[] ACTIONS = {
    Action.PICK, Action.BACK, Action.SORT, Action.BY_MODULE, Action.COPY,
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

  QualityKeys() {
    super(ACTIONS, KEY_LINE);
  }

  @Override
  public PageQuery page(ViewState s, int columns) {
    return new QualityReport.Query(s.windowNanos());
  }

  @Override
  Keys.Step acted(Scene scene, ViewState s, Action action) {
    return switch (action) {
      case PICK -> enter(scene, s);
      case BACK -> Keys.Step.to(s.withView(View.GRAPH));
      case BY_MODULE -> {
        QualityTable turned = s.quality().turned();
        String text = turned.modules() ? "by module" : "by process";
        yield Keys.Step.to(s.withQuality(turned).withMessage(text, false));
      }
      case SORT -> sorted(scene, s);
      case COPY -> {
        List<QualityReport.Row> rows = rows(scene, s);
        yield rows.isEmpty()
            ? Keys.Step.to(s.withMessage("nothing to copy yet", false))
            : Keys.Step.to(s, new Effect.Copy(rows.get(s.quality().index(rows)).name()));
      }
      default -> null;
    };
  }

  @Override
  Keys.Step enter(Scene scene, ViewState s) {
    List<QualityReport.Row> rows = rows(scene, s);
    if (rows.isEmpty()) {
      return Keys.Step.to(s.withMessage("nothing to pick yet", false));
    }
    QualityReport.Row row = rows.get(s.quality().index(rows));
    if (row.pid() == 0) {
      String text =
          s.quality().modules() ? "a module is no filter; b lists processes" : "no process";
      return Keys.Step.to(s.withMessage(text, false));
    }
    Shape.Filter filter = new Shape.Processes(Set.of(row.pid()), false);
    String text = "only pid " + row.pid() + " " + row.name() + ", its past too";
    return ShapeKeys.only(s, s.withView(View.GRAPH), filter, text);
  }

  @Override
  QualityTable.Order nextOrder(Scene scene, ViewState s) {
    return s.quality().order().next();
  }

  @Override
  QualityTable.Order orderAt(Scene scene, int x) {
    return QualityPainter.orderAt(scene, x);
  }

  @Override
  String label(QualityTable.Order order) {
    return order.label();
  }

  @Override
  ViewState ordered(ViewState s, QualityTable.Order order) {
    return s.withQuality(s.quality().by(order));
  }

  @Override
  List<QualityReport.Row> rows(Scene scene, ViewState s) {
    return scene.page instanceof QualityReport report ? s.quality().rows(report) : List.of();
  }

  @Override
  int marked(ViewState s, List<QualityReport.Row> rows) {
    return s.quality().index(rows);
  }

  @Override
  ViewState withMarked(ViewState s, QualityReport.Row row, int place) {
    return s.withQuality(s.quality().withMarked(row));
  }

  @Override
  int room(Scene scene) {
    return QualityPainter.room(scene);
  }

  @Override
  int crumbRow(Scene scene) {
    return QualityPainter.heading(scene).crumb;
  }

  @Override
  boolean isHead(Scene scene, int y) {
    return QualityPainter.isHead(scene, y);
  }

  @Override
  int rowAt(Scene scene, ViewState s, List<QualityReport.Row> rows, int y) {
    return QualityPainter.rowAt(scene, rows, y);
  }
}

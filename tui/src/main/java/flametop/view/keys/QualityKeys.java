package flametop.view.keys;

import flametop.profile.answer.QualityReport;
import flametop.profile.answer.Shape;
import flametop.view.base.Action;
import flametop.view.base.View;
import flametop.view.layout.QualityLayout;
import flametop.view.layout.Scene;
import flametop.view.layout.TableLayout;
import flametop.view.state.Effect;
import flametop.view.state.QualityTable;
import flametop.view.state.Step;
import flametop.view.state.ViewState;
import java.util.List;
import java.util.Set;

/** What the keys do in the view of the quality. */
public final class QualityKeys extends TableKeys<QualityReport.Row, Object, QualityTable.Order> {
  @Override
  Step acted(Scene scene, ViewState s, Action action) {
    return switch (action) {
      case PICK -> enter(scene, s);
      case BACK -> Step.to(s.withView(View.GRAPH));
      case BY_MODULE -> {
        QualityTable turned = s.quality().turned();
        String text = turned.modules() ? "by module" : "by process";
        yield Step.to(s.withQuality(turned).withMessage(text, false));
      }
      case SORT -> sorted(scene, s);
      case COPY -> {
        List<QualityReport.Row> rows = rows(scene, s);
        yield rows.isEmpty()
            ? Step.to(s.withMessage("nothing to copy yet", false))
            : Step.to(s, new Effect.Copy(rows.get(s.quality().index(rows)).name()));
      }
      default -> null;
    };
  }

  @Override
  Step enter(Scene scene, ViewState s) {
    List<QualityReport.Row> rows = rows(scene, s);
    if (rows.isEmpty()) {
      return Step.to(s.withMessage("nothing to pick yet", false));
    }
    QualityReport.Row row = rows.get(s.quality().index(rows));
    if (row.pid() == 0) {
      String text =
          s.quality().modules() ? "a module is no filter; b lists processes" : "no process";
      return Step.to(s.withMessage(text, false));
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
  TableLayout<Object> layout(Scene scene) {
    return QualityLayout.of(scene);
  }

  @Override
  QualityTable.Order order(Object column) {
    return QualityLayout.order(column);
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
}

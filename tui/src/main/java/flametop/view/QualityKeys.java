package flametop.view;

import flametop.profile.QualityReport;
import flametop.profile.Shape;
import java.util.List;
import java.util.Set;

/** What the keys of the quality view do; null for a key that is none of them. */
final class QualityKeys {
  private QualityKeys() {}

  static Keys.Step press(Scene scene, ViewState s, Key key) {
    return switch (key.kind()) {
      case UP -> move(scene, s, -1);
      case DOWN -> move(scene, s, 1);
      case PAGE_UP -> move(scene, s, -QualityPainter.room(scene));
      case PAGE_DOWN -> move(scene, s, QualityPainter.room(scene));
      case HOME -> move(scene, s, -Short.MAX_VALUE);
      case END -> move(scene, s, Short.MAX_VALUE);
      case ENTER -> enter(scene, s);
      case ESCAPE -> Keys.Step.to(s.withView(View.GRAPH));
      case CHARACTER ->
          switch (key.character()) {
            case 'k' -> move(scene, s, -1);
            case 'j' -> move(scene, s, 1);
            case 'b' -> {
              QualityTable turned = s.table().turned();
              String text = turned.modules() ? "by module" : "by process";
              yield Keys.Step.to(s.withTable(turned).withMessage(text, false));
            }
            case 's' -> {
              QualityTable sorted = s.table().resorted();
              String text = "first by " + sorted.sort().label();
              yield Keys.Step.to(s.withTable(sorted).withMessage(text, false));
            }
            default -> null;
          };
      default -> null;
    };
  }

  private static Keys.Step move(Scene scene, ViewState s, int by) {
    List<QualityReport.Row> rows = rows(scene, s);
    if (rows.isEmpty()) {
      return Keys.Step.to(s.withMessage("nothing to move in yet", false));
    }
    int at = s.table().index(rows);
    int to = Math.max(0, Math.min(rows.size() - 1, at + by));
    if (to == at) {
      return Keys.Step.to(s.withMessage(by < 0 ? "already at the top" : "nothing below", false));
    }
    return Keys.Step.to(s.withTable(s.table().withMarked(rows.get(to))));
  }

  private static Keys.Step enter(Scene scene, ViewState s) {
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
        : Keys.Step.to(
            graph.withFilter(filter).withMessage(text, false), new Effect.Filter(filter));
  }

  private static List<QualityReport.Row> rows(Scene scene, ViewState s) {
    return scene.quality == null ? List.of() : s.table().rows(scene.quality);
  }
}

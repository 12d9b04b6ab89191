package flametop.view.table;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.profile.answer.CpuReport;
import flametop.profile.answer.CpuRow;
import flametop.profile.answer.Shape;
import flametop.profile.answer.Snapshot;
import flametop.view.base.Key;
import flametop.view.base.Mouse;
import flametop.view.base.View;
import flametop.view.layout.Scene;
import flametop.view.screen.Keys;
import flametop.view.screen.Pictures;
import flametop.view.screen.Reports;
import flametop.view.screen.ScreenUser;
import flametop.view.screen.Trees;
import flametop.view.state.ShownCpus;
import flametop.view.state.ViewState;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class CpusTableTest extends ScreenUser {
  private final CpuReport report = new CpuReport(Reports.crowd(40), "", "", "");

  @Override
  protected Scene scene() {
    return Scene.of(
        Pictures.snapshot(Trees.server(), state, 120), report, state, 120, 30, Pictures.options());
  }

  @Test
  void enter_marksTheSelected_sumIsOfThem() {
    type("6jj");
    press(Key.of(Key.Kind.ENTER));
    type("jjj");
    press(Key.of(Key.Kind.ENTER));
    assertEquals(Shape.of(new Shape.Cpus(Set.of(2, 5), false)), state.shape());
    CpuRow sum = ShownCpus.sum(report, state.shape());
    List<CpuRow> rows = report.cpus();
    assertEquals((rows.get(2).busy() + rows.get(5).busy()) / 2, sum.busy(), 1e-9);
    assertEquals(rows.get(2).wakeups() + rows.get(5).wakeups(), sum.wakeups(), 1e-9);
    press(Key.of(Key.Kind.ENTER));
    assertEquals(Shape.of(new Shape.Cpus(Set.of(2), false)), state.shape());
    press(Key.of(Key.Kind.ESCAPE));
    assertEquals(Shape.PLAIN, state.shape());
    assertEquals(View.CPUS, state.view());
    press(Key.of(Key.Kind.ESCAPE));
    assertEquals(View.GRAPH, state.view());
  }

  @Test
  void mouse_onARow_selectsItAndMarksItTwice() {
    type("6");
    mouse(Mouse.Kind.PRESS, 5, 6);
    assertEquals(2, CpusTable.TABLE.place(state).marked());
    mouse(Mouse.Kind.DOUBLE, 5, 6);
    assertEquals(Shape.of(new Shape.Cpus(Set.of(2), false)), state.shape());
    // What it marked is a line above the title.
    mouse(Mouse.Kind.PRESS, 5, 3);
    assertEquals("first by number", state.message());
    mouse(Mouse.Kind.WHEEL_DOWN, 5, 7);
    assertTrue(CpusTable.TABLE.place(state).marked() != 2);
  }

  @Test
  void click_onEachHead_sortsByItAndShowsSo() {
    for (int columns : new int[] {80, 120, 200}) {
      String last = null;
      for (int x = 0; x < columns; x++) {
        ViewState at = Pictures.state().withView(View.CPUS);
        Scene scene = Scene.of(Snapshot.OPENING, report, at, columns, 30, Pictures.options());
        CpusTable table = CpusTable.TABLE;
        TableLayout<CpuRow, Comparator<CpuRow>> layout = table.layout(scene);
        int y = layout.head();
        ViewState sorted = Keys.mouse(scene, new Mouse(Mouse.Kind.PRESS, x, y)).state();
        Column<CpuRow, Comparator<CpuRow>> column = layout.headAt(x);
        if (column == null || column.order() == null) {
          assertEquals("this column has no order", sorted.message());
        } else {
          assertEquals("first by " + table.label(column.order()), sorted.message());
          assertSame(column.order(), CpusTable.TABLE.place(sorted).order());
          last = table.label(column.order());
        }
      }
      assertEquals("cycles", last);
    }
  }

  @Test
  void sort_byBusy_keepsTheSelectedSelected() {
    type("6jjj");
    int selected = CpusTable.TABLE.place(state).marked();
    type("s");
    assertEquals("first by busy", state.message());
    TableLayout<CpuRow, Comparator<CpuRow>> layout = CpusTable.TABLE.layout(scene());
    List<CpuRow> rows = layout.rows();
    assertEquals(selected, rows.get(layout.marked()).cpu());
    for (int i = 1; i < rows.size(); i++) {
      assertTrue(rows.get(i - 1).busy() >= rows.get(i).busy());
    }
  }

  @Test
  void idle_scroll_stopsAtTheEnds() {
    type("7");
    press(Key.of(Key.Kind.UP));
    assertEquals("already at the top", state.message());
    press(Key.of(Key.Kind.PAGE_DOWN));
    assertEquals(26, new IdleTable().place(state).place());
    press(Key.of(Key.Kind.END));
    assertEquals(3 + 40 * 3 - 26, new IdleTable().place(state).place());
    press(Key.of(Key.Kind.DOWN));
    assertEquals("nothing below", state.message());
  }
}

package flametop.view.layout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.profile.answer.Shape;
import flametop.profile.answer.Snapshot;
import flametop.sampler.State;
import flametop.view.base.CellGrid;
import flametop.view.base.Key;
import flametop.view.base.Mouse;
import flametop.view.base.View;
import flametop.view.screen.Keys;
import flametop.view.screen.Painter;
import flametop.view.screen.PictureText;
import flametop.view.screen.Pictures;
import flametop.view.screen.Reports;
import flametop.view.screen.TimePictures;
import flametop.view.screen.Trees;
import flametop.view.state.ViewState;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class HeadingTest {
  private static final View[] TABLES = {
    View.TOP, View.TASKS, View.CPUS, View.IDLE, View.QUALITY,
  };
  private static final Shape STEPS =
      Shape.of(new Shape.Comms(Set.of("nginx"), false), new Shape.Merge());

  private static Scene scene(ViewState state, int columns, int rows, String... notices) {
    Snapshot snapshot =
        Pictures.snapshot(Trees.server(), state, columns, Reports.cpus(2), List.of(notices));
    return Scene.of(snapshot, state, columns, rows, Pictures.options());
  }

  private static int row(CellGrid grid, String text) {
    for (int y = 0; y < grid.rows(); y++) {
      if (PictureText.row(grid, y).contains(text)) {
        return y;
      }
    }
    return -1;
  }

  @Test
  void paint_whileAnExportIsWritten_saysSo() {
    for (View view : View.values()) {
      ViewState state = Pictures.state().withView(view);
      String before = PictureText.row(scene(state, 100, 24), 0);
      assertFalse(before.contains("writing…"), before);
      String meanwhile = PictureText.row(scene(state.withExports(1), 100, 24), 0);
      assertTrue(meanwhile.contains("  writing…"), meanwhile);
    }
  }

  @Test
  void paint_noticeAndSteps_haveLinesOfTheirOwnAboveTheTitle() {
    for (View view : TABLES) {
      ViewState state = Pictures.state().withView(view).withShape(STEPS);
      for (int rows : new int[] {10, 13, 14, 24, 60}) {
        CellGrid grid = Painter.paint(scene(state, 100, rows, "something is wrong"));
        int notice = row(grid, "something is wrong");
        int steps = row(grid, "comm nginx › recursion merged");
        int title = row(grid, view == View.IDLE ? "idle states  as" : "  first by ");
        assertTrue(notice > 0, view + " " + rows);
        assertEquals(notice + 1, steps, view + " " + rows);
        assertEquals(rows < 14 ? -1 : steps + 1, title, view + " " + rows);
      }
    }
  }

  @Test
  void header_windowThatHistoryNoLongerCovers_saysWhatIsShown() {
    ViewState state = Pictures.state();
    Snapshot whole = Pictures.snapshot(Trees.server(), state, 200);
    assertTrue(header(state, whole).contains("disk  30 s  19/99"));
    assertTrue(header(state, TimePictures.covering(whole, 9)).contains("disk  9 s of 30 s  19/99"));
    assertTrue(header(state, TimePictures.covering(whole, 29)).contains("disk  30 s  19/99"));
    // It began 42 s ago: what was before is not missing.
    ViewState longer = Keys.press(scene(state, 120, 30), Key.of('m')).state();
    assertTrue(header(longer, TimePictures.covering(whole, 42)).contains("disk  5 min  19/99"));
  }

  private static String header(ViewState state, Snapshot snapshot) {
    return PictureText.row(Scene.of(snapshot, state, 200, 30, Pictures.options()), 0);
  }

  @Test
  void click_onAStep_goesBackToItInEveryTable() {
    for (View view : TABLES) {
      ViewState state = Pictures.state().withView(view).withShape(STEPS);
      Scene scene = scene(state, 100, 24, "something is wrong");
      CellGrid grid = Painter.paint(scene);
      int y = row(grid, "comm nginx › recursion merged");
      int x = PictureText.row(grid, y).indexOf("nginx");
      ViewState next = Keys.mouse(scene, new Mouse(Mouse.Kind.PRESS, x, y)).state();
      assertEquals(STEPS.first(1), next.shape(), view.label());
    }
  }

  @Test
  void click_inTheIdleStates_isAnswered() {
    Scene scene = scene(Pictures.state().withView(View.IDLE), 100, 24);
    ViewState next = Keys.mouse(scene, new Mouse(Mouse.Kind.PRESS, 20, 12)).state();
    assertEquals("nothing to mark here; the wheel scrolls", next.message());
  }

  @Test
  void help_anyWidthFromEightyOn_hasAllOfEachLine() {
    for (View view : View.values()) {
      for (int columns = 80; columns <= 200; columns++) {
        ViewState state = Pictures.state().withView(view).withHelp(true);
        for (int page = 0; page < 4; page++) {
          ViewState at = state.withHelpPage(page);
          CellGrid grid = Painter.paint(scene(at, columns, 40));
          for (int y = 2; y < grid.rows() - 1; y++) {
            String row = PictureText.row(grid, y).replace("a … n", "").replace("run, …", "");
            assertFalse(row.contains("…"), columns + ": " + row);
          }
        }
      }
    }
  }

  @Test
  void header_moreTasks_keepTheirColumns() {
    String few = header(9);
    String many = header(408);
    for (String label : new String[] {"tasks", "run", "queued", "asleep", "lost"}) {
      assertEquals(many.indexOf(label), few.indexOf(label), label);
    }
  }

  private static String header(int asleep) {
    Scene scene = scene(Pictures.state(), 200, 40);
    scene.snapshot.live().host().tasks()[State.SLEEP.ordinal()] = asleep;
    return PictureText.row(scene, 0);
  }

  @Test
  void source_ofOneLine_leavesTheGraphItsRows() {
    ViewState state = Pictures.state().withSource(ViewState.NO_SOURCE);
    assertEquals(2, scene(state, 100, 40).sourceRows);
    ViewState full = Pictures.state().withSource(Reports.source(1));
    Scene scene = scene(full, 100, 24);
    assertTrue(scene.sourceRows <= (scene.sourceRows + scene.graphRows) / 2);
    Scene large = scene(full, 200, 100);
    assertEquals(8, large.sourceRows);
  }
}

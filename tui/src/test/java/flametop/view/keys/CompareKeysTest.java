package flametop.view.keys;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.profile.answer.GraphSlice;
import flametop.profile.answer.Selection;
import flametop.profile.answer.Snapshot;
import flametop.view.base.CellGrid;
import flametop.view.base.Colouring;
import flametop.view.base.Key;
import flametop.view.base.Mouse;
import flametop.view.base.Paint;
import flametop.view.base.Role;
import flametop.view.base.TextWidth;
import flametop.view.base.View;
import flametop.view.layout.Piece;
import flametop.view.layout.Scene;
import flametop.view.paint.Comparison;
import flametop.view.screen.Keys;
import flametop.view.screen.Painter;
import flametop.view.screen.PictureText;
import flametop.view.screen.Pictures;
import flametop.view.screen.TimePictures;
import flametop.view.screen.Tree;
import flametop.view.screen.Trees;
import flametop.view.state.Search;
import flametop.view.state.Step;
import flametop.view.state.ViewState;
import flametop.view.state.Zoom;
import java.util.List;
import org.junit.jupiter.api.Test;

class CompareKeysTest {
  private final Tree tree = TimePictures.release();

  private static Scene scene(Snapshot snapshot, ViewState state) {
    return Scene.of(snapshot, state, 200, 40, Pictures.options());
  }

  private Scene live(ViewState state) {
    return scene(Pictures.snapshot(Trees.server(), state, 200), state);
  }

  private Scene compared(ViewState state) {
    return scene(TimePictures.compared(tree, state, 200), state);
  }

  private static ViewState comparing() {
    return Pictures.state().withMoment(Pictures.state().moment().compared());
  }

  @Test
  void compare_pressed_holdsThePresentEachTime() {
    ViewState state = Pictures.state();
    Step step = Keys.press(live(state), Key.of('b'));
    assertEquals(state.moment().compared(), step.state().moment());
    assertEquals("compared from now on with these 30 s", step.state().message());
    Step again = Keys.press(compared(step.state()), Key.of('b'));
    assertEquals(state.moment().compared().compared(), again.state().moment());
  }

  @Test
  void compare_beforeTheFirstPicture_saysSo() {
    Step step = Keys.press(scene(Snapshot.OPENING, Pictures.state()), Key.of('b'));
    assertEquals(Pictures.state().moment(), step.state().moment());
    assertEquals("nothing to compare with yet", step.state().message());
  }

  @Test
  void compare_withARange_holdsItAndGoesOnWithThePresent() {
    ViewState ranged = TimePictures.choosing(Pictures.state(), TimePictures.range(50, 40));
    Step step = Keys.press(live(ranged), Key.of('b'));
    assertEquals(Pictures.state().moment().compared(), step.state().moment());
  }

  @Test
  void end_pressed_releasesAndSaysWhetherThereWasSomething() {
    ViewState state = comparing();
    Step step = Keys.press(compared(state), Key.of('B'));
    assertEquals(Pictures.state().moment(), step.state().moment());
    assertEquals("the comparison is over", step.state().message());
    step = Keys.press(live(state), Key.of('B'));
    assertEquals(Pictures.state().moment(), step.state().moment(), "it may be on its way here");
    assertEquals("nothing is compared", step.state().message());
  }

  @Test
  void escape_whileComparing_endsItAfterEverythingElse() {
    ViewState ranged =
        TimePictures.choosing(comparing(), TimePictures.range(50, 40)).zoomedTo(new Zoom(1, null));
    Step step = Keys.press(compared(ranged), Key.of(Key.Kind.ESCAPE));
    assertEquals(List.of(), step.effects());
    assertEquals(ranged.moment(), step.state().moment());
    step = Keys.press(compared(step.state()), Key.of(Key.Kind.ESCAPE));
    assertEquals(comparing().moment(), step.state().moment());
    step = Keys.press(compared(step.state()), Key.of(Key.Kind.ESCAPE));
    assertEquals(Pictures.state().moment(), step.state().moment());
    step = Keys.press(live(step.state()), Key.of(Key.Kind.ESCAPE));
    assertEquals(Pictures.state().moment(), step.state().moment());
  }

  @Test
  void mark_clicked_endsIt() {
    Scene scene = compared(comparing());
    int x = PictureText.row(scene, 0).indexOf("compared with 30 s, 90 s ago");
    assertTrue(x > 0);
    assertEquals(
        Pictures.state().moment(),
        Keys.mouse(scene, new Mouse(Mouse.Kind.PRESS, x, 0)).state().moment());
  }

  @Test
  void colour_whileComparing_saysWhatColoursTell() {
    Step step = Keys.press(compared(Pictures.state()), Key.of('C'));
    assertEquals(Colouring.KIND, step.state().colouring());
    assertEquals("colours tell changes; B ends the comparison", step.state().message());
  }

  @Test
  void header_ofAViewThatDoesNotCompare_doesNotSaySo() {
    for (View view : new View[] {View.GRAPH, View.CPUS, View.IDLE, View.QUALITY}) {
      ViewState state = Pictures.state().withView(view);
      assertEquals(
          view == View.GRAPH,
          PictureText.row(Painter.paint(compared(state)), 0).contains("compared"),
          view.label());
    }
  }

  @Test
  void paint_frames_haveTheColourOfTheirChange() {
    ViewState state = Pictures.state();
    Snapshot snapshot = TimePictures.compared(tree, state, 200);
    GraphSlice slice = snapshot.graph();
    assertEquals(Paint.of(Role.GROUP), paint(snapshot, slice, "parse"));
    assertEquals(Paint.of(Role.WORSE), paint(snapshot, slice, "layout"));
    assertEquals(Paint.of(Role.WORSE), paint(snapshot, slice, "hyphenate"));
    assertEquals(Paint.of(Role.BETTER), paint(snapshot, slice, "escape_twice"));
    assertEquals(Paint.of(Role.CHROME), paint(snapshot, slice, "replace"));
    assertEquals(
        "0.0% → 12.8% of all, new",
        Comparison.text(slice, index(slice, "hyphenate")).replace("15.6", "12.8"));
  }

  @Test
  void paint_changeWithinTheNoiseOfTheSamples_isNone() {
    // 10 % of a second: at 99 Hz that is 10 ± 3 samples.
    Tree noisy = new Tree().stack(110, 100, "a", "b").stack(2_000, 1_000, "a", "c");
    Snapshot snapshot = TimePictures.compared(noisy, Pictures.state(), 200);
    assertEquals(Paint.of(Role.GROUP), paint(snapshot, snapshot.graph(), "b"));
    assertEquals(Paint.of(Role.WORSE), paint(snapshot, snapshot.graph(), "c"));
  }

  @Test
  void matched_whileComparing_isOfWhatTheSharesBesideItAreOf() {
    Tree shrunk = new Tree().stack(400, 1_000, "a", "b").stack(600, 1_000, "a", "c");
    ViewState state = Pictures.state().withSearch(Search.of("^b$", false));
    Snapshot snapshot = TimePictures.compared(shrunk, state, 200);
    GraphSlice slice = snapshot.graph();
    assertEquals("50.0% → 20.0% of all, ×0.4", Comparison.text(slice, index(slice, "b")));
    CellGrid grid = Painter.paint(scene(snapshot, state));
    boolean said = false;
    for (int y = 0; y < grid.rows(); y++) {
      said |= PictureText.row(grid, y).contains("matched 20.0%");
    }
    assertTrue(said);
  }

  private static int paint(Snapshot snapshot, GraphSlice slice, String name) {
    return Comparison.paint(slice, index(slice, name), snapshot);
  }

  private static int index(GraphSlice slice, String name) {
    return List.of(slice.name()).indexOf(name);
  }

  @Test
  void trend_ofTheSelection_hasItsSignAndColourInAField() {
    Tree server = Trees.server();
    ViewState state = Pictures.selecting(Pictures.state(), server, "redis-server");
    Piece up = trend(server, state, 1_000);
    Piece down = trend(server, state, 9_000);
    Piece same = trend(server, state, 5_930);
    assertTrue(up.text().startsWith("▲ +"));
    assertEquals(Role.WORSE, up.role());
    assertTrue(down.text().startsWith("▼ -"));
    assertEquals(Role.BETTER, down.role());
    assertFalse(same.text().matches(".*[▲▼].*"));
    assertEquals(Role.DIM, same.role());
    for (Piece piece : List.of(up, down, same)) {
      assertEquals(9, TextWidth.of(piece.text()));
    }
    Snapshot unknown = Pictures.snapshot(server, state, 200);
    assertEquals(" ".repeat(9), Comparison.trend(unknown.selection(), unknown).text());
  }

  private static Piece trend(Tree tree, ViewState state, long before) {
    Snapshot snapshot = TimePictures.trend(tree, state, 200, before);
    Selection selection = snapshot.selection();
    return Comparison.trend(selection, snapshot);
  }
}

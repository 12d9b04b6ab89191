package flametop.view.screen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.profile.answer.Function;
import flametop.profile.answer.NodeKind;
import flametop.profile.answer.Shape;
import flametop.profile.answer.TopQuery;
import flametop.profile.answer.TopReport;
import flametop.profile.file.StackFile;
import flametop.profile.file.StackInput;
import flametop.view.base.Action;
import flametop.view.base.Key;
import flametop.view.base.Origin;
import flametop.view.base.View;
import flametop.view.layout.Scene;
import flametop.view.state.Keymap;
import flametop.view.state.ViewActions;
import flametop.view.state.ViewState;
import flametop.view.table.TopTable;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The keys that give the graph of a file another shape. */
class FileShapeTest {
  private static final List<View> VIEWS =
      List.of(View.GRAPH, View.CALLERS, View.SANDWICH, View.TOP);

  @TempDir Path folder;

  private StackFile file;
  private ViewState state = FilePictures.state();

  @BeforeEach
  void open() throws Exception {
    file = file("x;main;a;lib`f 6\nx;main;b;b;b 3\ny;main;a 1\n");
    file.whole().get();
  }

  private StackFile file(String text) throws Exception {
    Path path = Files.writeString(Files.createTempFile(folder, "", ".folded"), text);
    return new StackFile(StackInput.open(path), 1, 1, StackFile.Choice.comm(true));
  }

  @AfterEach
  void close() {
    file.close();
  }

  private Scene scene() throws Exception {
    return FilePictures.scene(file, state, new int[] {80, 24}, false);
  }

  private void press(Key... keys) throws Exception {
    for (Key key : keys) {
      state = Keys.press(scene(), key).state();
      state = Keys.arrived(scene()).state();
    }
  }

  private void type(String text) throws Exception {
    for (int c : text.chars().toArray()) {
      press(Key.of(c));
    }
  }

  private List<String> names() throws Exception {
    return Arrays.asList(scene().snapshot.graph().name());
  }

  private static Key down() {
    return Key.of(Key.Kind.DOWN);
  }

  @Test
  void f_andX_narrowByTheSelected() throws Exception {
    press(down());
    type("f");
    assertEquals(List.of("all", "x", "main", "a", "lib`f", "b", "b", "b"), names());
    assertEquals("only comm x", state.message());
    press(down(), down());
    type("x");
    assertEquals(List.of("all", "x", "main", "b", "b", "b"), names());
    type("u");
    assertEquals(List.of("all", "x", "main", "a", "lib`f", "b", "b", "b"), names());
    type("uu");
    assertEquals("nothing to undo", state.message());
    type("U");
    assertEquals(8, names().size());
  }

  @Test
  void r_mergesRecursion() throws Exception {
    type("r");
    assertEquals(List.of("all", "x", "main", "a", "lib`f", "b", "y", "main", "a"), names());
  }

  @Test
  void capitalR_foldsRuntimesWhereNamesSayTheirModules() throws Exception {
    file.close();
    file =
        file(
            """
        java;libjvm.so`JavaCalls::call;Shop.run_[j];libjvm.so`Unsafe_Park;libc.so.6`wait 6
        java;libjvm.so`GCTaskThread::run 3
        java;Unsafe_Park;Shop.run_[j] 1
        """);
    file.whole().get();
    type("R");
    assertEquals(
        List.of(
            "all",
            "java",
            "Shop.run",
            "libc.so.6`wait",
            "Unsafe_Park",
            "Shop.run",
            "libjvm.so`GCTaskThread::run"),
        names());
    type("R");
    assertEquals(9, names().size(), names().toString());
    type("4R");
    TopReport report = (TopReport) scene().page;
    assertEquals(
        List.of("libc.so.6`wait", "libjvm.so`GCTaskThread::run", "Shop.run", "Unsafe_Park"),
        report.rows().stream().map(row -> row.function().name()).toList());
  }

  @Test
  void g_putsStacksOfAllTogether() throws Exception {
    type("g");
    assertEquals(List.of("all", "main", "a", "lib`f", "b", "b", "b"), names());
    type("g");
    assertEquals(Shape.of(new Shape.Comm(false)), state.shape());
    assertEquals("the outermost frame is a function", state.message());
    type("g");
    assertEquals(Shape.PLAIN, state.shape());
    assertEquals("the outermost frame is a comm", state.message());
  }

  @Test
  void two_showsCallersAndOneTheGraph() throws Exception {
    type("2");
    assertEquals("b", names().get(2));
    assertEquals(View.CALLERS, state.view());
    type("1");
    assertEquals(Shape.PLAIN, state.shape());
    type("1");
    assertTrue(state.message().startsWith("this is the graph"), state.message());
    type("II");
    assertEquals(View.GRAPH, state.view());
  }

  @Test
  void callers_andBack_keepTheFunctionZoomAndSelection() throws Exception {
    press(down(), down(), Key.of(Key.Kind.ENTER), down());
    scene();
    String selected = selected();
    String zoomed = zoomed();
    assertEquals("main", zoomed);
    type("2");
    assertEquals(selected, selected());
    assertEquals("all", zoomed());
    type("f");
    type("1");
    assertEquals(selected, selected());
    type("u");
    assertEquals(selected, selected());
    assertEquals(zoomed, zoomed());
    type("24");
    state = Keys.arrived(scene()).state();
    assertEquals(selected, new TopTable().place(state).marked().name());
  }

  private String selected() throws Exception {
    String[] path = scene().selection().path();
    return path[path.length - 1];
  }

  private String zoomed() throws Exception {
    return scene().snapshot.graph().name()[scene().snapshot.graph().zoomIndex()];
  }

  @Test
  void tab_goesThroughTheViewsOfAFileAndBack() throws Exception {
    for (int i = 1; i <= VIEWS.size(); i++) {
      press(Key.of(Key.Kind.TAB));
      assertEquals(VIEWS.get(i % VIEWS.size()), state.view());
    }
  }

  @Test
  void s_isTheSandwichOfTheSelectedAndEscLeavesIt() throws Exception {
    press(down(), down(), down());
    type("s");
    assertEquals(View.SANDWICH, state.view());
    assertEquals(new Function(NodeKind.USER, "", "a"), state.sandwich().function());
    assertEquals(7, scene().sandwich.page().total());
    press(Key.of(Key.Kind.ESCAPE));
    assertEquals(View.GRAPH, state.view());
  }

  @Test
  void four_hasTheFunctionsAlsoFromTheCallersAndEnterIsTheirSandwich() throws Exception {
    type("24");
    TopReport report = (TopReport) scene().page;
    assertEquals("lib`f", report.rows().get(0).function().name());
    assertEquals(6, report.rows().get(0).self());
    assertEquals(10, report.total());
    type("sss");
    assertEquals(TopQuery.Order.SELF, new TopTable().place(state).order());
    press(Key.of(Key.Kind.ENTER));
    assertEquals("lib`f", state.sandwich().function().name());
    press(Key.of(Key.Kind.ESCAPE));
    assertEquals(View.TOP, state.view());
  }

  @Test
  void help_ofAFile_hasOnlyWhatIsDone() throws Exception {
    for (View view : VIEWS) {
      ViewActions keys = ViewActions.of(view, Origin.FILE);
      for (Action action : Action.values()) {
        if (keys.has(action)) {
          state = FilePictures.state().withView(view);
          for (Key key : Keymap.DEFAULT.keys(action)) {
            assertEquals(
                action, Keymap.DEFAULT.action(view, Origin.FILE, key), view + " " + action);
            String said = Keys.press(scene(), key).state().message();
            assertFalse(said.contains("folded stacks"), view + " " + action + ": " + said);
          }
        }
      }
    }
  }

  @Test
  void m_collapsesAModuleThatTheNameSays() throws Exception {
    press(down(), down(), down());
    type("M");
    assertTrue(state.message().contains("has no module"), state.message());
    press(down());
    type("M");
    assertTrue(names().contains("[lib]"), names().toString());
  }

  @Test
  void whatStacksDoNotKnow_isRefusedWithASentence() throws Exception {
    for (View view : VIEWS) {
      state = FilePictures.state().withView(view);
      for (char key : "opct5678m".toCharArray()) {
        type(String.valueOf(key));
        assertEquals(view, state.view());
        assertTrue(
            state.pick() != null
                || Pattern.compile("stacks|this file").matcher(state.message()).find(),
            key + state.message());
        state = state.withPick(null);
      }
    }
  }

  @Test
  void sandwich_ofAFunctionThatCallsItself_saysTheSameSelfTwice() throws Exception {
    try (StackFile recursive =
        file("app;main;walk 10\napp;main;walk;walk 30\napp;main;rest 60\n")) {
      ViewState of = FilePictures.state().withSandwich(new Function(NodeKind.USER, "", "walk"));
      Scene scene = FilePictures.scene(recursive, of, new int[] {120, 30}, false);
      List<String> rows = PictureText.rows(Painter.paint(scene));
      assertEquals(2, rows.stream().filter(row -> row.matches(".*self +40[.]0%.*")).count());
    }
  }
}

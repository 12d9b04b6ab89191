package flametop.view.layout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.view.base.Key;
import flametop.view.base.Mouse;
import flametop.view.screen.TwoFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two files side by side: what the keys and the mouse do there. */
class SplitTest {
  @TempDir Path folder;

  private TwoFiles two;

  @BeforeEach
  void open() throws Exception {
    Path a = file("a.folded", "x;main;parse;lex 60\nx;main;run;eval 30\nx;main;gc 10\n");
    Path b = file("b.folded", "x;main;parse;lex 20\nx;main;parse;peek 20\nx;main;run;jit 160\n");
    two = new TwoFiles(120, 30, a, b);
  }

  @AfterEach
  void close() {
    two.close();
  }

  private Path file(String name, String text) throws IOException {
    return Files.writeString(folder.resolve(name), text);
  }

  private void split(String... names) throws Exception {
    if (names.length > 0) {
      two.close();
      Path[] paths = new Path[names.length];
      for (int i = 0; i < names.length; i++) {
        paths[i] = folder.resolve(names[i]);
      }
      two = new TwoFiles(120, 30, paths);
    }
    two.type("|");
  }

  private String selected() {
    Scene scene = two.scene();
    return scene.geometry.slice().name()[scene.geometry.node(scene.selectedBox)];
  }

  private static String zoomed(Scene scene) {
    return scene.geometry.slice().name()[scene.geometry.slice().zoomIndex()];
  }

  private int active() {
    return two.scene().snapshot.reading().number();
  }

  @Test
  void bar_showsTheNextFileBeside_andClosesIt() throws Exception {
    split();
    assertEquals(1, active());
    assertEquals(2, two.scene().other.snapshot.reading().number());
    String heads = two.line("a.folded");
    assertTrue(heads.matches("›\\S*a\\.folded +100 samples │ +\\S*b\\.folded +200 samples"), heads);
    two.type("|");
    assertNull(two.scene().other);
    assertEquals("one file again", two.state.message());
    assertEquals("", two.line("│"));
  }

  @Test
  void bar_inTheSecondFile_keepsTheirOrder() throws Exception {
    two.type("]|");
    assertEquals(2, active());
    assertTrue(two.line("a.folded").matches(" \\S*a\\.folded .*│ ›\\S*b\\.folded.*"));
  }

  @Test
  void bar_whereThereIsNoRoomOrNoOther_saysWhy() throws Exception {
    two.columns = 79;
    two.type("|");
    assertEquals("two files side by side need 80 columns; there are 79", two.state.message());
    two.columns = 80;
    two.type("4|");
    assertTrue(two.state.message().startsWith("two files stand side by side in the graph"));
    assertNull(two.state.split());
    two.type("1w");
    assertEquals("one file is shown; | shows another beside it", two.state.message());
    split("a.folded");
    assertTrue(two.state.message().startsWith("this is the only file"), two.state.message());
  }

  @Test
  void selected_inBoth_isMarkedAndToldOfBoth() throws Exception {
    split();
    two.goTo("parse");
    assertEquals("parse", selected());
    Scene other = two.scene().other;
    assertTrue(other.hasSelected);
    assertEquals("parse", other.geometry.slice().name()[other.geometry.node(other.selectedBox)]);
    String told = two.line(" here ");
    assertTrue(told.contains("60.0% here · 20.0% in b.folded · self 0.0%"), told);
  }

  @Test
  void selected_notInTheOther_saysSoAndMarksNothing() throws Exception {
    split();
    two.goTo("eval");
    assertFalse(two.scene().other.hasSelected);
    String told = two.line(" here ");
    assertTrue(told.contains("30.0% here · not in b.folded"), told);
  }

  @Test
  void zoom_inBoth_zoomsBoth() throws Exception {
    split();
    two.goTo("parse");
    two.press(Key.Kind.ENTER);
    assertEquals("parse", zoomed(two.scene()));
    assertEquals("parse", zoomed(two.scene().other));
    two.press(Key.Kind.ESCAPE);
    assertEquals("all", zoomed(two.scene().other));
  }

  @Test
  void zoom_notInTheOther_zoomsThatAsFarAsItGoes() throws Exception {
    split();
    two.goTo("eval");
    two.press(Key.Kind.ENTER);
    assertEquals("eval", zoomed(two.scene()));
    assertEquals("run", zoomed(two.scene().other));
  }

  @Test
  void w_takesTheKeysToTheSamePlace_atOnce() throws Exception {
    split();
    two.goTo("lex");
    List<String> before = two.lines();
    two.pressed(Key.of('w'));
    assertEquals(2, active());
    assertEquals("lex", selected());
    assertTrue(two.line(" here ").contains("10.0% here · 60.0% in a.folded"), two.line(" here "));
    List<String> after = two.lines();
    // The graphs stay as they are.
    assertEquals(before.subList(2, 26), after.subList(2, 26));
    two.arrive();
    assertEquals(after, two.lines());
    assertEquals(2, two.shown().reading().get().number());
  }

  @Test
  void w_toAndFro_leadsBackToWhatTheOtherHasNot() throws Exception {
    split();
    two.goTo("eval");
    two.press(Key.Kind.ENTER);
    two.type("w");
    assertEquals("run", selected());
    two.type("w");
    assertEquals("eval", selected());
    assertEquals("eval", zoomed(two.scene()));
    two.type("w");
    two.press(Key.Kind.UP);
    two.type("w");
    assertEquals("main", selected());
  }

  @Test
  void click_inTheOtherPane_takesTheKeysAndSelects() throws Exception {
    split();
    int x = two.scene().other.graphLeft + 1;
    two.mouse(Mouse.Kind.PRESS, x, two.scene().graphTop + 3);
    assertEquals(2, active());
    assertEquals("parse", selected());
    two.mouse(Mouse.Kind.PRESS, 1, two.scene().headRow);
    assertEquals(1, active());
    assertEquals("parse", selected());
    two.mouse(Mouse.Kind.PRESS, 1, two.scene().graphTop + 1);
    assertEquals("x", selected());
    // The line between them is of none.
    two.mouse(Mouse.Kind.PRESS, two.scene().graphColumns, two.scene().graphTop + 1);
    assertEquals(1, active());
  }

  @Test
  void brackets_ofTwoFiles_sayThatBothAreShown() throws Exception {
    split();
    two.type("]");
    assertTrue(two.state.message().startsWith("both files are shown"), two.state.message());
    assertEquals(1, active());
  }

  @Test
  void brackets_ofThreeFiles_turnThePaneAndKeepThePlace() throws Exception {
    file("c.folded", "y;main 1\nx;main;parse;lex 1\n");
    split("a.folded", "b.folded", "c.folded");
    two.goTo("parse");
    two.press(Key.Kind.ENTER);
    two.type("]");
    assertEquals(3, active());
    assertEquals("parse", selected());
    assertEquals("parse", zoomed(two.scene()));
    two.type("w");
    assertEquals(2, active());
    two.type("[");
    assertEquals(1, active());
    two.type("]");
    assertEquals(2, active());
    assertEquals(3, two.scene().other.snapshot.reading().number());
  }

  @Test
  void search_marksInBoth() throws Exception {
    split();
    two.type("/lex");
    two.press(Key.Kind.ENTER);
    String heads = two.line("a.folded");
    assertTrue(heads.matches(".*matched 60\\.0% .*matched 10\\.0% .*"), heads);
    two.press(Key.Kind.ESCAPE);
    two.type("/jit");
    assertTrue(two.line("a.folded").matches(".*no match .*matched 80\\.0% .*"));
  }

  @Test
  void shape_isThatOfBoth() throws Exception {
    split();
    two.goTo("parse");
    two.type("f");
    Scene scene = two.scene();
    assertEquals(60, scene.snapshot.total());
    assertEquals(40, scene.other.snapshot.total());
    two.type("wu");
    assertEquals(200, two.scene().snapshot.total());
    assertEquals(100, two.scene().other.snapshot.total());
    two.type("r|]");
    // One that is turned to alone has none.
    assertEquals(List.of(), two.state.chosenShape().steps());
  }

  @Test
  void callersAndSandwich_areOfBoth() throws Exception {
    split();
    two.goTo("lex");
    two.type("s");
    Scene sandwich = two.scene();
    assertEquals(60, sandwich.sandwich.page().total());
    assertEquals(20, sandwich.other.sandwich.page().total());
    two.press(Key.Kind.UP);
    assertEquals("parse", selected());
    assertTrue(two.line(" here ").contains("60.0% here · 10.0% in b.folded"), two.line(" here "));
    two.type("w");
    assertEquals("parse", selected());
    assertEquals(20, two.scene().sandwich.page().total());
    two.press(Key.Kind.ENTER);
    assertEquals("parse", zoomedCallers(two.scene()));
    assertEquals("parse", zoomedCallers(two.scene().other));
    two.type("2");
    // What stands below the comm is innermost.
    assertEquals("jit", two.scene().geometry.slice().name()[2]);
    assertEquals("eval", two.scene().other.geometry.slice().name()[2]);
  }

  private static String zoomedCallers(Scene scene) {
    return zoomed(scene.sandwich.callers().geometry);
  }

  private static String zoomed(Geometry geometry) {
    return geometry.slice().name()[geometry.slice().zoomIndex()];
  }

  @Test
  void screen_tooNarrowForBoth_showsTheOneWithTheKeys() throws Exception {
    split();
    two.type("w");
    two.columns = 79;
    two.arrive();
    assertNull(two.scene().other);
    assertEquals(2, active());
    two.type("w");
    assertEquals("two files side by side need 80 columns; there are 79", two.state.message());
    two.type("]");
    assertEquals(1, active());
    two.columns = 80;
    two.arrive();
    assertTrue(two.line("a.folded").matches("›\\S*a\\.folded .*│ .*b\\.folded .*"));
  }

  @Test
  void search_onAScreenTooSmallToPaint_waits() throws Exception {
    two.columns = 39;
    two.type("/lex");
    two.press(Key.Kind.ENTER);
    assertEquals("searching…", two.state.message());
    two.columns = 80;
    two.arrive();
    assertEquals("lex", selected());
  }

  @Test
  void functions_showTheFileWithTheKeys() throws Exception {
    split();
    two.type("w4");
    assertEquals(2, active());
    assertFalse(two.line("jit").isEmpty());
    two.type("w");
    assertEquals("one file is shown here; the graph shows both", two.state.message());
    two.type("1");
    assertNotNull(two.scene().other);
  }

  @Test
  void badLinesAndEmptyFiles_areSaidOfTheirFile() throws Exception {
    file("bad.folded", "x;main 3\nthis is none\n");
    file("empty.folded", "");
    split("bad.folded", "empty.folded");
    String first = two.scene().notices().get(0);
    assertTrue(first.matches(".*bad\\.folded: 1 line is no stack and left out, .*"), first);
    assertTrue(two.line("is empty").endsWith("(2 notices; ? shows them)"), two.line("is empty"));
    two.type("w");
    assertEquals(first, two.scene().notices().get(0));
    two.press(Key.Kind.DOWN, Key.Kind.ENTER, Key.Kind.LEFT);
    two.type("w");
    assertEquals("all", selected());
  }
}

package flametop.view;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.profile.Shape;
import flametop.profile.Snapshot;
import flametop.profile.StackFile;
import flametop.profile.StackInput;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The keys that give the graph of a file another shape. */
class FileShapeTest {
  @TempDir Path folder;

  private StackFile file;
  private ViewState state = FilePictures.state();

  @BeforeEach
  void open() throws Exception {
    Path path =
        Files.writeString(
            folder.resolve("a.folded"), "x;main;a;lib`f 6\nx;main;b;b;b 3\ny;main;a 1\n");
    file = new StackFile(StackInput.open(path), 1, 1);
    file.whole().get();
  }

  @AfterEach
  void close() {
    file.close();
  }

  private Scene scene() throws Exception {
    Snapshot snapshot;
    do {
      snapshot = file.snapshot(state.query(80)).get();
    } while (snapshot.refolding());
    return Scene.of(snapshot, state, 80, 24, FilePictures.options(false));
  }

  private void press(Key... keys) throws Exception {
    for (Key key : keys) {
      state = Keys.press(scene(), key).state();
      file.shape(state.shape());
      state = scene().settled();
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
  void g_putsStacksOfAllTogether() throws Exception {
    type("g");
    assertEquals(List.of("all", "main", "a", "lib`f", "b", "b", "b"), names());
    type("g");
    assertEquals(Shape.PLAIN, state.shape());
  }

  @Test
  void two_showsCallersAndOneTheGraph() throws Exception {
    type("2");
    assertEquals("b", names().get(2));
    assertTrue(state.message().startsWith("callers"), state.message());
    type("1");
    assertEquals(Shape.PLAIN, state.shape());
    type("1");
    assertTrue(state.message().startsWith("this is the graph"), state.message());
  }

  @Test
  void m_collapsesAModuleThatTheNameSays() throws Exception {
    press(down(), down(), down());
    type("M");
    assertTrue(state.message().contains("does not say its module"), state.message());
    press(down());
    type("M");
    assertTrue(names().contains("[lib]"), names().toString());
  }

  @Test
  void whatStacksDoNotKnow_isRefusedWithASentence() throws Exception {
    for (char key : "Hopc678".toCharArray()) {
      type(String.valueOf(key));
      assertEquals(Shape.PLAIN, state.shape());
      assertTrue(state.pick() != null || state.message().contains("stacks"), key + state.message());
      state = state.withPick(null);
    }
  }
}

package flametop.view.screen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.profile.answer.GraphQuery;
import flametop.profile.answer.Snapshot;
import flametop.profile.file.StackFile;
import flametop.profile.file.StackInput;
import flametop.view.base.Key;
import flametop.view.keys.GraphKeys;
import flametop.view.layout.Geometry;
import flametop.view.layout.Scene;
import flametop.view.state.Questions;
import flametop.view.state.ViewState;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Runs of frames too thin to draw: opening them leads to each. */
class RunTest {
  /** So often a run is opened until each frame has a box: weights halve at the least. */
  private static final int MOST_OPENED = 40;

  @TempDir Path folder;

  private StackFile file;
  private ViewState state = FilePictures.state();
  private int columns = 200;

  private void open(String text) throws Exception {
    Path path = Files.writeString(folder.resolve("a.folded"), text);
    file = new StackFile(StackInput.open(path), 1, 1, StackFile.Choice.comm(true));
    file.whole().get();
  }

  /** A function that calls 50,000 others. */
  private void openWide() throws Exception {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < 50_000; i++) {
      text.append("main;").append(name(i)).append(" 1\n");
    }
    open(text.toString());
  }

  private Scene scene() throws Exception {
    Snapshot snapshot = file.snapshot(Questions.picture(state, columns)).get();
    return Scene.of(snapshot, state, columns, 40, FilePictures.options(false));
  }

  private Scene press(Key.Kind kind) throws Exception {
    state = Keys.press(scene(), Key.of(kind)).state();
    state = scene().settled();
    return scene();
  }

  private static String name(long child) {
    return String.format(Locale.ROOT, "child%05d", child);
  }

  private String selected(Scene scene) {
    return scene.state.place().run()
        ? ""
        : scene.snapshot.graph().name()[scene.snapshot.graph().find(state.selected())];
  }

  /** By Enter, Left and Right; returns how many keys it took. */
  private int select(long child) throws Exception {
    int keys = 1;
    Scene scene = press(Key.Kind.DOWN);
    while (!selected(scene).equals(name(child))) {
      Geometry g = scene.geometry;
      int box = scene.selectedBox;
      assertTrue(++keys < 600, "reached");
      if (g.level(box) < 2) {
        scene = press(Key.Kind.DOWN);
        continue;
      }
      int last = box;
      while (last + 1 < g.size() && g.level(last + 1) == g.level(box)) {
        last++;
      }
      String next = box < last ? g.slice().name()[Math.max(0, g.node(box + 1))] : "z";
      String own = g.node(box) < 0 ? "" : g.slice().name()[g.node(box)];
      if (own.compareTo(name(child)) > 0) {
        scene = press(Key.Kind.LEFT);
      } else if (next.compareTo(name(child)) <= 0) {
        scene = press(Key.Kind.RIGHT);
      } else {
        assertTrue(g.isRun(box), "it is where the names are");
        scene = press(Key.Kind.ENTER);
      }
    }
    return keys;
  }

  @ParameterizedTest
  @ValueSource(ints = {40, 80, 200})
  void enter_onFiftyThousandChildren_leadsToEach(int width) throws Exception {
    columns = width;
    openWide();
    Random random = new Random(width);
    for (int i = 0; i < 12; i++) {
      state = FilePictures.state();
      long child = i == 0 ? 0 : i == 1 ? 49_999 : random.nextInt(50_000);
      int keys = select(child);
      // A few levels of at most as many boxes as there are columns.
      assertTrue(keys <= 3 * width + 30, child + " took " + keys);
    }
  }

  /** Every run of every picture is opened; whatever has a box of its own is found. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6})
  void enter_onAnyWeights_leadsToEach(long seed) throws Exception {
    Random random = new Random(seed);
    columns = 40 + random.nextInt(100);
    int children = 1 + random.nextInt(3_000);
    double spread = random.nextInt(3) * 10;
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < children; i++) {
      long weight = 1 + (long) Math.exp(random.nextDouble() * spread);
      text.append(name(i)).append(' ').append(weight).append('\n');
    }
    open(text.toString());
    Set<String> found = new HashSet<>();
    openAll(found, 0);
    assertEquals(children, found.size());
  }

  private void openAll(Set<String> found, int opened) throws Exception {
    assertTrue(opened < MOST_OPENED, "runs become smaller");
    ViewState here = state;
    Scene scene = scene();
    Geometry g = scene.geometry;
    for (int box = 1; box < g.size(); box++) {
      if (!g.isRun(box)) {
        found.add(g.slice().name()[g.node(box)]);
        continue;
      }
      int held = g.more(box);
      state =
          Keys.press(sceneOf(scene, GraphKeys.selectBox(scene, here, box)), Key.of(Key.Kind.ENTER))
              .state();
      Scene inside = scene();
      int shown = 0;
      int boxes = 0;
      for (int i = 1; i < inside.geometry.size(); i++) {
        shown += Math.max(1, inside.geometry.more(i));
        boxes++;
      }
      assertEquals(held, shown, "all of them and no other");
      assertTrue(held == 1 || boxes > 1, "opening divides");
      openAll(found, opened + 1);
      state = here;
    }
  }

  private Scene sceneOf(Scene scene, ViewState of) {
    return Scene.of(scene.snapshot, of, columns, 40, FilePictures.options(false));
  }

  @Test
  void enter_again_selectsTheFirstThatTheRunHeld() throws Exception {
    openWide();
    press(Key.Kind.DOWN);
    Scene scene = press(Key.Kind.DOWN);
    for (int i = 0; i < MOST_OPENED && scene.state.place().run(); i++) {
      scene = press(Key.Kind.ENTER);
    }
    assertEquals(name(0), selected(scene));
  }

  @Test
  void enter_onARunOfOne_showsItOverTheWidth() throws Exception {
    open("a 1000000\nb 1\nc 1000000\n");
    Scene scene = press(Key.Kind.DOWN);
    scene = selected(scene).equals("a") ? press(Key.Kind.RIGHT) : press(Key.Kind.LEFT);
    assertTrue(scene.geometry.isRun(scene.selectedBox));
    scene = press(Key.Kind.ENTER);
    assertEquals("b", selected(scene));
    assertEquals(List.of(GraphQuery.ROOT, state.selected()), state.place().trail());
    press(Key.Kind.ESCAPE);
    assertTrue(state.zooms().isEmpty());
  }
}

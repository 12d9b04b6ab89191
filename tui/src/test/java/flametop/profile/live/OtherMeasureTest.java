package flametop.profile.live;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.export.StackExport;
import flametop.export.StackFormat;
import flametop.profile.answer.Extract;
import flametop.profile.answer.FoldedStack;
import flametop.profile.answer.GraphQuery;
import flametop.profile.answer.Measure;
import flametop.profile.answer.Moment;
import flametop.profile.answer.Page;
import flametop.profile.answer.Shape;
import flametop.profile.answer.Snapshot;
import flametop.profile.answer.StateSet;
import flametop.profile.tree.Options;
import flametop.sampler.State;
import flametop.view.base.Action;
import flametop.view.base.Colouring;
import flametop.view.base.Key;
import flametop.view.base.View;
import flametop.view.layout.Geometry;
import flametop.view.layout.HelpLayout;
import flametop.view.layout.KeyLine;
import flametop.view.layout.Scene;
import flametop.view.screen.Keys;
import flametop.view.screen.Painter;
import flametop.view.screen.PictureText;
import flametop.view.screen.Pictures;
import flametop.view.state.Questions;
import flametop.view.state.ViewState;
import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A log of another measure than time: from the log to the screen and into exports. */
class OtherMeasureTest extends ProfileFixture {
  private static final int COLUMNS = 160;

  private final ViewState state =
      ViewState.initial(StateSet.ALL, Shape.PLAIN, 19, 99, 1).withMoment(Moment.ALL);

  OtherMeasureTest() {
    super("0", new Options(Shape.PLAIN, Options.DEFAULT_HISTORY_BYTES, true, false, Measure.BYTES));
  }

  /** A process to which 1,000,000,000 are placed. */
  @BeforeEach
  void log() {
    Batch batch =
        new Batch(0, 1_000, true)
            .program(0, 10, "reader")
            .app("main", "fetch")
            .stack(0, 0, 1)
            .changed(1_000, 0, 0, 0, State.SLEEP, 1);
    send(batch);
    send(new Batch(1, 2_000, true));
  }

  private Scene scene(ViewState of) throws Exception {
    Page page =
        Questions.page(of, COLUMNS) == null ? null : get(profile.page(Questions.page(of, COLUMNS)));
    Snapshot snapshot = picture(Questions.picture(of, COLUMNS));
    assertEquals(Measure.BYTES, snapshot.measure());
    return Scene.of(snapshot, page, of, COLUMNS, 40, Pictures.options());
  }

  private String screen(ViewState of) throws Exception {
    return PictureText.of(scene(of));
  }

  @Test
  void graph_ofBytes_showsSizesAndNoStates() throws Exception {
    Snapshot snapshot = picture(Questions.picture(state, COLUMNS));
    assertEquals(1_000_000_000, snapshot.total());
    int fetch = Arrays.asList(snapshot.graph().name()).indexOf("fetch");
    long node = snapshot.graph().node()[fetch];
    String screen = screen(state.withSelected(node, List.of(GraphQuery.ROOT, node)));
    assertTrue(screen.contains("953.7 MiB"), screen);
    assertFalse(screen.contains("asleep 100%"), screen);
    assertFalse(screen.contains("0.00 cpu"), screen);
  }

  @Test
  void functions_ofBytes_haveAColumnOfSizes() throws Exception {
    String screen = screen(state.withView(View.TOP));
    assertTrue(screen.contains("bytes"), screen);
    assertTrue(screen.contains("953.7 MiB"), screen);
  }

  @Test
  void keysAboutStates_ofBytes_sayThatOnlyTimeHasStates() throws Exception {
    for (Action action : List.of(Action.STATES, Action.COLOUR, Action.PICK_STATE)) {
      Scene scene = scene(state);
      Key key = Pictures.options().keymap().keys(action).get(0);
      ViewState next = Keys.press(scene, key).state();
      assertEquals("only time has states; this graph is of bytes", next.message(), action.id());
      assertEquals(state.states(), next.states());
      assertEquals(state.colouring(), next.colouring());
      assertNull(next.pick());
      assertTrue(
          KeyLine.of(scene).zones().stream().noneMatch(zone -> zone.what() == action), action.id());
      assertTrue(
          HelpLayout.of(scene, List.of()).lines().stream()
              .noneMatch(
                  zone ->
                      zone.what() instanceof HelpLayout.Line.Entry entry
                          && entry.text().equals(action.help())
                          && entry.keys().contains(key.symbol())),
          action.id());
    }
  }

  @Test
  void coloursByState_ofBytes_areThoseOfKinds() throws Exception {
    Scene scene = scene(state.withColouring(Colouring.STATE));
    assertEquals(Colouring.KIND, scene.colouring());
    assertEquals(screen(state), screen(state.withColouring(Colouring.STATE)));
    int fetch = Arrays.asList(scene.snapshot.graph().name()).indexOf("fetch");
    int box = scene.geometry.boxOf(fetch);
    int x = scene.geometry.right(box) / Geometry.CELL - 2;
    int y = scene.plot.rowOf(scene.geometry.level(box));
    assertEquals(
        Colouring.KIND.paint(scene.snapshot.graph(), fetch), Painter.paint(scene).background(x, y));
  }

  @Test
  void export_ofBytes_saysTheUnitAndCountsToTheDigit() throws Exception {
    Extract extract = extract();
    StackExport export = export(extract);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    assertEquals(1, StackFormat.FOLDED.write(export, out));
    List<String> lines = out.toString(UTF_8).lines().toList();
    assertEquals("# unit: bytes", lines.get(0));
    assertEquals("reader;main;fetch 1000000000", lines.get(lines.size() - 1));
    assertEquals("1 stacks, 1,000,000,000 bytes", export.describe(1));
    for (FoldedStack stack : extract.stacks()) {
      assertEquals(1_000_000_000, stack.value());
    }
  }
}

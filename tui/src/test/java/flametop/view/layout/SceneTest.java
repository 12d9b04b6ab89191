package flametop.view.layout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.profile.answer.Snapshot;
import flametop.view.base.CellGrid;
import flametop.view.base.TextWidth;
import flametop.view.screen.Painter;
import flametop.view.screen.PictureText;
import flametop.view.screen.Pictures;
import flametop.view.screen.Reports;
import flametop.view.screen.Tree;
import flametop.view.screen.Trees;
import flametop.view.state.PaintOptions;
import flametop.view.state.PickList;
import flametop.view.state.Search;
import flametop.view.state.ViewState;
import java.util.List;
import java.util.Random;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class SceneTest {
  @Test
  void paint_anySize_keepsLiveMarkAndLeavesOutHealthBeforeTargetWindowAndStates() {
    Tree tree = Trees.server();
    ViewState state = Pictures.state();
    for (int columns = 40; columns <= 220; columns++) {
      String header = PictureText.row(Pictures.scene(tree, state, columns, 24), 0);
      assertTrue(header.contains("● live 00:42"), header);
      if (columns >= 80 || header.contains("cost  1.4%") || header.contains("lost 0")) {
        assertTrue(header.contains(" all tasks "), header);
        assertTrue(header.contains(" busy "), header);
        assertTrue(header.contains(" 30 s "), header);
        assertTrue(header.matches(".*run +3 .* 1 .* 0 .* 408.*"), header);
      }
      if (columns >= 60) {
        assertTrue(header.contains("30 s"), header);
      }
    }
  }

  @Test
  void help_graph_explainsHeaderColoursAndMouseInWords() {
    ViewState state = Pictures.state().withHelp(true);
    String text = PictureText.of(Pictures.scene(Trees.server(), state, 200, 60));
    for (String words :
        List.of(
            "cut stacks +stacks with missing frames",
            "late +passes that began late",
            "cost +flametop's share of one CPU",
            "■no name +function without a symbol",
            "■cut short +\\[why\\]: frames are missing",
            "two clicks +zoom in")) {
      assertTrue(Pattern.compile(words).matcher(text).find(), () -> words + "\n" + text);
    }
  }

  @Test
  void paint_randomSizesAndMachines_neverFails() {
    Random random = new Random(3);
    for (int i = 0; i < 300; i++) {
      int columns = 1 + random.nextInt(250);
      int rows = 1 + random.nextInt(80);
      Tree tree =
          random.nextBoolean()
              ? Trees.server()
              : random.nextBoolean() ? Trees.hostile() : Trees.deep(1 + random.nextInt(200));
      ViewState state = Pictures.state();
      state = random.nextBoolean() ? state.flipped() : state;
      state = random.nextInt(4) == 0 ? state.withHelp(true) : state;
      state =
          random.nextInt(4) == 0
              ? state.withPick(PickList.open(PickList.Of.COMMS).withRows(Reports.processes()))
              : state;
      state =
          random.nextInt(4) == 0 ? state.withSearch(Search.of("e+", random.nextBoolean())) : state;
      Snapshot snapshot =
          Pictures.snapshot(
              tree,
              state,
              columns,
              Reports.cpus(1 + random.nextInt(300)),
              List.of("no cpuidle here: a virtual machine"));
      CellGrid grid = Painter.paint(Scene.of(snapshot, state, columns, rows, Pictures.options()));
      for (int y = 0; y < rows; y++) {
        int at = y;
        // The second cell of a wide character is a blank in the text.
        long second = IntStream.range(0, columns).filter(x -> grid.codePoint(x, at) == 0).count();
        assertEquals(
            columns + second, TextWidth.of(PictureText.row(grid, y)), "each row fills the width");
      }
    }
  }

  @Test
  void paint_windowThatBeganWhenToldTo_headerSaysTheTimeAtEachWidth() {
    ViewState state = Pictures.state();
    ViewState since = state.withMoment(state.moment().beginningAt(5_000_000_000L));
    for (int columns : new int[] {80, 120, 200}) {
      String header = PictureText.row(Pictures.scene(Trees.server(), since, columns, 24), 0);
      assertTrue(header.matches(".* since [0-2][0-9]:[0-5][0-9]:[0-5][0-9] .*"), header);
    }
  }

  @Test
  void paint_idleMachine_saysWhatSleeps() {
    ViewState state = Pictures.state();
    String text = PictureText.of(Pictures.scene(Trees.idle(), state, 80, 24));
    assertTrue(text.contains("nothing is busy; o shows the 408 that sleep"), text);
  }

  @Test
  void paint_ascii_hasNothingElse() {
    PaintOptions ascii = Pictures.options(true, true);
    ViewState state = Pictures.state();
    CellGrid grid =
        Painter.paint(
            Scene.of(Pictures.snapshot(Trees.hostile(), state, 80), state, 80, 24, ascii));
    for (int y = 0; y < 24; y++) {
      for (int x = 0; x < 80; x++) {
        int c = grid.codePoint(x, y);
        assertTrue(c >= 0x20 && c < 0x7f, "code point " + c);
      }
    }
  }
}

package flametop.view.screen;

import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.view.state.ViewState;
import org.junit.jupiter.api.Test;

/** What to do about missing frames and names stands below the selected frame. */
class HintTest {
  @Test
  void paint_frameWithARemedy_isWholeAt80Columns() {
    Tree tree = new Tree();
    tree.stack(600, "node", "?[jit]");
    says(
        tree, "[jit]", "to see its name: start node with --perf-basic-prof, python3 with -X perf ");
  }

  private static void says(Tree tree, String frame, String hint) {
    ViewState state = Pictures.selecting(Pictures.state(), tree, "node", frame);
    String text = PictureText.of(Pictures.scene(tree, state, 80, 24));
    assertTrue(text.contains(hint), text);
  }
}

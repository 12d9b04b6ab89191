package flametop.view.screen;

import flametop.view.base.Key;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Frames of two files side by side. */
final class SplitPictures {
  private static final Path STACKS = Path.of("src/test/resources/flametop/stacks");

  private SplitPictures() {}

  static List<Pictures.Frame> golden() {
    List<Pictures.Frame> frames = new ArrayList<>();
    for (int[] size : new int[][] {{80, 24}, {120, 34}, {200, 60}}) {
      String of = "-" + size[0] + "x" + size[1];
      frames.add(graph("split" + of, size, false));
      frames.add(frame("split-zoomed" + of, size, false, "deflate\r", "\r"));
      frames.add(frame("split-callers" + of, size, false, "Tax\\.rate\r", "2w"));
      frames.add(frame("split-sandwich" + of, size, false, "ngx_process_events\r", "s"));
    }
    int[] usual = {80, 24};
    frames.add(frame("split-search-80x24", usual, false, "ngx\r", "/http"));
    frames.add(frame("split-flame-80x24", usual, false, "Price.of\r", "iw"));
    frames.add(frame("split-help-80x24", usual, false, "", "?"));
    frames.add(graph("split-plain-80x24", usual, true));
    return frames;
  }

  /** What both have is selected. */
  static Pictures.Frame graph(String name, int[] size, boolean plain) {
    return frame(name, size, plain, "com.shop.Price.of\r", "");
  }

  /**
   * @param sought the name to go to, with the key that ends it; empty: none
   * @param keys pressed then
   */
  private static Pictures.Frame frame(
      String name, int[] size, boolean plain, String sought, String keys) {
    try (TwoFiles two =
        new TwoFiles(
            size[0], size[1], STACKS.resolve("before.folded"), STACKS.resolve("now.folded"))) {
      two.options = FilePictures.options(plain);
      two.type("|");
      if (!sought.isEmpty()) {
        type(two, "/" + sought);
        two.press(Key.Kind.ESCAPE);
      }
      type(two, keys);
      two.state = two.state.withoutMessage();
      return new Pictures.Frame(name, two.scene());
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  private static void type(TwoFiles two, String keys) throws Exception {
    for (int c : keys.chars().toArray()) {
      two.press(c == '\r' ? Key.of(Key.Kind.ENTER) : Key.of(c));
    }
  }
}

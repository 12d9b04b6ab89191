package flametop.view.screen;

import flametop.profile.answer.Function;
import flametop.profile.answer.NodeKind;
import flametop.profile.answer.Page;
import flametop.profile.answer.PageQuery;
import flametop.profile.answer.Snapshot;
import flametop.view.base.View;
import flametop.view.layout.Scene;
import flametop.view.state.PaintOptions;
import flametop.view.state.Questions;
import flametop.view.state.ViewState;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Every view as it usually is. */
public final class ViewPictures {
  /** Columns and rows, from the least to a large screen. */
  public static int[][] sizes() {
    return new int[][] {{40, 10}, {80, 24}, {120, 30}, {160, 40}, {200, 60}};
  }

  private ViewPictures() {}

  /**
   * A frame of each view, named by it.
   *
   * @param plain for a terminal without colours
   */
  public static List<Pictures.Frame> all(int columns, int rows, boolean plain) {
    PaintOptions options = Pictures.options(false, plain);
    List<Pictures.Frame> frames = new ArrayList<>();
    for (View view : View.values()) {
      Scene scene = scene(view, columns, rows, options);
      frames.add(new Pictures.Frame(view.name().toLowerCase(Locale.ROOT), Painter.paint(scene)));
    }
    frames.addAll(FilePictures.inEveryView(columns, rows, plain));
    return frames;
  }

  /** A view with a function selected, if it has any, and a page. */
  public static Scene scene(View view, int columns, int rows, PaintOptions options) {
    boolean callers = view == View.CALLERS;
    Tree tree = callers ? Trees.server().reversed() : Trees.server();
    ViewState server = Pictures.selecting(Pictures.state(), Trees.server(), Pictures.readQuery());
    ViewState state =
        callers
            ? ShapePictures.callers(tree)
            : view == View.SANDWICH
                ? server.withSandwich(new Function(NodeKind.KERNEL, "[kernel]", "entry_SYSCALL_64"))
                : server.withView(view);
    Snapshot snapshot = Pictures.snapshot(tree, state, columns);
    PageQuery query = Questions.page(state, columns);
    Page page = query == null ? null : new Machine().page(query).join();
    return Scene.of(snapshot, page, state, columns, rows, options);
  }
}

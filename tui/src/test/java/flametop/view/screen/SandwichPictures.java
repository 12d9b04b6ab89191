package flametop.view.screen;

import static flametop.view.screen.Pictures.byState;

import flametop.Copy;
import flametop.profile.answer.Function;
import flametop.profile.answer.GraphQuery;
import flametop.profile.answer.GraphSlice;
import flametop.profile.answer.NodeKind;
import flametop.profile.answer.Sandwich;
import flametop.profile.answer.SandwichQuery;
import flametop.profile.answer.Selection;
import flametop.profile.answer.Snapshot;
import flametop.view.base.Colouring;
import flametop.view.base.Key;
import flametop.view.base.Prompt;
import flametop.view.base.View;
import flametop.view.layout.Scene;
import flametop.view.screen.Pictures.Frame;
import flametop.view.state.PaintOptions;
import flametop.view.state.Questions;
import flametop.view.state.Search;
import flametop.view.state.ViewState;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** Sandwiches of functions of machines made by hand. */
public final class SandwichPictures {
  private SandwichPictures() {}

  static List<Frame> golden() {
    List<Frame> frames = new ArrayList<>();
    Tree server = Trees.server();
    ViewState syscall = of("entry_SYSCALL_64", NodeKind.KERNEL, "[kernel]");
    ViewState plan = of("ExecutePlan", NodeKind.USER, "postgres");
    Tree deep = Trees.deep(90);
    ViewState middle = of(middle(deep), NodeKind.USER, "deep");
    for (String size : List.of("40x10", "80x24", "120x34", "200x60")) {
      frames.add(frame("sandwich-" + size, server, syscall));
      frames.add(frame("sandwich-callees-" + size, server, plan));
      frames.add(frame("sandwich-deep-" + size, deep, middle));
    }
    ViewState none = Pictures.state().withView(View.SANDWICH);
    frames.add(frame("sandwich-none-80x24", server, none));
    frames.add(frame("sandwich-none-40x10", server, none));
    ViewState gone = of("gone", NodeKind.USER, "libgone.so");
    frames.add(frame("sandwich-gone-80x24", server, gone));
    frames.add(frame("sandwich-outermost-80x24", server, of("main", NodeKind.USER, "nginx")));
    ViewState reason = of("[jit without frame pointers]", NodeKind.REASON, "");
    frames.add(frame("sandwich-reason-120x34", server, reason));
    ViewState leaf = of("tcp_write_xmit", NodeKind.KERNEL, "[ip]");
    frames.add(frame("sandwich-leaf-80x24", server, leaf));
    int[] small = {80, 24};
    frames.add(frame("sandwich-caller-80x24", server, press(server, syscall, small, "up")));
    ViewState zoomed = press(server, syscall, new int[] {120, 34}, "up", "up", "enter");
    frames.add(frame("sandwich-zoomed-120x34", server, zoomed));
    Search search = new Search(Prompt.of("tcp"), false, Pattern.compile("tcp"), "", 0);
    frames.add(frame("sandwich-search-120x34", server, syscall.withSearch(search)));
    frames.add(frame("sandwich-help-80x24", server, syscall.withHelp(true)));
    ViewState frozen = Pictures.frozen(syscall).withColouring(Colouring.STATE);
    frames.add(frame("sandwich-frozen-by-state-120x34", server, frozen));
    for (boolean ascii : new boolean[] {false, true}) {
      String name = ascii ? "sandwich-ascii-80x24" : "sandwich-plain-80x24";
      PaintOptions options = Pictures.options(ascii, true);
      frames.add(new Frame(name, scene(server, syscall, small, options, false)));
    }
    Scene folding = scene(server, syscall, small, Pictures.options(), true);
    frames.add(new Frame("sandwich-folding-80x24", folding));
    return frames;
  }

  private static String middle(Tree deep) {
    return deep.nodes.get(deep.nodes.size() / 2).name;
  }

  public static ViewState of(String function, NodeKind kind, String module) {
    return Pictures.state().withSandwich(new Function(kind, module, function));
  }

  /** The state after some keys. */
  private static ViewState press(Tree tree, ViewState state, int[] size, String... keys) {
    ViewState s = state;
    for (String key : keys) {
      s = Keys.press(scene(tree, s, size), Key.parse(key)).state();
    }
    return s;
  }

  private static Frame frame(String name, Tree tree, ViewState state) {
    return new Frame(name, scene(tree, state, Pictures.size(name)));
  }

  public static Scene scene(Tree tree, ViewState state, int[] size) {
    return scene(tree, state, size, Pictures.options(), false);
  }

  private static Scene scene(
      Tree tree, ViewState state, int[] size, PaintOptions options, boolean refolding) {
    Snapshot snapshot = Pictures.snapshot(tree, state, size[0]);
    Sandwich page =
        Questions.page(state, size[0]) instanceof SandwichQuery query
            ? page(tree, query, state.sandwich().below(), refolding)
            : null;
    return Scene.of(snapshot, page, state, size[0], size[1], options);
  }

  /**
   * What the profile would say.
   *
   * @param inCallees whose the selected node is
   */
  static Sandwich page(Tree tree, SandwichQuery query, boolean inCallees, boolean refolding) {
    Tree callers = tree.half(query.function().name(), true);
    Tree callees = tree.half(query.function().name(), false);
    GraphQuery above = query(query, query.callers());
    GraphQuery below = query(query, query.callees());
    Tree selected = inCallees ? callees : callers;
    boolean some = callees.nodes.size() > 1;
    long asked = query.selected() == GraphQuery.ROOT && some ? 1 : query.selected();
    Tree of = query.selected() == GraphQuery.ROOT ? callees : selected;
    Selection selection =
        of.selection(
            Copy.of(below, "selected", asked),
            query.function().module(),
            1,
            812,
            "/usr/bin/redis-server 127.0.0.1:6379",
            byState(of.nodes.get((int) asked).weight));
    long self = 0;
    GraphSlice slice = callees.slice(query(query, GraphQuery.ROOT));
    for (int i = 1; i < slice.size(); i++) {
      self +=
          slice.parent()[i] == 0
              ? slice.weight()[i]
              : slice.parent()[i] == 1 ? -slice.weight()[i] : 0;
    }
    return new Sandwich(
        query.function(),
        callers.slice(above),
        callees.slice(below),
        callees.root.weight,
        self,
        byState(callees.root.weight),
        selection,
        query.search(),
        refolding);
  }

  private static GraphQuery query(SandwichQuery query, long zoom) {
    return new GraphQuery(
        query.states(),
        zoom,
        GraphQuery.ROOT,
        query.columns(),
        query.levels(),
        query.search(),
        query.byState(),
        null,
        false);
  }
}

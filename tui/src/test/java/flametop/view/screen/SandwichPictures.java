package flametop.view.screen;

import flametop.profile.answer.Function;
import flametop.profile.answer.GraphQuery;
import flametop.profile.answer.GraphSlice;
import flametop.profile.answer.NodeKind;
import flametop.profile.answer.Sandwich;
import flametop.profile.answer.SandwichQuery;
import flametop.profile.answer.Selection;
import flametop.profile.answer.Snapshot;
import flametop.sampler.State;
import flametop.view.base.Colouring;
import flametop.view.base.Key;
import flametop.view.base.Prompt;
import flametop.view.base.View;
import flametop.view.layout.Scene;
import flametop.view.state.PaintOptions;
import flametop.view.state.Questions;
import flametop.view.state.Search;
import flametop.view.state.ViewState;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** Sandwiches of functions of machines made by hand. */
public final class SandwichPictures {
  private static final int[][] SIZES = {{40, 10}, {80, 24}, {120, 34}, {200, 60}};

  private SandwichPictures() {}

  static List<Pictures.Frame> golden() {
    List<Pictures.Frame> frames = new ArrayList<>();
    Tree server = Trees.server();
    ViewState syscall = of("entry_SYSCALL_64", NodeKind.KERNEL, "[kernel]");
    ViewState plan = of("ExecutePlan", NodeKind.USER, "postgres");
    Tree deep = Trees.deep(90);
    ViewState middle = of(middle(deep), NodeKind.USER, "deep");
    for (int[] size : SIZES) {
      String of = "-" + size[0] + "x" + size[1];
      frames.add(frame("sandwich" + of, server, syscall, size));
      frames.add(frame("sandwich-callees" + of, server, plan, size));
      frames.add(frame("sandwich-deep" + of, deep, middle, size));
    }
    int[] small = {80, 24};
    int[] wide = {120, 34};
    ViewState none = Pictures.state().withView(View.SANDWICH);
    frames.add(frame("sandwich-none-80x24", server, none, small));
    frames.add(frame("sandwich-none-40x10", server, none, SIZES[0]));
    frames.add(
        frame("sandwich-gone-80x24", server, of("gone", NodeKind.USER, "libgone.so"), small));
    frames.add(
        frame("sandwich-outermost-80x24", server, of("main", NodeKind.USER, "nginx"), small));
    frames.add(
        frame(
            "sandwich-reason-120x34",
            server,
            of("[jit without frame pointers]", NodeKind.REASON, ""),
            wide));
    frames.add(
        frame("sandwich-leaf-80x24", server, of("tcp_write_xmit", NodeKind.KERNEL, "[ip]"), small));
    frames.add(frame("sandwich-caller-80x24", server, press(server, syscall, small, "up"), small));
    frames.add(
        frame(
            "sandwich-zoomed-120x34",
            server,
            press(server, syscall, wide, "up", "up", "enter"),
            wide));
    Search search = new Search(Prompt.of("tcp"), false, Pattern.compile("tcp"), "", 0);
    frames.add(frame("sandwich-search-120x34", server, syscall.withSearch(search), wide));
    frames.add(frame("sandwich-help-80x24", server, syscall.withHelp(true), small));
    ViewState frozen = Pictures.frozen(syscall).withColouring(Colouring.STATE);
    frames.add(frame("sandwich-frozen-by-state-120x34", server, frozen, wide));
    for (boolean ascii : new boolean[] {false, true}) {
      PaintOptions options = Pictures.options(ascii, true);
      frames.add(
          new Pictures.Frame(
              "sandwich-" + (ascii ? "ascii" : "plain") + "-80x24",
              Painter.paint(scene(server, syscall, small, options, false))));
    }
    frames.add(
        new Pictures.Frame(
            "sandwich-folding-80x24",
            Painter.paint(scene(server, syscall, small, Pictures.options(), true))));
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

  private static Pictures.Frame frame(String name, Tree tree, ViewState state, int[] size) {
    return new Pictures.Frame(name, Painter.paint(scene(tree, state, size)));
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
    GraphQuery asked =
        query.selected() == GraphQuery.ROOT && some
            ? selecting(below, 1)
            : selecting(below, query.selected());
    Tree of = query.selected() == GraphQuery.ROOT ? callees : selected;
    Selection selection =
        of.selection(
            asked,
            query.function().module(),
            1,
            812,
            "/usr/bin/redis-server 127.0.0.1:6379",
            byState(of.nodes.get((int) asked.selected()).weight));
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

  private static long[] byState(long weight) {
    long[] byState = new long[State.values().length];
    byState[State.RUN.ordinal()] = weight * 71 / 100;
    byState[State.QUEUED.ordinal()] = weight * 3 / 100;
    byState[State.SLEEP.ordinal()] = weight * 26 / 100;
    return byState;
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

  private static GraphQuery selecting(GraphQuery query, long node) {
    return new GraphQuery(
        query.states(),
        query.zoom(),
        node,
        query.columns(),
        query.levels(),
        query.search(),
        query.byState(),
        null,
        false);
  }
}

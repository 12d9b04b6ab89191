package flametop.view.screen;

import static flametop.view.screen.Pictures.frame;
import static flametop.view.screen.Pictures.selecting;

import flametop.profile.answer.Function;
import flametop.profile.answer.NodeKind;
import flametop.profile.answer.RootOrder;
import flametop.profile.answer.Shape;
import flametop.profile.answer.Snapshot;
import flametop.profile.answer.StateSet;
import flametop.sampler.State;
import flametop.view.base.View;
import flametop.view.keys.PickKeys;
import flametop.view.layout.Scene;
import flametop.view.state.ViewState;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Frames of graphs that were given another shape, and of the lists that do so. */
public final class ShapePictures {
  private static final String READ_QUERY = "readQueryFromClient";

  private ShapePictures() {}

  static List<Pictures.Frame> golden() {
    List<Pictures.Frame> frames = new ArrayList<>();
    Tree server = Trees.server();
    Tree reversed = server.reversed();
    ViewState shaped = selecting(Pictures.state(), server, Pictures.readQuery()).withShape(steps());
    ViewState hostile = Pictures.state().withShape(hostile());
    for (String size : List.of("40x10", "80x24", "120x34", "200x60")) {
      frames.add(frame("shaped-" + size, server, shaped));
      frames.add(frame("callers-" + size, reversed, callers(reversed)));
      frames.add(frame("shaped-hostile-" + size, Trees.hostile(), hostile));
    }
    frames.add(frame("callers-shaped-80x24", reversed, callers(reversed).withShape(steps())));
    frames.add(frame("shaped-empty-80x24", new Tree(), Pictures.state().withShape(steps())));
    List<String> notice = List.of("no CPU clock: perf_event_open failed");
    Snapshot noticed = Pictures.snapshot(server, shaped, 80, Reports.cpus(2), notice);
    frames.add(frame("shaped-noticed-80x24", noticed, shaped));
    Scene scene = Pictures.scene(server, Pictures.state(), 80, 24);
    ViewState states = PickKeys.states(scene, Pictures.state()).state();
    frames.add(frame("pick-states-80x24", server, states));
    ViewState marked =
        Pictures.state().withShape(Shape.of(new Shape.Cpus(Set.of(1, 3, 40), false)));
    for (int count : new int[] {2, 16, 128, 512}) {
      Snapshot many = Pictures.snapshot(server, marked, 80, Reports.crowd(count), List.of());
      frames.add(frame("panel-marked-" + count + "-80x24", many, marked));
      if (count == 16) {
        Scene of = Scene.of(many, marked, 80, 24, Pictures.options());
        frames.add(frame("pick-cpus-80x24", many, PickKeys.cpus(of, marked).state()));
      }
    }
    Tree idle = idle();
    ViewState all = selecting(Pictures.state().withStates(StateSet.ALL), idle, "nginx", "[idle]");
    for (String size : List.of("40x10", "80x24", "120x22", "200x60")) {
      frames.add(frame("folded-" + size, idle, all));
    }
    ViewState shown = all.withShape(Shape.of(new Shape.ShowIdle()));
    frames.add(frame("folded-shown-80x24", server, shown));
    ViewState folded = Pictures.state().withShape(Shape.of(new Shape.FoldRuntimes()));
    ViewState runtimes = selecting(folded, shop(), "java Shop", "Shop.run", "Shop.order");
    frames.add(frame("runtimes-80x24", shop(), runtimes));
    return frames;
  }

  /** A program of Java whose runtime is folded. */
  private static Tree shop() {
    Tree tree = new Tree();
    tree.stack(4_000, "java Shop", "Shop.run_[j]", "Shop.order_[j]", "HashMap.get_[j]");
    tree.stack(
        3_000, "java Shop", "Shop.run_[j]", "Shop.order_[j]", "pthread_cond_wait", "futex_[k]");
    tree.stack(1_000, "java Shop", "GCTaskThread::run", "G1ParScanThreadState::trim_queue");
    return tree;
  }

  /** A machine of which most threads wait for work. */
  public static Tree idle() {
    Tree tree = new Tree();
    tree.stack(30_000, "sshd", "[idle]");
    tree.stack(60_000, "nginx", "[idle]");
    tree.stack(2_000, "nginx", "main", "ngx_worker_process_cycle", "ngx_process_events_and_timers");
    tree.stack(90_000, "java Shop", "[idle]");
    tree.stack(
        20_000, "java Shop", "[thread start]", "Shop.order_[j]", "pthread_mutex_lock", "futex_[k]");
    return tree;
  }

  /** The callers of the server, one of them selected. */
  static ViewState callers(Tree reversed) {
    return selecting(
        Pictures.state().withView(View.CALLERS),
        reversed,
        "redis-server",
        "tcp_recvmsg",
        "ksys_read");
  }

  /** Some of each kind. */
  public static Shape steps() {
    return Shape.of(
        new Shape.Comms(Set.of("redis-server"), false),
        new Shape.Processes(Set.of(977, 1044, 1051), true),
        new Shape.Through(new Function(NodeKind.USER, "redis-server", READ_QUERY), false),
        new Shape.Matching("^tcp_|^udp_", 0, true),
        new Shape.Merge(),
        new Shape.Collapse("libcrypto.so.3"),
        new Shape.States(StateSet.of(State.RUN, State.DISK)),
        new Shape.Group(RootOrder.THREAD));
  }

  /** Names that are long or would like to be something else. */
  private static Shape hostile() {
    return Shape.of(
        new Shape.Comms(Set.of("漢字サーバー"), false),
        through("𝔘𝔫𝔦𝔠𝔬𝔡𝔢 👩‍👩‍👧 family", true),
        through(
            "std::map<std::pair<int, long>, std::vector<std::string>>::operator[](std::pair<int, long> const&)",
            false),
        new Shape.Matching("x".repeat(500), 0, true),
        through("读取查询".repeat(60), false));
  }

  private static Shape.Step through(String name, boolean out) {
    return new Shape.Through(new Function(NodeKind.USER, "app", name), out);
  }
}

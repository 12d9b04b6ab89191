package flametop.view.screen;

import static flametop.view.screen.Pictures.SECOND;
import static flametop.view.screen.Pictures.size;
import static flametop.view.screen.Pictures.snapshot;

import flametop.Copy;
import flametop.profile.answer.Function;
import flametop.profile.answer.NodeKind;
import flametop.profile.answer.NodeKind.ThreadKind;
import flametop.profile.answer.Page;
import flametop.profile.answer.PageQuery;
import flametop.profile.answer.Shape;
import flametop.profile.answer.Snapshot;
import flametop.profile.answer.StateSet;
import flametop.profile.answer.TasksQuery;
import flametop.profile.answer.TasksReport;
import flametop.profile.answer.TopQuery;
import flametop.profile.answer.TopReport;
import flametop.profile.tree.Noise;
import flametop.sampler.State;
import flametop.view.base.View;
import flametop.view.layout.Scene;
import flametop.view.screen.Pictures.Frame;
import flametop.view.state.Questions;
import flametop.view.state.Search;
import flametop.view.state.ViewState;
import flametop.view.table.TasksTable;
import flametop.view.table.TopTable;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/** Frames of the tables of functions and tasks. */
public final class TablePictures {
  private static final long MS = 1_000_000L;

  private TablePictures() {}

  static List<Frame> golden() {
    List<Frame> frames = new ArrayList<>();
    Tree server = Trees.server();
    ViewState top = Pictures.state().withStates(StateSet.ALL).withView(View.TOP);
    TopTable table = new TopTable();
    TasksTable byTask = new TasksTable();
    ViewState second = table.with(top, table.place(top).withMarked(null, 3));
    ViewState tasks = Pictures.state().withView(View.TASKS);
    Tree release = TimePictures.release();
    for (String size : List.of("40x10", "80x24", "120x34", "200x60")) {
      frames.add(frame("top-" + size, server, second));
      frames.add(frame("tasks-" + size, server, tasks));
      frames.add(compared("top-compared-" + size, release, top));
      frames.add(compared("tasks-compared-" + size, server, tasks));
    }
    ViewState changed = table.with(top, table.place(top).by(TopQuery.Order.SELF_CHANGE));
    frames.add(compared("top-compared-change-80x24", release, changed));
    frames.add(compared("top-compared-help-80x24", release, top.withHelp(true)));
    ViewState filtered = top.withSearch(Search.of("read|write", false));
    frames.add(frame("top-filtered-80x24", server, filtered));
    frames.add(frame("top-none-80x24", server, top.withSearch(Search.of("nosuch", true))));
    frames.add(frame("top-long-names-80x24", Trees.longNames(), top));
    frames.add(frame("top-hostile-80x24", Trees.hostile(), top));
    frames.add(frame("top-idle-80x24", Trees.idle(), top.withStates(StateSet.BUSY)));
    frames.add(frame("top-help-80x24", server, top.withHelp(true)));
    ViewState threads =
        byTask.with(tasks, byTask.place(tasks).withNextKind(2).by(TasksQuery.Order.QUEUED));
    frames.add(frame("tasks-threads-120x34", server, threads));
    frames.add(frame("tasks-help-80x24", server, tasks.withHelp(true)));
    ViewState nobody = tasks.withShape(Shape.of(new Shape.Comms(Set.of("nobody"), false)));
    TasksReport none = new TasksReport(List.of(), 0, 0, 0, SECOND);
    Snapshot snapshot = snapshot(server, nobody, 80);
    frames.add(new Frame("tasks-none-80x24", scene(snapshot, none, nobody, new int[] {80, 24})));
    return frames;
  }

  private static Frame frame(String name, Tree tree, ViewState state) {
    int columns = size(name)[0];
    PageQuery query = Questions.page(state, columns);
    Page page = query instanceof TopQuery top ? top(tree, top) : tasks((TasksQuery) query);
    return new Frame(name, scene(snapshot(tree, state, columns), page, state, size(name)));
  }

  private static Frame compared(String name, Tree tree, ViewState state) {
    return new Frame(name, compared(tree, state, size(name)));
  }

  /** A table while the present is compared with what was 90 s before. */
  public static Scene compared(Tree tree, ViewState state, int[] size) {
    PageQuery query = Questions.page(state, size[0]);
    Page page =
        query instanceof TopQuery top
            ? top(tree, top)
            : before(tasks(Copy.of((TasksQuery) query, "ended", true)));
    Snapshot snapshot = TimePictures.compared(TimePictures.release(), state, size[0]);
    return scene(snapshot, page, state, size);
  }

  private static Scene scene(Snapshot snapshot, Page page, ViewState state, int[] size) {
    return Scene.of(snapshot, page, state, size[0], size[1], Pictures.options());
  }

  /** Tasks of which one ran less before, one more, and one is gone. */
  private static TasksReport before(TasksReport now) {
    List<TasksReport.Row> rows = new ArrayList<>();
    for (TasksReport.Row r : now.rows()) {
      long run =
          switch (r.pid()) {
            case 812 -> 12_000 * MS;
            case 1051 -> 14_000 * MS;
            default -> r.run() + r.run() / 100;
          };
      double change = run == r.run() + r.run() / 100 ? 0 : run < r.run() ? 0.6 : -0.34;
      rows.add(Copy.of(r, "before", new TasksReport.Before(run, change)));
    }
    rows.add(
        new TasksReport.Row(
            4700,
            0,
            0,
            1000,
            "api-old",
            "/srv/api-old --drain",
            ThreadKind.PROGRAM,
            0,
            0,
            0,
            0,
            null,
            0,
            null,
            null,
            new TasksReport.Before(11_200 * MS, -1)));
    return new TasksReport(List.copyOf(rows), rows.size(), rows.size(), 0, now.windowNanos());
  }

  /** What a profile would answer: each function once, recursion there is none. */
  public static TopReport top(Tree tree, TopQuery query) {
    Map<Function, long[][]> sums = new LinkedHashMap<>();
    Map<Function, long[]> before = new LinkedHashMap<>();
    for (Tree.Node node : tree.nodes) {
      if (node.kind != NodeKind.ROOT && node.kind != NodeKind.PROCESS) {
        String module = node.kind == NodeKind.KERNEL ? "" : module(node);
        Function function = new Function(node.kind, module, node.name);
        long[][] of = sums.computeIfAbsent(function, f -> new long[2][State.values().length]);
        add(node, of[1]);
        of[0][Tree.state(node.name).ordinal()] += node.self();
        long[] was = before.computeIfAbsent(function, f -> new long[2]);
        was[0] += node.before - node.children.values().stream().mapToLong(n -> n.before).sum();
        was[1] += node.before;
      }
    }
    List<TopReport.Row> all = new ArrayList<>();
    sums.forEach(
        (function, of) -> {
          long self = sum(of[0], query.states());
          long total = sum(of[1], query.states());
          long[] was = before.get(function);
          if (total > 0 || was[1] > 0) {
            TopReport.Before b = tree.compared ? before(tree, self, total, was) : null;
            all.add(new TopReport.Row(function, self, total, of[0], of[1], false, b));
          }
        });
    List<TopReport.Row> rows = new ArrayList<>(all);
    rows.removeIf(r -> !matches(query.search(), r.function().name()));
    Comparator<TopReport.Row> most =
        Comparator.comparingLong(r -> -by(query.order().in(tree.compared, true), r));
    rows.sort(most.thenComparing(r -> r.function().name()));
    int matching = rows.size();
    return new TopReport(
        List.copyOf(rows.subList(0, Math.min(matching, query.rows()))),
        matching,
        all.size(),
        Math.max(tree.root.weight, tree.root.before));
  }

  private static TopReport.Before before(Tree tree, long self, long total, long[] was) {
    Noise noise = Noise.of(19, 99, 1);
    long all = Math.max(tree.root.weight, tree.root.before);
    return new TopReport.Before(
        was[0], was[1], noise.change(self, was[0], all), noise.change(total, was[1], all));
  }

  private static boolean matches(Pattern search, String text) {
    return search == null || search.matcher(text).find();
  }

  private static long by(TopQuery.Order order, TopReport.Row row) {
    return switch (order) {
      case CPU -> row.selfByState()[State.RUN.ordinal()];
      case SELF -> row.self();
      case TOTAL -> row.total();
      case RUN -> row.totalByState()[State.RUN.ordinal()];
      case QUEUED -> row.totalByState()[State.QUEUED.ordinal()];
      case DISK -> row.totalByState()[State.DISK.ordinal()];
      case SLEEP -> row.totalByState()[State.SLEEP.ordinal()];
      case NAME -> 0;
      case SELF_CHANGE -> Math.abs(row.self() - row.before().self());
      case TOTAL_CHANGE -> Math.abs(row.total() - row.before().total());
    };
  }

  private static String module(Tree.Node node) {
    Tree.Node process = node;
    while (process.kind != NodeKind.PROCESS) {
      process = process.parent;
    }
    return node.name.startsWith("__") || node.name.startsWith("epoll") ? "libc.so.6" : process.name;
  }

  private static void add(Tree.Node node, long[] byState) {
    byState[Tree.state(node.name).ordinal()] += node.self();
    node.children.values().forEach(child -> add(child, byState));
  }

  private static long sum(long[] byState, StateSet states) {
    long sum = 0;
    for (State state : State.values()) {
      sum += states.contains(state) ? byState[state.ordinal()] : 0;
    }
    return sum;
  }

  private static final Function POLL = new Function(NodeKind.KERNEL, "", "ep_poll");
  private static final Function WAIT = new Function(NodeKind.USER, "libc.so.6", "epoll_wait");

  /** What a profile would answer of a few tasks, one of them hostile. */
  public static TasksReport tasks(TasksQuery query) {
    Function hash = new Function(NodeKind.USER, "redis-server", "dictAdd");
    Function resize = new Function(NodeKind.JIT, "", "java.util.HashMap.resize()");
    Function commit = new Function(NodeKind.KERNEL, "", "jbd2_log_wait_commit");
    Function sync = new Function(NodeKind.USER, "libc.so.6", "fdatasync");
    List<TasksReport.Row> all =
        List.of(
            row(812, 106, 4, "redis-server", "/usr/bin/redis-server 127.0.0.1:6379", 28_410, 320)
                .is(State.RUN, 1_240, hash, hash),
            row(
                    2210,
                    1000,
                    38,
                    "java",
                    "java -Xmx2g -jar /srv/shop/shop.jar --port 8080",
                    41_000,
                    900)
                .is(State.RUN, 12, resize, resize),
            row(1051, 108, 1, "postgres", "postgres: app app 10.0.0.7(51422) UPDATE", 9_300, 6_100)
                .is(State.QUEUED, 14, hash, hash),
            row(1044, 108, 1, "postgres", "postgres: 15/main: checkpointer", 120, 2)
                .is(State.DISK, 4_700, commit, sync),
            row(3300, 0, 1, "dd", "dd if=/dev/sda of=/dev/null", 200, 2)
                .is(State.DISK, 20, commit, sync),
            row(977, 33, 3, "nginx", "nginx: worker process", 530, 4)
                .is(State.SLEEP, 80, POLL, WAIT),
            row(1, 0, 1, "systemd", "/sbin/init", 3, 0)
                .is(State.SLEEP, 86_400_000L * 9, POLL, WAIT),
            row(2, 0, 1, "kthreadd", "", 0, 0)
                .is(State.SLEEP, 7_200_000, new Function(NodeKind.KERNEL, "", "kthreadd"), null),
            row(4711, 1000, 1, "␛[31mred", "␛]0;title", 1, 0).is(State.STOPPED, 61_000, POLL, WAIT),
            row(4712, 1000, 0, "cc1plus", "/usr/lib/gcc/cc1plus -quiet x.cc", 740, 30)
                .is(null, 0, null, null));
    List<TasksReport.Row> rows = new ArrayList<>(all);
    rows.removeIf(
        r ->
            r.state() == null && !query.ended()
                || !matches(query.search(), r.comm()) && !matches(query.search(), r.commandLine()));
    Comparator<TasksReport.Row> order =
        Comparator.comparingLong(
            r ->
                switch (query.order().in(false, true)) {
                  case CPU -> -r.run();
                  case QUEUED -> -r.queued();
                  case DISK -> -r.disk();
                  case AGE -> -r.ageNanos();
                  case PID -> r.pid();
                  case CHANGE -> -Math.abs(r.run() - r.before().run());
                });
    rows.sort(order.thenComparingInt(TasksReport.Row::pid));
    if (query.threads()) {
      rows.replaceAll(r -> Copy.of(r, "tid", r.pid(), "threads", 1));
    }
    int ended = query.ended() ? 0 : 1;
    return new TasksReport(List.copyOf(rows), rows.size(), all.size() - ended, ended, 30 * SECOND);
  }

  private interface Doing {
    TasksReport.Row is(State state, long ageMs, Function leaf, Function user);
  }

  private static Doing row(
      int pid, int uid, int threads, String comm, String commandLine, long runMs, long queuedMs) {
    return (state, ageMs, leaf, user) ->
        new TasksReport.Row(
            pid,
            0,
            threads,
            uid,
            comm,
            commandLine,
            ThreadKind.PROGRAM,
            runMs * MS,
            queuedMs * MS,
            state == State.DISK ? ageMs * MS : 0,
            Math.max(0, 30L * Math.max(1, threads) * SECOND - (runMs + queuedMs) * MS),
            state,
            ageMs * MS,
            leaf,
            user,
            null);
  }
}

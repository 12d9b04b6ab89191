package flametop.view.screen;

import flametop.profile.answer.CpuReport;
import flametop.profile.answer.CpuRow;
import flametop.profile.answer.EventsReport;
import flametop.profile.answer.GraphQuery;
import flametop.profile.answer.Measure;
import flametop.profile.answer.Moment;
import flametop.profile.answer.Page;
import flametop.profile.answer.PageQuery;
import flametop.profile.answer.ProcessRow;
import flametop.profile.answer.QualityReport;
import flametop.profile.answer.SandwichQuery;
import flametop.profile.answer.Selection;
import flametop.profile.answer.Shape;
import flametop.profile.answer.Snapshot;
import flametop.profile.answer.Source;
import flametop.profile.answer.StateSet;
import flametop.profile.answer.TasksQuery;
import flametop.profile.answer.TimeRange;
import flametop.profile.answer.TopQuery;
import flametop.sampler.Budget;
import flametop.sampler.Call;
import flametop.sampler.DebugFiles;
import flametop.sampler.OwnPart;
import flametop.sampler.State;
import flametop.sampler.WalkEnd;
import flametop.view.base.CellGrid;
import flametop.view.base.Colouring;
import flametop.view.base.Key;
import flametop.view.base.Origin;
import flametop.view.base.Prompt;
import flametop.view.base.View;
import flametop.view.keys.PickKeys;
import flametop.view.layout.Geometry;
import flametop.view.layout.Scene;
import flametop.view.state.FormatList;
import flametop.view.state.Keymap;
import flametop.view.state.PaintOptions;
import flametop.view.state.PickList;
import flametop.view.state.Search;
import flametop.view.state.TablePlace;
import flametop.view.state.TimeChoice;
import flametop.view.state.ViewState;
import flametop.view.table.CpusTable;
import flametop.view.table.QualityTable;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/** Machines made by hand for tests of the screen: invented, but such as there are. */
public final class Pictures {
  private static final long SECOND = 1_000_000_000L;

  /** The pictures show this moment. */
  static final long NOW = 4_000 * SECOND;

  private static List<Frame> golden;

  private Pictures() {}

  public static PaintOptions options() {
    return options(/* ascii= */ false, /* plain= */ false);
  }

  public static PaintOptions options(boolean ascii, boolean plain) {
    return new PaintOptions(
        "web-1", "all tasks", Origin.LIVE, ascii, plain, Pictures::user, Keymap.DEFAULT, List.of());
  }

  private static String user(int uid) {
    return switch (uid) {
      case 0 -> "root";
      case 106 -> "redis";
      case 108 -> "postgres";
      default -> Integer.toString(uid);
    };
  }

  public static ViewState state() {
    return ViewState.initial(StateSet.BUSY, Shape.PLAIN, 19, 99, SECOND / 4);
  }

  /** A web server's evening: a store, a database, a JVM, a few kernel workers and thin ones. */
  public static Tree server() {
    Tree t = new Tree();
    t.folded(
        "redis-server;main;aeMain;aeProcessEvents",
        """
        connSocketEventHandler;readQueryFromClient;processInputBuffer;processCommand;call;setCommand;dbAdd;dictAdd 620
        connSocketEventHandler;readQueryFromClient;processInputBuffer;processCommand;call;setCommand;dbAdd 190
        connSocketEventHandler;readQueryFromClient;processInputBuffer;processCommand;call;setCommand;signalModifiedKey 260
        connSocketEventHandler;readQueryFromClient;processInputBuffer;processCommand;call;setCommand 190
        connSocketEventHandler;readQueryFromClient;processInputBuffer;processCommand;call;getCommand;lookupKeyReadWithFlags 440
        connSocketEventHandler;readQueryFromClient;processInputBuffer;processCommand;call;getCommand 270
        connSocketEventHandler;readQueryFromClient;processInputBuffer;processCommand;call 180
        connSocketEventHandler;readQueryFromClient;processInputBuffer 460
        connSocketEventHandler;readQueryFromClient;__read;entry_SYSCALL_64_[k];ksys_read_[k];tcp_recvmsg_[k] 980
        connSocketEventHandler;readQueryFromClient 90
        beforeSleep;handleClientsWithPendingWrites;writeToClient;__write;entry_SYSCALL_64_[k];ksys_write_[k];tcp_sendmsg_[k];tcp_write_xmit_[k] 1160
        beforeSleep;handleClientsWithPendingWrites;writeToClient 90
        beforeSleep 100
        epoll_wait;entry_SYSCALL_64_[k];do_epoll_wait_[k];schedule_[k] 800
        100
        """);
    t.folded(
        "postgres;main;ServerLoop;BackendStartup;PostgresMain",
        """
        exec_simple_query;PortalRun;ExecutePlan;ExecModifyTable;heap_update 830
        exec_simple_query;PortalRun;ExecutePlan;ExecModifyTable 420
        exec_simple_query;PortalRun;ExecutePlan;IndexNext;_bt_search 620
        exec_simple_query;PortalRun;ExecutePlan;IndexNext 180
        exec_simple_query;PortalRun 550
        exec_simple_query;pg_plan_query;planner 360
        exec_simple_query;pg_plan_query 270
        exec_simple_query 90
        CommitTransaction;XLogFlush;fdatasync;entry_SYSCALL_64_[k];ext4_sync_file_[k];jbd2_log_wait_commit_[k] 540
        CommitTransaction 90
        350
        """);
    t.folded(
        "java;start_thread;thread_native_entry",
        """
        JavaThread::run;Interpreter_[j];Worker.loop_[j];HashMap.resize_[j] 890
        JavaThread::run;Interpreter_[j];Worker.loop_[j];String.indexOf_[j] 620
        JavaThread::run;Interpreter_[j];Worker.loop_[j] 270
        GCTaskThread::run 350
        """);
    t.folded(
        "",
        """
        java;[jit without frame pointers];Parser.next_[j] 440
        kworker/u8:2;ret_from_fork_[k];worker_thread_[k];process_one_work_[k];wb_workfn_[k] 530
        nginx;main;ngx_worker_process_cycle;ngx_process_events;epoll_wait 530
        """);
    String thin = "bash cron dbus-daemon rsyslogd sshd systemd systemd-journal systemd-udevd tmux";
    for (String name : (thin + " unattended-upgr").split(" ")) {
      t.stack(4 + name.length(), name, "main", "epoll_wait");
    }
    return t.stack(430, "zsh", "main", "?zsh+0x4f20");
  }

  /** Names that would like to be something else. */
  public static Tree hostile() {
    Tree t = new Tree();
    t.stack(500, "漢字サーバー", "処理する", "读取查询", "한국어함수");
    t.stack(400, "e\u0301\u0301\u0301te\u0301", "ｆｕｌｌｗｉｄｔｈ", "a\u200db\u200dc");
    t.stack(300, "😀😀 emoji", "👩‍👩‍👧 family", "⚡⚡⚡", "𝔘𝔫𝔦𝔠𝔬𝔡𝔢");
    t.stack(300, "␛[31mred", "␤newline", "x".repeat(400));
    t.stack(
        200,
        "std::map<std::pair<int, long>, std::vector<std::string>>::operator[](std::pair<int, long> const&)",
        "]0;title",
        "%s%n");
    t.stack(150, " ", "  leading", "trailing  ");
    return t;
  }

  /** Names as compilers make them. */
  static Tree longNames() {
    Tree t = new Tree();
    t.stack(
        500,
        "chromium",
        "void base::internal::Invoker<base::internal::BindState<void (*)(int), int>, void ()>::RunOnce(base::internal::BindStateBase*)",
        "std::vector<std::pair<int, std::string>, std::allocator<std::pair<int, std::string> > >::push_back(std::pair<int, std::string> const&)",
        "operator new(unsigned long)");
    t.stack(
        300,
        "ripgrep",
        "<grep_searcher::searcher::core::Core<'s, M, S> as core::iter::Iterator>::next::h0123456789abcdef",
        "core::ops::function::FnOnce::call_once{{vtable.shim}}::h00112233445566ff");
    t.stack(
        300,
        "etcd",
        "github.com/etcd-io/etcd/server/v3/mvcc.(*watchableStore).syncWatchersLoop",
        "github.com/etcd-io/etcd/server/v3/mvcc.(*watchableStore).syncWatchersLoop.func1");
    t.stack(
        300,
        "java",
        "java.util.concurrent.ThreadPoolExecutor.runWorker(Ljava/util/concurrent/ThreadPoolExecutor$Worker;)V_[j]",
        "java.util.HashMap.<init>(int)_[j]",
        "__x64_sys_clock_nanosleep_[k]",
        "mark_page_accessed.constprop.0.isra.0_[k]");
    t.stack(80, "xz", "?liblzma.so.5.4.1+fn@0x17310", "?liblzma.so.5.4.1+fn@0x9aa0");
    return t;
  }

  /** Six threads that spin on one CPU, beside a database that has the other CPU for itself. */
  static Tree spinners() {
    Tree t = new Tree();
    t.stack(2_900, "postgres", "main", "ServerLoop", "PostgresMain", "exec_simple_query");
    t.queued(60, "postgres", "main", "ServerLoop", "PostgresMain", "exec_simple_query");
    t.stack(2_600, "spinner", "main", "work", "add");
    t.stack(400, "spinner", "main", "work", "asm_sysvec_apic_timer_interrupt_[k]");
    t.queued(9_000, "spinner", "main", "work", "add");
    t.queued(
        6_000,
        "spinner",
        "main",
        "work",
        "asm_sysvec_apic_timer_interrupt_[k]",
        "irqentry_exit_to_user_mode_[k]");
    return t;
  }

  /** A program whose compiled code is left by guess. */
  static Tree guesses() {
    Tree t = new Tree();
    t.stack(600, "java", "start_thread", "thread_native_entry", "[guessed]", "Shop.price_[j]");
    t.stack(300, "java", "os::javaTimeNanos_[?]", "[guessed]", "Shop.price_[j]");
    t.queued(400, "java", "os::javaTimeNanos_[?]", "[guessed]", "Shop.price_[j]");
    t.stack(40, "java", "clone3_[?]", "[guessed]", "Shop.order_[j]");
    return t;
  }

  /** A machine on which nothing happens. */
  public static Tree idle() {
    return new Tree();
  }

  /** Recursion, {@code depth} levels down. */
  public static Tree deep(int depth) {
    String[] frames = new String[depth];
    frames[0] = "python3";
    for (int i = 1; i < depth; i++) {
      frames[i] = "visit_" + i;
    }
    Tree t = new Tree();
    t.stack(900, frames);
    t.stack(300, "python3", "gc_collect");
    return t;
  }

  /** The same held. */
  static ViewState frozen(ViewState state) {
    return state.withMoment(state.moment().withFrozen(true));
  }

  /** What the profile would answer to the state's question. */
  public static Snapshot snapshot(Tree tree, ViewState state, int columns) {
    return snapshot(tree, state, columns, cpus(2), List.of());
  }

  public static Snapshot snapshot(
      Tree tree, ViewState state, int columns, List<CpuRow> cpus, List<String> notices) {
    GraphQuery query = state.query(columns);
    boolean frozen = state.moment().frozen();
    long weight = tree.nodes.get((int) query.selected()).weight;
    long[] byState = new long[State.values().length];
    byState[State.RUN.ordinal()] = weight * 71 / 100;
    byState[State.QUEUED.ordinal()] = weight * 3 / 100;
    byState[State.SLEEP.ordinal()] = weight * 26 / 100;
    if (tree.root.queued > 0) {
      long queued = tree.nodes.get((int) query.selected()).queued;
      byState[State.RUN.ordinal()] = weight - queued;
      byState[State.QUEUED.ordinal()] = queued;
    }
    Selection selection =
        query.selected() == GraphQuery.ROOT
            ? tree.selection(query, "", 38, 0, "", byState)
            : tree.selection(
                query, "redis-server", 1, 812, "/usr/bin/redis-server 127.0.0.1:6379", byState);
    int[] tasks = new int[State.values().length];
    boolean idle = tree.root.weight == 0;
    tasks[State.RUN.ordinal()] = idle ? 0 : 3;
    tasks[State.QUEUED.ordinal()] = idle ? 0 : 1;
    tasks[State.SLEEP.ordinal()] = 408;
    Snapshot.Covered time =
        new Snapshot.Covered(
            TimeRange.before(NOW, Math.min(state.moment().windowNanos(), 30 * SECOND)),
            false,
            frozen,
            frozen ? 12 * SECOND : 0,
            Optional.empty(),
            42 * SECOND,
            Snapshot.Past.FULL);
    Snapshot.Host host =
        new Snapshot.Host(
            NOW,
            tasks,
            cpus,
            busy(idle),
            waiting(idle),
            new double[] {1.42, 0.97, 0.66},
            state.pace().passHz(),
            state.pace().cpuHz());
    return new Snapshot(
        tree.slice(query),
        tree.root.weight,
        selection,
        tree.search(query),
        state.shape().reversed(),
        false,
        new Snapshot.Live(
            Measure.TIME,
            time,
            host,
            new Snapshot.Losses(0, 0, 0.012, tree.hasGuesses() ? 0.031 : 0, 0, 0.014),
            new Snapshot.Cost(NOW, SECOND),
            state.view() == View.EVENTS ? EventPictures.report() : EventsReport.NONE,
            false),
        notices);
  }

  private static float[] busy(boolean idle) {
    float[] busy = new float[300];
    for (int i = 0; i < busy.length; i++) {
      double wave =
          0.35
              + 0.45 * Math.sin(i / 23.0)
              + 0.25 * Math.sin(i / 7.0)
              + 0.6 * Math.exp(-Math.pow((i - 230) / 30.0, 2));
      busy[i] = idle ? 0.02f : (float) Math.max(0.05, Math.min(1.9, wave + 0.3));
    }
    busy[299] = idle ? 0.02f : 1.4f;
    return busy;
  }

  private static float[] waiting(boolean idle) {
    float[] waiting = new float[300];
    for (int i = 0; i < waiting.length && !idle; i++) {
      waiting[i] = (float) Math.max(0, 2.5 * Math.exp(-Math.pow((i - 230) / 20.0, 2)) - 0.1);
    }
    return waiting;
  }

  /** CPUs with two idle states, from fully busy to nearly idle. */
  public static List<CpuRow> cpus(int count) {
    List<CpuRow> rows = new ArrayList<>();
    double[][] shares = {
      {0.31, 0.15, 0.02, 0.156, 0.364},
      {0.66, 0.21, 0.03, 0.030, 0.070},
      {0.05, 0.02, 0, 0.10, 0.83}
    };
    for (int i = 0; i < count; i++) {
      double[] s = shares[i % shares.length];
      rows.add(
          new CpuRow(
              i,
              s[0] + s[1] + s[2],
              s[0],
              s[1],
              s[2] / 2,
              s[2] / 2,
              0,
              0.4e6 + 2.7e6 * (i % 2),
              340 + 20 * i,
              99,
              2.4e9 + 1e8 * (i % 5),
              (s[0] + s[1] + s[2]) * 0.97,
              List.of(
                  new CpuRow.IdleRow("C1", 2, 2, s[3], 210, 0.16, 0.02),
                  new CpuRow.IdleRow("C6", 133, 600, s[4], 130, 0.06, Double.NaN))));
    }
    return rows;
  }

  /** Many CPUs, of which some nodes are busier than others, and wait more. */
  public static List<CpuRow> crowd(int count) {
    List<CpuRow> rows = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      double busy =
          Math.min(1, Math.abs(Math.sin(i * 12.9898) * 0.5 + 0.5 * Math.sin(i / 20.0 + 1)));
      busy = i % 37 == 5 ? 1 : busy;
      double waiting = busy > 0.9 ? 4e8 * (1 + i % 5) : 1e6 * (i % 9);
      rows.add(
          new CpuRow(
              i,
              busy,
              busy * 0.7,
              busy * 0.2,
              busy * 0.04,
              busy * 0.03,
              i % 16 == 3 ? busy * 0.03 : 0,
              waiting,
              100 + i,
              i % 2 == 0 ? 99 : 40,
              1.2e9 + 2e9 * busy,
              busy * 1.02,
              List.of(
                  new CpuRow.IdleRow("POLL", 0, 0, (1 - busy) * 0.01, 12, 0, 0.3),
                  new CpuRow.IdleRow("C1", 2, 2, (1 - busy) * 0.3, 80, 0.16, 0.02),
                  new CpuRow.IdleRow("C6", 133, 600, (1 - busy) * 0.69, 20.5, 0.06, 0))));
    }
    return rows;
  }

  /** CPUs as a virtual machine shows them: no idle states, no frequency, no counters. */
  private static CpuReport bare() {
    double nan = Double.NaN;
    List<CpuRow> rows = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      double busy = 0.3 + 0.4 * i;
      rows.add(
          new CpuRow(i, busy, busy / 2, busy / 2, 0, nan, nan, 2e7, 840, 99, nan, nan, List.of()));
    }
    return new CpuReport(
        rows,
        "no idle states: the kernel has no cpuidle driver here, as in most virtual machines; idle time is counted all the same",
        "no frequencies: the kernel has no cpufreq driver, as in most virtual machines",
        "no cycles: no hardware counters here, as in most virtual machines");
  }

  private static void cpuFrames(List<Frame> frames, Tree server, ViewState selected) {
    int[][] sizes = {{80, 24}, {200, 60}};
    TablePlace<Integer, Comparator<CpuRow>> first = CpusTable.TABLE.place(state());
    TablePlace<Integer, Comparator<CpuRow>> chosen =
        CpusTable.TABLE
            .place(
                Keys.press(
                        Scene.of(
                            Snapshot.OPENING,
                            bare(),
                            state().withView(View.CPUS),
                            80,
                            24,
                            options()),
                        Key.of('s'))
                    .state())
            .withMarked(5, 0);
    Shape marked = Shape.of(new Shape.Cpus(Set.of(3, 5), false));
    for (int[] size : sizes) {
      String of = "-" + size[0] + "x" + size[1];
      for (int count : new int[] {2, 16, 128, 512}) {
        Snapshot snapshot = snapshot(server, selected, size[0], crowd(count), List.of());
        frames.add(frame("panel-" + count + of, snapshot, selected));
      }
      CpuReport many = new CpuReport(crowd(16), "", "", "");
      frames.add(page("cpus-view" + of, View.CPUS, first, many, size));
      frames.add(page("cpus-view-marked" + of, View.CPUS, chosen, marked, many, size, false));
      frames.add(page("cpus-view-bare" + of, View.CPUS, first, bare(), size));
      frames.add(page("idle-view" + of, View.IDLE, first, many, size));
      frames.add(page("idle-view-bare" + of, View.IDLE, first, bare(), size));
      ViewState ranged =
          TimePictures.choosing(selected, new TimeRange(3_880 * SECOND, 3_930 * SECOND))
              .withTime(new TimeChoice(true, 3_900 * SECOND, null, null, false));
      frames.add(frame("time" + of, server, ranged));
    }
    int[] small = {40, 10};
    CpuReport many = new CpuReport(crowd(16), "", "", "");
    frames.add(page("cpus-view-40x10", View.CPUS, chosen, marked, many, small, false));
    frames.add(page("idle-view-40x10", View.IDLE, first, many, small));
    for (int count : new int[] {16, 512}) {
      Snapshot snapshot = snapshot(server, selected, 40, crowd(count), List.of());
      frames.add(frame("panel-" + count + "-40x10", snapshot, selected));
    }
    PaintOptions plain = options(/* ascii= */ true, /* plain= */ true);
    Snapshot snapshot = snapshot(server, selected, 80, crowd(512), List.of());
    frames.add(frame("panel-512-ascii-80x24", snapshot, selected, plain));
    frames.add(page("cpus-help-80x24", View.CPUS, first, many, new int[] {80, 24}, true));
    frames.add(page("idle-help-80x24", View.IDLE, first, many, new int[] {80, 24}, true));
  }

  private static Frame page(
      String name,
      View view,
      TablePlace<Integer, Comparator<CpuRow>> table,
      CpuReport report,
      int[] size) {
    return page(name, view, table, report, size, false);
  }

  private static Frame page(
      String name,
      View view,
      TablePlace<Integer, Comparator<CpuRow>> table,
      CpuReport report,
      int[] size,
      boolean help) {
    return page(name, view, table, Shape.PLAIN, report, size, help);
  }

  private static Frame page(
      String name,
      View view,
      TablePlace<Integer, Comparator<CpuRow>> table,
      Shape shape,
      CpuReport report,
      int[] size,
      boolean help) {
    ViewState state =
        CpusTable.TABLE.with(state().withView(view), table).withShape(shape).withHelp(help);
    Snapshot snapshot = snapshot(server(), state, size[0], report.cpus(), List.of());
    return new Frame(
        name, Painter.paint(Scene.of(snapshot, report, state, size[0], size[1], options())));
  }

  public static List<ProcessRow> processes() {
    return List.of(
        row(812, 106, "redis-server", "/usr/bin/redis-server 127.0.0.1:6379", 5930, 1, 3),
        row(
            2210,
            1000,
            "java",
            "/usr/lib/jvm/java-17-openjdk-amd64/bin/java -Xmx2g -jar app.jar --spring.profiles.active=prod",
            2570,
            1,
            38),
        row(1051, 108, "postgres", "postgres: app app 10.0.0.7(51422) UPDATE", 2300, 1, 0),
        row(1044, 108, "postgres", "postgres: 15/main: checkpointer", 2000, 1, 0),
        row(644, 33, "nginx", "nginx: worker process", 530, 0, 1),
        row(1, 0, "systemd", "/sbin/init", 11, 0, 1));
  }

  public static List<ProcessRow> cgroups() {
    return List.of(
        group("/system.slice", 41, 9_300, 1),
        group("/system.slice/redis-server.service", 1, 5_930, 1),
        group("/user.slice/user-1000.slice/session-4.scope", 12, 2_570, 2),
        group("/system.slice/nginx.service", 5, 530, 0),
        group(
            "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1f2e.slice/cri-containerd-9a6f01c3d2e49a6f01c3d2e49a6f01c3d2e49a6f01c3d2e49a6f01c3d2e4aaaa.scope",
            3,
            410,
            0),
        group("/", 118, 60, 0));
  }

  private static ProcessRow group(String path, int processes, long weight, int run) {
    int[] tasks = new int[State.values().length];
    tasks[State.RUN.ordinal()] = run;
    tasks[State.SLEEP.ordinal()] = processes;
    return new ProcessRow(0, processes, 0, path, "", weight, 14_000, tasks, true);
  }

  private static ProcessRow row(
      int pid, int uid, String comm, String commandLine, long weight, int run, int asleep) {
    int[] tasks = new int[State.values().length];
    tasks[State.RUN.ordinal()] = run;
    tasks[State.SLEEP.ordinal()] = asleep;
    return new ProcessRow(pid, 1, uid, comm, commandLine, weight, 14_000, tasks, true);
  }

  static Shape only(int pid) {
    return Shape.of(new Shape.Processes(Set.of(pid), false));
  }

  /** The state with the node at this path selected. */
  public static ViewState selecting(ViewState state, Tree tree, String... path) {
    Tree.Node node = tree.find(path);
    List<Long> trail = new ArrayList<>();
    for (Tree.Node n = node; n != null; n = n.parent) {
      trail.add(0, n.id);
    }
    return state.withSelected(node.id, trail);
  }

  /** One frame of the golden set. */
  public record Frame(String name, CellGrid grid) {}

  /** Names from the process down to the function that reads a query. */
  public static String[] readQuery() {
    return READ_QUERY.clone();
  }

  private static final String[] READ_QUERY = {
    "redis-server",
    "main",
    "aeMain",
    "aeProcessEvents",
    "connSocketEventHandler",
    "readQueryFromClient"
  };

  /** A frame of the size that its name ends in: {@code flame-80x24}. */
  static Frame frame(String name, Tree tree, ViewState state) {
    return frame(name, snapshot(tree, state, size(name)[0]), state);
  }

  static Frame frame(String name, Snapshot snapshot, ViewState state) {
    return frame(name, snapshot, state, options());
  }

  static Frame frame(String name, Snapshot snapshot, ViewState state, PaintOptions options) {
    int[] size = size(name);
    return new Frame(name, Painter.paint(Scene.of(snapshot, state, size[0], size[1], options)));
  }

  /** Columns and rows that the name of a frame ends in. */
  private static int[] size(String name) {
    String[] size = name.substring(name.lastIndexOf('-') + 1).split("x");
    return new int[] {Integer.parseInt(size[0]), Integer.parseInt(size[1])};
  }

  /** Where a node is in the source: inlined, plain, awaited, and not to be had. */
  public static Source source(long node) {
    String query = "/build/redis-7.0.15/src/networking.c";
    List<Source.Place> places =
        List.of(
            new Source.Place(
                620,
                List.of(
                    new Call("readQueryFromClient", query, 2731),
                    new Call("processInputBuffer", query, 2465),
                    new Call(
                        "std::vector<std::pair<int, std::string>>::push_back(std::pair<int, std::string> const&)",
                        "/usr/include/c++/12/bits/stl_vector.h",
                        1281)),
                ""),
            new Source.Place(200, List.of(new Call("readQueryFromClient", query, 2750)), ""),
            new Source.Place(100, List.of(), ""),
            new Source.Place(
                80,
                List.of(),
                "no debug information: install its debug package, which has /usr/lib/debug/.build-id/12/3456789abcdef.debug"));
    return new Source(node, "readQueryFromClient", 1000, places, 3);
  }

  /** The golden set: sizes and moments. Painted once: many tests go through it. */
  public static synchronized List<Frame> golden() {
    if (golden == null) {
      golden = List.copyOf(paintGolden());
    }
    return golden;
  }

  private static List<Frame> paintGolden() {
    List<Frame> frames = new ArrayList<>();
    Tree server = server();
    ViewState selected = selecting(state(), server, READ_QUERY);
    int[][] sizes = {{40, 10}, {80, 24}, {120, 30}, {160, 40}, {200, 60}};
    for (int[] size : sizes) {
      frames.add(frame("normal-" + size[0] + "x" + size[1], server, selected));
    }
    Tree spinners = spinners();
    for (String size : new String[] {"40x10", "80x24", "120x40", "200x60"}) {
      frames.add(frame("queued-" + size, spinners, state()));
    }
    ViewState inner = selecting(state(), spinners, "spinner", "main", "work");
    frames.add(frame("queued-selected-80x24", spinners, inner));
    frames.add(frame("queued-by-state-80x24", spinners, inner.withColouring(Colouring.STATE)));
    for (boolean plain : new boolean[] {false, true}) {
      String name = plain ? "queued-plain-80x24" : "queued-ascii-80x24";
      Snapshot snapshot = snapshot(spinners, inner, 80);
      frames.add(frame(name, snapshot, inner, options(!plain, plain)));
    }
    Tree guesses = guesses();
    ViewState guess = selecting(state(), guesses, "java", "os::javaTimeNanos");
    for (String size : new String[] {"40x10", "80x24", "120x40"}) {
      frames.add(frame("guessed-" + size, guesses, state()));
    }
    frames.add(frame("guessed-selected-80x24", guesses, guess));
    for (boolean plain : new boolean[] {false, true}) {
      String name = plain ? "guessed-plain-80x24" : "guessed-ascii-80x24";
      Snapshot snapshot = snapshot(guesses, state(), 80);
      frames.add(frame(name, snapshot, state(), options(!plain, plain)));
    }
    frames.add(frame("opening-80x24", Snapshot.OPENING, state()));
    frames.add(frame("too-small-39x12", server, selected));
    frames.add(
        frame("frozen-80x24", server, frozen(selected).withMessage("frozen; space goes on")));
    frames.add(frame("flame-80x24", server, selected.flipped()));
    frames.add(frame("idle-80x24", idle(), state()));
    Tree quiet = new Tree();
    quiet.stack(20, "sshd", "main", "do_authenticated2", "__poll");
    frames.add(frame("almost-idle-80x24", quiet, state()));
    frames.add(frame("long-names-160x40", longNames(), state()));
    frames.add(frame("long-names-80x24", longNames(), state()));
    frames.add(frame("long-names-40x10", longNames(), state()));
    ViewState byState = selected.withStates(StateSet.ALL).withColouring(Colouring.STATE);
    frames.add(frame("by-state-120x30", server, byState));
    frames.add(frame("by-state-80x24", server, byState));
    frames.add(frame("hostile-80x24", hostile(), state()));
    frames.add(frame("search-120x30", server, selected.withSearch(Search.of("^process", true))));
    frames.add(frame("search-kept-80x24", server, selected.withSearch(Search.of("tcp_", false))));
    frames.add(frame("search-invalid-80x24", server, selected.withSearch(Search.of("a(b", true))));
    for (int[] size : new int[][] {{40, 10}, {80, 24}, {120, 30}}) {
      ViewState exporting = selected.withFormats(FormatList.CLOSED.opened(View.GRAPH).moved(1));
      frames.add(frame("export-" + size[0] + "x" + size[1], server, exporting));
    }
    frames.add(
        frame(
            "export-typed-80x24",
            server,
            selected.withFormats(
                FormatList.CLOSED.opened(View.GRAPH).withPrompt(Prompt.of("screen")))));
    ViewState picking =
        selected.withPick(PickList.open(PickList.Of.PROCESSES).withRows(processes()).moved(2));
    frames.add(frame("pick-120x30", server, picking));
    ViewState groups = selected.withPick(PickList.open(PickList.Of.CGROUPS).withRows(cgroups()));
    frames.add(frame("pick-cgroup-80x24", server, groups));
    frames.add(frame("pick-cgroup-40x10", server, groups));
    frames.add(
        frame(
            "pick-typed-80x24",
            server,
            picking.withPick(picking.pick().withPrompt(Prompt.of("postg")))));
    frames.add(
        frame(
            "pick-unmatched-80x24",
            server,
            PickKeys.narrowed(selected, picking.pick().withPrompt(Prompt.of("zzz"))).state()));
    frames.add(frame("help-80x24", server, selected.withHelp(true)));
    frames.add(frame("help-40x10", server, selected.withHelp(true)));
    frames.add(frame("help-last-80x24", server, selected.withHelpPage(1)));
    ViewState sourced = selected.withSource(source(selected.selected()));
    frames.add(frame("source-120x30", server, sourced));
    frames.add(frame("source-80x24", server, sourced));
    frames.add(frame("source-40x10", server, sourced));
    frames.add(frame("source-opening-80x24", server, selected.withSource(ViewState.NO_SOURCE)));
    ViewState zoomed = selected.zoomedTo(new ViewState.Zoom(selected.selected(), null));
    frames.add(frame("zoomed-120x30", server, zoomed));
    Geometry boxes = Scene.of(snapshot(server, state(), 80), state(), 80, 24, options()).geometry;
    int run = 1;
    while (!boxes.isRun(run)) {
      run++;
    }
    ViewState opened = state().zoomedTo(new ViewState.Zoom(GraphQuery.ROOT, boxes.siblings(run)));
    frames.add(frame("opened-run-80x24", server, opened));
    Tree deep = deep(90);
    String[] path = new String[40];
    path[0] = "python3";
    for (int i = 1; i < path.length; i++) {
      path[i] = "visit_" + i;
    }
    frames.add(frame("deep-80x24", deep, selecting(state(), deep, path)));
    frames.add(frame("deep-top-80x24", deep, state()));
    List<String> notice =
        List.of(
            "CPU clock refused (perf_event_paranoid=4): sysctl kernel.perf_event_paranoid=1; on-CPU stacks come from the passes");
    frames.add(frame("notice-120x30", snapshot(server, selected, 120, cpus(2), notice), selected));
    frames.add(
        frame("cpus-12-160x40", snapshot(server, selected, 160, cpus(12), List.of()), selected));
    frames.add(
        frame("cpus-96-120x30", snapshot(server, selected, 120, cpus(96), List.of()), selected));
    cpuFrames(frames, server, selected);
    ViewState quality = state().withView(View.QUALITY);
    QualityTable table = QualityTable.TABLE;
    ViewState second =
        table.with(
            quality,
            table
                .place(quality)
                .withMarked(
                    quality().processes().get(1).pid() + "/" + quality().processes().get(1).name(),
                    1));
    ViewState modules = table.with(quality, table.place(quality).withOtherKind());
    ViewState frugal =
        quality.withPace(
            new Budget.Pace(2 * SECOND, false, 4, 24),
            "budget 5%: picture 2 s, passes 19→4, clock 99→24");
    frames.add(quality("quality-80x24", second));
    frames.add(quality("quality-200x60", second));
    frames.add(quality("quality-modules-80x24", modules));
    frames.add(quality("quality-modules-200x60", modules));
    frames.add(quality("quality-budget-80x24", frugal));
    frames.add(quality("quality-budget-200x60", frugal));
    frames.add(quality("quality-40x10", second));
    frames.add(quality("quality-help-80x24", quality.withHelp(true)));
    frames.add(frame("budget-80x24", server, frugal.withView(View.GRAPH)));
    PaintOptions ascii = options(/* ascii= */ true, /* plain= */ true);
    frames.add(frame("ascii-80x24", snapshot(server, selected, 80), selected, ascii));
    frames.add(frame("ascii-hostile-80x24", snapshot(hostile(), state(), 80), state(), ascii));
    PaintOptions coloured = options(/* ascii= */ true, /* plain= */ false);
    frames.add(frame("ascii-colours-80x24", snapshot(server, selected, 80), selected, coloured));
    PaintOptions plain = options(/* ascii= */ false, /* plain= */ true);
    frames.add(frame("plain-80x24", snapshot(server, selected, 80), selected, plain));
    frames.addAll(FilePictures.golden());
    frames.addAll(SplitPictures.golden());
    frames.addAll(TimePictures.golden());
    frames.addAll(HeatPictures.golden());
    frames.addAll(SandwichPictures.golden());
    frames.addAll(ShapePictures.golden());
    frames.addAll(TablePictures.golden());
    frames.addAll(EventPictures.golden());
    return frames;
  }

  private static Frame quality(String name, ViewState state) {
    int[] size = size(name);
    Snapshot snapshot = snapshot(server(), state, size[0]);
    return new Frame(
        name, Painter.paint(Scene.of(snapshot, quality(), state, size[0], size[1], options())));
  }

  /** Samples of the server, most of them whole. */
  public static QualityReport quality() {
    List<QualityReport.Row> processes =
        List.of(
            new QualityReport.Row(812, "redis-server", counts(18_204, 31, WalkEnd.TRUNCATED, 40)),
            new QualityReport.Row(
                2_204_118,
                "java",
                limited(
                    512,
                    counts(3_120, 0, WalkEnd.JIT, 2_890, WalkEnd.MM_BUSY, 12, WalkEnd.TORN, 3))),
            new QualityReport.Row(977, "postgres", counts(940, 0, WalkEnd.OTHER_STACK, 1)),
            new QualityReport.Row(0, "(others)", counts(12, 0, WalkEnd.EXITED, 33)));
    List<QualityReport.Row> modules =
        List.of(
            new QualityReport.Row(0, "libc.so.6", counts(17_000, 12)),
            new QualityReport.Row(
                0, "libcrypto.so.3", counts(900, 300, WalkEnd.NO_UNWIND_INFO, 80)),
            new QualityReport.Row(0, "(no user frame)", counts(0, 0, WalkEnd.EXITED, 33)));
    QualityReport.Counts window =
        counts(22_276, 31, WalkEnd.JIT, 2_890, WalkEnd.TRUNCATED, 40, WalkEnd.EXITED, 33);
    QualityReport.Counts all =
        limited(9_000, counts(2_227_600, 3_100, WalkEnd.JIT, 289_000, WalkEnd.LIMIT, 4_000));
    return new QualityReport(
        33 * SECOND,
        new QualityReport.Sum(window, 627, 627, 0, 61_000_000, 0, 0, 0),
        new QualityReport.Sum(all, 62_700, 62_696, 4, 231_000_000, 17, 0, 3),
        processes,
        modules,
        List.of(
            new QualityReport.Part("passes", 0.0041),
            new QualityReport.Part("ring", 0.0022),
            new QualityReport.Part("profile", 0.0038),
            new QualityReport.Part("screen", 0.0102),
            new QualityReport.Part("names", 0.0001),
            new QualityReport.Part("compiler", 0.0004),
            new QualityReport.Part("collector", 0.0009),
            new QualityReport.Part("other", 0.0006),
            new QualityReport.Part("symbolizer", 0),
            new QualityReport.Part("bpf cpu_stacks", 0.0007),
            new QualityReport.Part("bpf cpu_idle", 0.0002)),
        List.of(new OwnPart("flametop", 98L << 20), new OwnPart("symbolizer", 21L << 20)),
        412_000,
        38_400,
        new DebugFiles(0, 0, 0, 0, 0, 0));
  }

  private static QualityReport.Counts counts(long whole, long guessed, Object... reasons) {
    long[] counts = new long[QualityReport.OUTCOMES];
    counts[0] = whole;
    counts[QualityReport.GUESSED] = guessed;
    for (int i = 0; i < reasons.length; i += 2) {
      counts[((WalkEnd) reasons[i]).ordinal()] = (Integer) reasons[i + 1];
    }
    return new QualityReport.Counts(counts);
  }

  private static QualityReport.Counts limited(long limited, QualityReport.Counts counts) {
    counts.byOutcome()[QualityReport.NAME_LIMITED] = limited;
    return counts;
  }

  /** The picture of the server. */
  public static CellGrid wide(int columns, int rows) {
    Tree tree = server();
    ViewState state = selecting(state(), tree, READ_QUERY);
    return frame("wide-" + columns + "x" + rows, tree, state).grid();
  }

  /** The server as a source of snapshots. */
  public static class Machine implements flametop.profile.answer.LiveSource {
    private final Tree tree = server();
    private Moment moment = Moment.ALL;

    @Override
    public CompletableFuture<Snapshot> snapshot(GraphQuery query) {
      ViewState asked = ViewState.initial(query.states(), Shape.PLAIN, 19, 99, SECOND);
      asked = asked.withSelected(query.selected(), List.of(0L)).withMoment(moment);
      asked =
          asked.withZooms(
              query.zoom() == 0 && query.siblings() == null
                  ? List.of()
                  : List.of(new ViewState.Zoom(query.zoom(), query.siblings())));
      asked =
          asked.withSearch(
              query.search() == null
                  ? null
                  : new Search(Prompt.of(""), false, query.search(), "", 0));
      return CompletableFuture.completedFuture(Pictures.snapshot(tree, asked, query.columns()));
    }

    @Override
    public CompletableFuture<List<ProcessRow>> processes(StateSet states) {
      return CompletableFuture.completedFuture(Pictures.processes());
    }

    @Override
    public CompletableFuture<Page> page(PageQuery query) {
      Page page = Pictures.quality();
      if (query instanceof CpuReport.Query) {
        page = new CpuReport(cpus(2), "", "", "");
      } else if (query instanceof SandwichQuery sandwich) {
        page = SandwichPictures.page(tree, sandwich, true, false);
      } else if (query instanceof TopQuery top) {
        page = TablePictures.top(tree, top);
      } else if (query instanceof TasksQuery tasks) {
        page = TablePictures.tasks(tasks);
      }
      return CompletableFuture.completedFuture(page);
    }

    @Override
    public void measure(int source) {}

    @Override
    public CompletableFuture<List<ProcessRow>> comms(StateSet states) {
      return CompletableFuture.completedFuture(Pictures.processes());
    }

    @Override
    public CompletableFuture<Source> source(StateSet states, long node) {
      return CompletableFuture.completedFuture(Pictures.source(node));
    }

    @Override
    public void shape(Shape shape) {}

    @Override
    public void show(Moment next) {
      moment = next;
    }

    @Override
    public CompletableFuture<List<ProcessRow>> cgroups(StateSet states) {
      return CompletableFuture.completedFuture(Pictures.cgroups());
    }
  }
}

package flametop.view.screen;

/** Stacks of machines made by hand: invented, but such as there are. */
public final class Trees {
  private Trees() {}

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
    t.stack(
        250,
        "python3 web.py",
        "Py_BytesMain",
        "<module> (shop/web.py)_[p]",
        "Cart.total.<locals>.<lambda> (shop/views.py)_[p]",
        "json.decoder.JSONDecoder.raw_decode_[p]");
    t.stack(
        200,
        "php-fpm: pool www",
        "php_execute_scripts",
        "public/index.php_[h]",
        "Symfony\\Component\\HttpKernel\\HttpKernel::handle_[h]",
        "{closure} (src/Kernel.php:61)_[h]",
        "preg_replace_callback_[h]");
    t.stack(
        150,
        "puma: cluster worker 0",
        "ruby_run_node",
        "<main> (bin/puma)_[r]",
        "Integer#times_[r]",
        "block (2 levels) in ActionController::Metal::Renderers#render_to_body_[r]");
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
}

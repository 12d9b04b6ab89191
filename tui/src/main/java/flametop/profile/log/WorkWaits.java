package flametop.profile.log;

import flametop.profile.answer.Function;
import flametop.profile.answer.NodeKind;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The rule by which a sleeping thread is idle: its stack ends in a wait for work, as those of
 * pools, event loops and accept loops do. Where a stack does not prove that the thread waits for
 * work, the thread counts as one that waits for something else.
 *
 * <p>Kernel functions say which call the thread sleeps in. A call by which loops wait ({@link
 * Call#LOOP}) is enough, but for stacks that name a lock or a client. Calls by which threads also
 * wait in the course of a request ({@link Call#POLL}, {@link Call#FUTEX}) need a proof by who
 * calls:
 *
 * <ul>
 *   <li>a function that does nothing but wait for work ({@link #PURE}), anywhere on the stack;
 *   <li>an event loop ({@link #LOOPS}), if no other function stands between the loop and the call;
 *   <li>a thread that a library started for itself ({@link #HELPERS});
 *   <li>the function that the thread was started with, or one that this function calls, if the name
 *       of the one that makes the call says that it takes work ({@link #takes}).
 * </ul>
 */
final class WorkWaits {
  /** How a thread sleeps, as the kernel sees the thread. */
  private enum Call {
    /** Event loops and accept loops wait like this, and threads for signals. */
    LOOP(
        """
        ep_poll do_epoll_wait do_epoll_pwait inet_csk_accept inet_csk_wait_for_connect inet_accept
        unix_accept vsock_accept do_accept do_sigtimedwait __x64_sys_pause __arm64_sys_pause
        """,
        "epoll_wait epoll_pwait epoll_pwait2 accept accept4 sigwait sigwaitinfo sigtimedwait pause"),
    /** Loops wait like this, and clients for an answer. */
    POLL("do_poll do_sys_poll do_select core_sys_select", "poll ppoll select pselect"),
    /** A wait for a condition, for a lock, for a thread. */
    FUTEX(
        "futex_do_wait futex_wait_queue futex_wait_queue_me __futex_wait",
        """
        pthread_cond_wait pthread_cond_timedwait pthread_cond_clockwait cnd_wait cnd_timedwait
        """),
    /** A sleep for a time, by which nobody waits for work. */
    CLOCK("do_nanosleep hrtimer_nanosleep", "");

    /** The functions of the kernel by which the call is known. */
    @SuppressWarnings("ImmutableEnumChecker") // of Set.of
    final Set<String> kernel;

    /** The functions of the C library by which programs make the call to wait for work. */
    @SuppressWarnings("ImmutableEnumChecker") // of Set.of
    final Set<String> library;

    Call(String kernel, String library) {
      this.kernel = Words.of(kernel);
      this.library = Words.of(library);
    }
  }

  /** The libraries by which programs call the kernel, and which are part of no program. */
  private static final Set<String> C_LIBRARIES =
      Words.of(
          """
          libc libc-2 libpthread librt ld-linux-x86-64 ld-linux-aarch64 ld-musl-x86_64
          ld-musl-aarch64 [vdso]
          """);

  /** Functions of the kernel between a call and the switch to another task. */
  private static final Pattern SWITCH =
      Pattern.compile(
          "_*schedule.*|poll_schedule_timeout|__skb_wait_for_more_packets|(__)?skb_recv_datagram");

  /** Functions that take locks, or wait for what others do in the course of a request. */
  private static final Pattern LOCKS =
      Pattern.compile(
          "_*(lll_lock_wait|pthread_mutex_|pthread_rwlock_|pthread_barrier_|pthread_.*join).*"
              + "|take_gil|PyThread_acquire_lock.*|PyEval_(Restore|Acquire)Thread"
              + "|java\\.util\\.concurrent\\.locks\\.AbstractQueued(Long)?Synchronizer\\.acquire.*"
              + "|runtime\\.(lock2?|lockWithRank.*|semacquire.*|semasleep.*lock)"
              + "|.*\\bMutex.*::lock.*|.*RawMutex::lock.*|.*RwLock.*::(read|write|lock).*"
              + "|ProcSleep|LockAcquire.*|LWLockAcquire.*|ConditionVariable(Timed)?Sleep"
              + "|SyncRep.*|WaitForParallelWorkers.*|shm_mq_.*|libpqrcv_.*|libpqsrv_.*"
              + "|(grpc_completion_queue|cq)_pluck.*|.*::Pluck.*|.*SyncProcessRunner.*|GC_suspend.*"
              + "|g_(rec_)?mutex_lock.*|g_rw_lock_.*|g_once_.*|.*std::.*(future|promise|latch|barrier).*");

  /** Libraries of clients: whatever waits below them waits for an answer. Names up to a point. */
  private static final Set<String> CLIENTS =
      Words.of(
          """
          libpq libmysqlclient libmariadb libcurl libcurl-gnutls libhiredis libldap libssh libssh2
          libresolv libmemcached
          """);

  /** Functions that only wait for work, and never do any; names begin like this. */
  private static final List<String> PURE =
      List.of(
          "java.util.concurrent.ThreadPoolExecutor.getTask",
          "java.util.concurrent.ForkJoinPool.awaitWork",
          "java.lang.ref.Reference.waitForReferencePendingList",
          "java.lang.ref.ReferenceQueue.remove",
          "java.util.concurrent.DelayQueue.take",
          "runtime.stopm",
          "runtime.findRunnable",
          "runtime.sysmon",
          "runtime.templateThread",
          "os/signal.signal_recv",
          "ap_queue_pop",
          "Protocol_classic::get_command",
          "Per_thread_connection_handler::block_until_new_connection");

  /** Event loops. */
  private static final Set<String> LOOPS =
      Set.of("g_main_loop_run", "g_application_run", "uv_run", "event_base_loop", "ev_run");

  /** Modules of event loops: their functions may stand between a loop and its call. */
  private static final Set<String> LOOP_LIBRARIES =
      Set.of("libglib-2", "libgio-2", "libuv", "libevent-2", "libevent", "libev");

  /** Libraries that start threads for themselves, on which nothing else runs. */
  private static final Set<String> HELPERS = Set.of("libjvm", "libglib-2", "libgio-2", "libuv");

  /** Functions of the C library in which its others wait, and semaphores. */
  private static final Pattern WAITS =
      Pattern.compile(
          "futex_abstimed_wait.*|.*syscall_cancel.*|syscall|(new_)?sem_(timed|clock)?wait.*");

  /** Last words in the names of functions that take work, or that are loops. */
  private static final Set<String> TAKES =
      Words.of("pop dequeue take idle worker workers loop listener server consumer");

  /** Words that may stand behind those. */
  private static final Set<String> FILL =
      Words.of(
          """
          thread main run fn func function routine start proc body entry front wait blocking
          locked unlocked timed timeout until for impl inner internal intern
          """);

  /** Words that say with a last word of {@link #WORK} that a function takes work. */
  private static final Set<String> GETS = Set.of("get", "next", "fetch");

  private static final Set<String> WORK =
      Set.of("task", "tasks", "job", "jobs", "work", "event", "events");

  /** Functions that take work, and have other names. */
  private static final Set<String> TAKERS =
      Set.of("bioProcessBackgroundJobs", "ngx_thread_pool_cycle", "wait_for_work");

  /** Words in the names of functions that wait for an answer, for room, or for somebody's end. */
  private static final Pattern AWAITS =
      Pattern.compile(
          "(repl(y|ies)|response|result|answer|done|finish|complet|join|flush|sync|lock|commit|ack"
              + "|barrier|ready|future|token|slot|permit|credit|conn|buffer|space|push|put|enqueue"
              + "|acquire|alloc).*");

  private static final Pattern BETWEEN_WORDS = Pattern.compile("\\W+|_+|(?<=[a-z0-9])(?=[A-Z])");

  /** Functions that wait on behalf of their callers. */
  private static final Pattern WRAPS =
      Pattern.compile(
          ".*cond_(timed)?wait(_until|_relative)?|.*condition_variable.*::wait.*|.*Condvar.*::wait.*"
              + "|g_poll|apr_poll|.*futex_wait.*",
          Pattern.CASE_INSENSITIVE);

  /** Functions by which languages start a thread or a program, and call what they were given. */
  private static final Pattern STARTS =
      Pattern.compile(
          "\\[.*|_+start|(void |decltype.* )?_*std::.*|__libc_start.*|(void )?core::.*|<alloc::.*"
              + "|_?_?clone3?|start_thread|execute_native_thread_routine|__rust_.*");

  /** Functions that a PostgreSQL process waits in, whatever for. */
  private static final Pattern LATCH = Pattern.compile("WaitEventSetWait.*|WaitLatch.*");

  /** The bodies of PostgreSQL's processes in the background. */
  private static final Pattern LATCH_LOOP = Pattern.compile(".*(Main|MainLoop|ServerLoop)");

  private final List<Function> frames;
  private final int user;
  private final boolean whole;

  private WorkWaits(List<Function> frames, int user, boolean whole) {
    this.frames = frames;
    this.user = user;
    this.whole = whole;
  }

  /**
   * Whether a thread that sleeps with a stack is idle.
   *
   * @param frames outermost first
   * @param user how many of them, the first ones, are no kernel frames
   * @param whole whether no frame is missing
   */
  static boolean idle(List<Function> frames, int user, boolean whole) {
    return new WorkWaits(frames, user, whole).isIdle();
  }

  private boolean isIdle() {
    if (user == 0) {
      return isIdleKernelThread();
    }
    Call call = call();
    if (call == null || isForbidden()) {
      return false;
    }
    if (frames.stream().anyMatch(f -> PURE.stream().anyMatch(bare(f)::startsWith))) {
      return true;
    }
    int own = own(call);
    return whole
        && own > 0
        && switch (call) {
          case LOOP -> !isLatch(own) || isLatchOfLoop(own);
          case POLL -> isOfLoop(own) || isOfHelper() || isOfStart(own, true);
          case FUTEX ->
              isOfHelper() && isOfJvmOrCondition() || isCondition(own) && isOfStart(own, false);
          case CLOCK -> false;
        };
  }

  /** A kernel thread sleeps until there is work, unless a work is what it sleeps in. */
  private boolean isIdleKernelThread() {
    boolean thread = false;
    for (Function frame : frames) {
      String name = bare(frame);
      if (name.equals("process_one_work") || name.startsWith("io_wq_submit_work")) {
        return false;
      }
      thread |= name.equals("kthread") || name.equals("kthreadd") || name.equals("io_wq_worker");
    }
    return thread && bare(frames.get(0)).startsWith("ret_from_fork");
  }

  /** The call that the thread sleeps in; null: one by which nobody waits for work. */
  private @Nullable Call call() {
    for (int i = frames.size() - 1; i >= user; i--) {
      String name = bare(frames.get(i));
      for (Call call : Call.values()) {
        if (call.kernel.contains(name)) {
          return call;
        }
      }
      if (!SWITCH.matcher(name).matches()) {
        return null;
      }
    }
    return null;
  }

  private boolean isForbidden() {
    int loops = 0;
    for (Function frame : frames.subList(0, user)) {
      if (CLIENTS.contains(upToPoint(frame.module())) || LOCKS.matcher(bare(frame)).matches()) {
        return true;
      }
      loops += LOOPS.contains(bare(frame)) ? 1 : 0;
    }
    // A loop within a callback of a loop is a part of what the callback does.
    return loops > 1;
  }

  /**
   * How many frames are left without those of the C library by which the call is made; 0 if the C
   * library waits for a reason of its own, as for a name server, or for a lock.
   */
  private int own(Call call) {
    int unnamed = 0;
    int at = user;
    for (; at > 0 && isCLibrary(frames.get(at - 1).module()); at--) {
      String name = libraryName(at - 1);
      if (isUnnamed(name)) {
        unnamed++;
      } else if (!call.library.contains(name) && !WAITS.matcher(name).matches()) {
        return 0;
      }
    }
    // A condition that was signalled takes its lock: that is two functions below the wait.
    return call == Call.FUTEX && unnamed == 2 ? 0 : at;
  }

  /** The name of a function of the C library, without the marks of its other names. */
  private String libraryName(int frame) {
    return bare(frames.get(frame)).replaceFirst("^_+(GI_+)?", "");
  }

  /** Whether the thread waits for a condition: the frames behind the first ones are a wait. */
  private boolean isCondition(int own) {
    for (int at = own; at < user; at++) {
      if (Call.FUTEX.library.contains(libraryName(at))) {
        return true;
      }
    }
    for (int at = own; at > 0 && STARTS.matcher(bare(frames.get(at - 1))).matches(); at--) {
      if (bare(frames.get(at - 1)).contains("Condvar")) {
        return true;
      }
    }
    return false;
  }

  private boolean isLatch(int own) {
    return names(0, own).anyMatch(name -> LATCH.matcher(name).matches());
  }

  /** Whether a PostgreSQL process waits for its client, or in the body of a background process. */
  private boolean isLatchOfLoop(int own) {
    int at = own;
    while (at > 0 && LATCH.matcher(bare(frames.get(at - 1))).matches()) {
      at--;
    }
    return at > 0 && LATCH_LOOP.matcher(bare(frames.get(at - 1))).matches()
        || names(0, frames.size()).anyMatch("pq_getbyte"::equals)
            && names(0, frames.size()).noneMatch(name -> name.contains("Copy"));
  }

  /** Whether an event loop makes the call, and nobody stands between. */
  private boolean isOfLoop(int own) {
    int at = own;
    while (at > 0 && !LOOPS.contains(bare(frames.get(at - 1)))) {
      Function frame = frames.get(at - 1);
      if (!LOOP_LIBRARIES.contains(upToPoint(frame.module())) && !isWrapper(frame)) {
        return false;
      }
      at--;
    }
    return at > 0;
  }

  /** Whether a library started the thread, and nobody else's code is on the stack. */
  private boolean isOfHelper() {
    boolean any = false;
    for (Function frame : frames.subList(0, user)) {
      if (!isCLibrary(frame.module()) && !bare(frame).startsWith("[")) {
        if (!HELPERS.contains(upToPoint(frame.module()))) {
          return false;
        }
        any = true;
      }
    }
    return any && isThread();
  }

  /**
   * Whether a thread of a library waits for a condition, or in whatever way threads of a JVM do.
   */
  private boolean isOfJvmOrCondition() {
    return frames.subList(0, user).stream()
        .anyMatch(f -> upToPoint(f.module()).equals("libjvm") || bare(f).startsWith("g_cond_wait"));
  }

  /** Whether the function that the thread was started with waits itself, or by one that takes. */
  private boolean isOfStart(int own, boolean mainToo) {
    if (!isThread() && !mainToo) {
      return false;
    }
    int count = 0;
    String innermost = "";
    for (int at = own; at > 0; at--) {
      Function frame = frames.get(at - 1);
      if (bare(frame).equals("[fiber start]") || frame.kind() == NodeKind.REASON) {
        return false;
      }
      boolean plumbing =
          isCLibrary(frame.module())
              || upToPoint(frame.module()).equals("libstdc++")
              || STARTS.matcher(bare(frame)).matches()
              || isWrapper(frame);
      if (!plumbing) {
        innermost = count == 0 ? bare(frame) : innermost;
        count++;
      }
    }
    return (count == 1 || count == 2) && takes(innermost);
  }

  /** Whether the name of a function says that it takes work. */
  private static boolean takes(String name) {
    if (TAKERS.contains(name)) {
      return true;
    }
    String[] words = BETWEEN_WORDS.split(name);
    boolean gets = false;
    String last = "";
    for (String any : words) {
      String word = any.toLowerCase(Locale.ROOT);
      if (AWAITS.matcher(word).matches()) {
        return false;
      }
      gets |= GETS.contains(word);
      last = FILL.contains(word) ? last : word;
    }
    return TAKES.contains(last) || gets && WORK.contains(last);
  }

  private static boolean isWrapper(Function frame) {
    return WRAPS.matcher(bare(frame)).matches();
  }

  /** Whether the stack is of a thread that a program started, and not of its first. */
  private boolean isThread() {
    return names(0, user)
        .anyMatch(
            name ->
                name.equals("[thread start]")
                    || name.equals("start_thread")
                    || name.contains("clone"));
  }

  /** The bare names of frames from one to before another. */
  private Stream<String> names(int from, int to) {
    return frames.subList(from, to).stream().map(WorkWaits::bare);
  }

  private static boolean isUnnamed(String name) {
    return name.contains("+fn@") || name.contains("+0x");
  }

  /** A name without arguments, version and the suffixes of compilers. */
  private static String bare(Function function) {
    String name = function.name();
    if (function.kind() == NodeKind.KERNEL) {
      int point = name.indexOf('.');
      return point > 0 ? name.substring(0, point) : name;
    }
    int end = name.indexOf('@');
    if (end > 0 && !isUnnamed(name)) {
      name = name.substring(0, end);
    }
    int arguments = name.indexOf('(', name.startsWith("(") ? 1 : 0);
    while (arguments > 0 && name.startsWith("(anonymous namespace)", arguments)) {
      arguments = name.indexOf('(', arguments + 1);
    }
    return arguments > 0 ? name.substring(0, arguments) : name;
  }

  /**
   * Whether a module is a library by which programs call the kernel.
   *
   * @param module name of its file; or in brackets what the module is
   */
  static boolean isCLibrary(String module) {
    return C_LIBRARIES.contains(upToPoint(module));
  }

  private static String upToPoint(String module) {
    int point = module.indexOf('.');
    return point < 0 ? module : module.substring(0, point);
  }
}

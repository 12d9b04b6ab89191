package flametop.profile.log;

import static org.junit.jupiter.api.Assertions.assertEquals;

import flametop.profile.answer.Function;
import flametop.profile.answer.NodeKind;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Which stacks wait for work. Frames are outermost first: those of the kernel behind a bar, others
 * with their module behind a colon if it is not the program, {@code ~} in place of a function of
 * the C library without a name.
 */
final class WorkWaitsTest {
  /** What stands in stacks for the frames of a call. */
  private static final Map<String, String> CALLS =
      Map.of(
          "EPOLL", "do_epoll_wait ep_poll schedule_hrtimeout_range schedule",
          "POLL", "do_sys_poll poll_schedule_timeout.constprop.0 schedule",
          "SELECT", "core_sys_select do_select poll_schedule_timeout schedule",
          "FUTEX", "do_futex futex_wait __futex_wait futex_do_wait schedule",
          "TCP", "inet_accept inet_csk_accept schedule_timeout schedule",
          "UNIX",
              "unix_accept skb_recv_datagram __skb_wait_for_more_packets schedule_timeout schedule",
          "SIGNAL", "do_sigtimedwait schedule_hrtimeout schedule",
          "CLOCK", "hrtimer_nanosleep do_nanosleep schedule");

  private static final String START = "[thread·start]:libc.so.6 ~ ";
  private static final String MAIN = "_start __libc_start_main:libc.so.6 ";

  private static boolean idle(String text) {
    String expanded =
        text.replace("START ", START)
            .replace("MAIN ", MAIN)
            .replace("COND |", "pthread_cond_wait:libc.so.6 ~ |");
    for (Map.Entry<String, String> call : CALLS.entrySet()) {
      expanded = expanded.replace("| " + call.getKey(), "| " + call.getValue());
    }
    List<Function> frames = new ArrayList<>();
    int user = -1;
    boolean whole = true;
    for (String word : expanded.split(" ")) {
      if (word.equals("|")) {
        user = frames.size();
      } else if (word.equals("…")) {
        whole = false;
      } else if (word.equals("~")) {
        frames.add(new Function(NodeKind.UNKNOWN, "libc.so.6", "libc.so.6+fn@0x1"));
      } else {
        String[] parts = word.split(":(?=[^:]+$)(?<!::)");
        boolean kernel = user >= 0;
        frames.add(
            new Function(
                kernel ? NodeKind.KERNEL : NodeKind.USER,
                kernel ? "[kernel]" : parts.length > 1 ? parts[1] : "app",
                parts[0].replace('·', ' ')));
      }
    }
    return WorkWaits.idle(frames, user, whole);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "MAIN main loop ngx_epoll_process_events epoll_wait:libc.so.6 | EPOLL",
        "START worker handle epoll_pwait:libc.so.6 | EPOLL",
        "MAIN main serve accept4:libc.so.6 | TCP",
        "MAIN main serve accept:libc.so.6 | UNIX",
        "START signals sigwait:libc.so.6 | SIGNAL",
        "START worker COND | FUTEX",
        "START worker pool_get_job COND | FUTEX",
        "START worker BlockingPop uv_cond_wait COND | FUTEX",
        "START ~ Thread::call_run:libjvm.so ~ Monitor::wait:libjvm.so COND | FUTEX",
        "START Thread::call_run:libjvm.so Semaphore::wait:libjvm.so __new_sem_wait_slow64.constprop.0:libc.so.6 | FUTEX",
        "START std::thread::_State_impl::_M_run worker std::condition_variable::wait:libstdc++.so.6 COND | FUTEX",
        "START std::sys::thread::start pool::worker std::sync::Condvar::wait syscall:libc.so.6 | FUTEX",
        "START JavaThread::run:libjvm.so Pool.run:[jit] java.util.concurrent.ThreadPoolExecutor.getTask:[jit]"
            + " java.util.concurrent.locks.LockSupport.park:[jit] Unsafe_Park:libjvm.so COND | FUTEX",
        "runtime.mstart runtime.schedule runtime.findRunnable runtime.stopm runtime.futexsleep | FUTEX",
        "runtime.mstart runtime.sysmon runtime.usleep | CLOCK",
        "START pool_worker_main COND | FUTEX",
        "START bioProcessBackgroundJobs COND | FUTEX",
        "START g_thread_proxy:libglib-2.0.so.0 pool_thread:libglib-2.0.so.0 g_cond_wait:libglib-2.0.so.0 syscall:libc.so.6 | FUTEX",
        "MAIN main server_accept_loop ppoll:libc.so.6 | POLL",
        "MAIN main run_app g_main_loop_run:libglib-2.0.so.0 g_main_context_iterate:libglib-2.0.so.0 poll:libc.so.6 | POLL",
        "START g_thread_proxy:libglib-2.0.so.0 gdbus_thread:libgio-2.0.so.0 g_poll:libglib-2.0.so.0 poll:libc.so.6 | POLL",
        "START worker select:libc.so.6 | SELECT",
        "MAIN main PostgresMain pq_getbyte secure_read WaitEventSetWait epoll_wait:libc.so.6 | EPOLL",
        "MAIN main BackgroundWriterMain WaitLatch WaitEventSetWait epoll_wait:libc.so.6 | EPOLL",
        "| ret_from_fork_asm ret_from_fork kthread kswapd schedule",
        "| ret_from_fork_asm ret_from_fork kthread worker_thread schedule",
      })
  void idle_waitForWork_isIdle(String stack) {
    assertEquals(true, idle(stack), stack);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        // Locks, joins and semaphores.
        "START worker pthread_mutex_lock:libc.so.6 ~ | FUTEX",
        "START worker pthread_mutex_lock:libc.so.6 __lll_lock_wait:libc.so.6 | FUTEX",
        "START worker pthread_rwlock_rdlock:libc.so.6 ~ | FUTEX",
        "START worker sem_wait:libc.so.6 ~ | FUTEX",
        "START worker ~ ~ | FUTEX",
        "START worker ~ | FUTEX",
        "START Thread::call_run:libjvm.so Mutex::lock:libjvm.so pthread_mutex_lock:libc.so.6 ~ | FUTEX",
        "START worker std::sync::Mutex::lock_contended syscall:libc.so.6 | FUTEX",
        "START worker pthread_cond_wait:libc.so.6 ~ ~ | FUTEX",
        "START worker pthread_cond_wait:libc.so.6 __lll_lock_wait:libc.so.6 | FUTEX",
        "MAIN main pthread_join:libc.so.6 ~ | FUTEX",
        "START run take_gil COND | FUTEX",
        "START run Pool.run:[jit] java.util.concurrent.ThreadPoolExecutor.getTask:[jit]"
            + " java.util.concurrent.locks.AbstractQueuedSynchronizer.acquire:[jit] Unsafe_Park:libjvm.so COND | FUTEX",
        "MAIN main PostgresMain exec LockAcquireExtended ProcSleep WaitLatch epoll_wait:libc.so.6 | EPOLL",
        // Answers.
        "MAIN main PostgresMain exec gather WaitLatch WaitEventSetWait epoll_wait:libc.so.6 | EPOLL",
        "START worker query PQexec:libpq.so.5 poll:libc.so.6 | POLL",
        "START worker PQexec:libpq.so.5 epoll_wait:libc.so.6 | EPOLL",
        "START worker call grpc_completion_queue_pluck:libgrpc.so.29 epoll_wait:libc.so.6 | EPOLL",
        "START worker read_row poll:libc.so.6 | POLL",
        "START worker getaddrinfo:libc.so.6 ~ poll:libc.so.6 | POLL",
        "START worker serve handle db_wait COND | FUTEX",
        "START worker wait_reply COND | FUTEX",
        "START worker pop_result COND | FUTEX",
        "START wait_for_answer COND | FUTEX",
        "START handle_request COND | FUTEX",
        "START conn_thread COND | FUTEX",
        "START worker pool_get_connection COND | FUTEX",
        "START worker run_task COND | FUTEX",
        "START worker dispatch_request COND | FUTEX",
        "START worker worker_handle COND | FUTEX",
        "START worker queue_push COND | FUTEX",
        "START worker std::future::get std::condition_variable::wait:libstdc++.so.6 COND | FUTEX",
        "START g_thread_proxy:libglib-2.0.so.0 g_mutex_lock:libglib-2.0.so.0 syscall:libc.so.6 | FUTEX",
        "[fiber·start] worker poll:libc.so.6 | POLL",
        "MAIN main poll:libc.so.6 | POLL",
        "MAIN main uv_run timers js node::SyncProcessRunner::Spawn uv_run uv__io_poll epoll_wait:libc.so.6 | EPOLL",
        "MAIN main uv_run timers js uv_run uv__io_poll epoll_wait:libc.so.6 | EPOLL",
        "START worker GC_suspend_handler sigsuspend:libc.so.6 | sigsuspend schedule",
        "START worker Shop.order:[jit] java.util.concurrent.CompletableFuture.get:[jit]"
            + " java.util.concurrent.locks.LockSupport.park:[jit] Unsafe_Park:libjvm.so COND | FUTEX",
        "MAIN main COND | FUTEX",
        "MAIN main run_app g_main_loop_run:libglib-2.0.so.0 callback g_main_loop_run:libglib-2.0.so.0 poll:libc.so.6 | POLL",
        "MAIN main run_app g_main_loop_run:libglib-2.0.so.0 callback query poll:libc.so.6 | POLL",
        "START worker recv:libc.so.6 | tcp_recvmsg wait_woken schedule_timeout schedule",
        "MAIN main nanosleep:libc.so.6 | CLOCK",
        "MAIN main waitpid:libc.so.6 | kernel_wait4 do_wait schedule",
        // What is not known.
        "… worker COND | FUTEX",
        "… epoll_wait:libc.so.6 | EPOLL",
        "START worker epoll_wait:libc.so.6 | do_epoll_wait ep_poll handle_userfault schedule",
        "| futex_wait schedule",
        "| ret_from_fork_asm ret_from_fork kthread worker_thread process_one_work flush schedule",
      })
  void idle_anotherWait_isNot(String stack) {
    assertEquals(false, idle(stack), stack);
  }

  @ParameterizedTest
  @CsvSource({
    "libc.so.6, true",
    "libc-2.31.so, true",
    "ld-musl-x86_64.so.1, true",
    "ld-musl-aarch64.so.1, true",
    "ld-linux-aarch64.so.1, true",
    "[vdso], true",
    "libcurl.so.4, false",
    "libc++.so.1, false",
    "app, false",
    "[kernel], false"
  })
  void isCLibrary_module_isByTheNameUpToItsFirstPoint(String module, boolean is) {
    assertEquals(is, WorkWaits.isCLibrary(module));
  }
}

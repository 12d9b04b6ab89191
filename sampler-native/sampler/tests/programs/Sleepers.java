import java.net.ServerSocket;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/** Threads that wait for ever, each in its own way, at the end of calls; some of these were compiled before. */
class Sleepers {
  interface End {
    void run() throws Exception;
  }

  static volatile int sum;
  static final Object MONITOR = new Object();
  static final ReentrantLock LOCK = new ReentrantLock();

  static void even(int n, End end) throws Exception {
    if (n == 0) {
      end.run();
    } else {
      odd(n - 1, end);
    }
  }

  static void odd(int n, End end) throws Exception {
    even(n - 1, end);
  }

  static void waits() throws Exception {
    Object own = new Object();
    synchronized (own) {
      own.wait();
    }
  }

  static void blocks() {
    synchronized (MONITOR) {
      sum++;
    }
  }

  static void start(String name, End end) {
    Runnable run =
        () -> {
          try {
            even(20, end);
          } catch (Exception e) {
            sum++;
          }
        };
    new Thread(run, name).start();
  }

  public static void main(String[] arguments) throws Exception {
    for (int i = 0; i < 20_000; i++) {
      even(20, () -> sum++);
    }
    LOCK.lock();
    synchronized (MONITOR) {
      start("t-sleeps", () -> Thread.sleep(1_000_000_000));
      start("t-waits", Sleepers::waits);
      start("t-blocks", Sleepers::blocks);
      start("t-parks", LockSupport::park);
      start("t-locks", LOCK::lock);
      start("t-accepts", () -> new ServerSocket(0).accept());
      Thread.sleep(1_000_000_000);
    }
  }
}

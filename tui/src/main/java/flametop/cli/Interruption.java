package flametop.cli;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Lets a command end early and still write, when INT, TERM or HUP comes. The JVM runs its shutdown hooks then, and halts when
 * they have returned: the hook here waits until the command is through.
 */
final class Interruption {
  private final CountDownLatch requested = new CountDownLatch(1);
  private final CountDownLatch finished = new CountDownLatch(1);
  private volatile int code;
  private boolean listening;

  /** From now on a signal only requests the end. */
  synchronized void listen() {
    if (!listening) {
      listening = true;
      Runtime.getRuntime().addShutdownHook(new Thread(this::wind, "interruption"));
    }
  }

  boolean requested() {
    return requested.getCount() == 0;
  }

  /** Waits so long, or until the end is requested. */
  boolean await(long nanos) throws InterruptedException {
    return requested.await(nanos, TimeUnit.NANOSECONDS);
  }

  /** Ends the JVM. */
  void end(int exitCode) {
    code = exitCode;
    finished.countDown();
    System.exit(exitCode);
  }

  private void wind() {
    requested.countDown();
    boolean interrupted = false;
    while (finished.getCount() > 0) {
      try {
        finished.await();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    Runtime.getRuntime().halt(code);
  }
}

package flametop.cli;

import flametop.term.Signals;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Lets a command end early and still write, when INT, TERM or HUP comes. Where these cannot be
 * handled, the JVM runs its shutdown hooks and halts when they have returned: the hook here waits
 * until the command is through.
 */
final class Interruption {
  private static final List<String> SIGNALS = List.of("INT", "TERM", "HUP");

  private final CountDownLatch requested = new CountDownLatch(1);
  private final CountDownLatch finished = new CountDownLatch(1);
  private final Thread hook = new Thread(this::wind, "interruption");
  private volatile int code;

  /** Number of the one that came; 0 before. */
  private volatile int signal;

  /** Runs a command, during which a signal only requests the end. */
  <T> T during(Callable<T> command) throws Exception {
    return during(command, null);
  }

  /**
   * The same.
   *
   * @param hangUp what HUP means instead of the end; null: the end
   */
  <T> T during(Callable<T> command, @Nullable Runnable hangUp) throws Exception {
    Runtime.getRuntime().addShutdownHook(hook);
    try (Signals signals = new Signals()) {
      for (String name : SIGNALS) {
        signals.handle(
            name, hangUp != null && name.equals("HUP") ? number -> hangUp.run() : this::request);
      }
      return command.call();
    } finally {
      try {
        Runtime.getRuntime().removeShutdownHook(hook);
      } catch (IllegalStateException e) {
        // It runs already, and waits for the end.
      }
    }
  }

  private void request(int number) {
    signal = number;
    requested.countDown();
  }

  /**
   * The exit code that says how a command ended: by which signal, if a signal ended the command.
   */
  int number(ExitCode of) {
    return of == ExitCode.INTERRUPTED && signal > 0 ? 128 + signal : of.number();
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
    try {
      finished.await();
    } catch (InterruptedException e) {
      // Nobody interrupts a hook.
    }
    Runtime.getRuntime().halt(code);
  }
}

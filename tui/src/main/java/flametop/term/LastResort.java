package flametop.term;

/**
 * Ends the JVM past a screen that does not end when a signal tells it to, with the terminal
 * restored if that is possible.
 */
final class LastResort extends Thread {
  private static final long PATIENCE_MILLIS = 2_000;

  private final Display display;
  private final int signal;

  LastResort(Display display, int signal) {
    super("last resort");
    this.display = display;
    this.signal = signal;
    setDaemon(true);
  }

  @Override
  public void run() {
    try {
      Thread.sleep(PATIENCE_MILLIS);
    } catch (InterruptedException e) {
      return;
    }
    // It may be at that already, and for long.
    Thread leave = new Thread(() -> display.leave(Display.LEAVE_MILLIS), "leave");
    leave.setDaemon(true);
    leave.start();
    try {
      leave.join(2 * Display.LEAVE_MILLIS);
    } catch (InterruptedException e) {
      // Nothing is left to wait for.
    }
    Runtime.getRuntime().halt(128 + signal);
  }
}

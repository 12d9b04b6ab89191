package flametop.term;

/**
 * Ends the JVM if the screen does not end after a signal, with the terminal restored if possible.
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
    // The screen may be restoring it already, and for long.
    Thread leave = new Thread(() -> display.leave(Display.LEAVE_MILLIS), "leave");
    leave.setDaemon(true);
    leave.start();
    try {
      leave.join(2 * Display.LEAVE_MILLIS);
    } catch (InterruptedException e) {
      // There is nothing left to wait for.
    }
    Runtime.getRuntime().halt(128 + signal);
  }
}

/**
 * Two threads that hold one monitor in turn, each for a while, and one that is blocked on it meanwhile. Each comes back after a
 * pause of another length: which of two waiting threads is next, JVMs say by the order in which the two came, the first or the last.
 */
class Holders {
  static final Object MONITOR = new Object();

  static void sleeps(long millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  static void start(String name, long millis) {
    Runnable run =
        () -> {
          while (true) {
            synchronized (MONITOR) {
              sleeps(millis);
            }
            sleeps((long) (10 + 200 * Math.random()));
          }
        };
    new Thread(run, name).start();
  }

  public static void main(String[] arguments) {
    start("t-first", 700);
    start("t-second", 700);
    start("t-blocks", 1);
  }
}

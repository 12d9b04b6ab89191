/** Two threads that hold one monitor in turn, each for a while, and one that is blocked on it meanwhile. */
class Holders {
  static final Object MONITOR = new Object();

  static void holds(long millis) {
    synchronized (MONITOR) {
      try {
        Thread.sleep(millis);
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  static void start(String name, long millis) {
    Runnable run =
        () -> {
          while (true) {
            holds(millis);
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

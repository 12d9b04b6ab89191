// SPDX-License-Identifier: Apache-2.0
/**
 * As many threads as the argument says, all blocked on one monitor, whose holder sleeps with it and gives it up ten times a second;
 * beside them one thread is busy.
 */
class Locks {
  static final Object MONITOR = new Object();
  static volatile long sink;

  static void take() throws InterruptedException {
    while (true) {
      synchronized (MONITOR) {
        Thread.sleep(100);
      }
    }
  }

  public static void main(String[] arguments) {
    for (int i = 0; i < Integer.parseInt(arguments[0]); i++) {
      Thread thread =
          new Thread(
              () -> {
                try {
                  take();
                } catch (InterruptedException e) {
                  throw new IllegalStateException(e);
                }
              },
              "taker-" + i);
      thread.start();
    }
    while (true) {
      long x = sink;
      for (int i = 0; i < 1000; i++) {
        x = x * 31 + i % 7;
      }
      sink = x;
    }
  }
}

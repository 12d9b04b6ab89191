/** Busy in middle and leaf, which are compiled soon; with an argument it sleeps. */
class Busy {
  static volatile long sum;

  static long leaf(int n) {
    long x = n;
    for (int i = 0; i < 2_000; i++) {
      x = x * 31 + i % 7;
    }
    return n == 0 ? x : x + leaf(n - 1);
  }

  static long middle() {
    return leaf(5) + leaf(4);
  }

  public static void main(String[] arguments) throws Exception {
    if (arguments.length > 0) {
      Thread.sleep(1_000_000_000);
    }
    while (true) {
      sum += middle();
    }
  }
}

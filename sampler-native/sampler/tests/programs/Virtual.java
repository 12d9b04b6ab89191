/**
 * Virtual threads that spin: one never waits; the others wait again and again, one of them behind so many calls that its outer frames
 * stay in the heap.
 */
class Virtual {
  static volatile long sum;

  static long leaf() {
    long x = sum;
    for (int i = 0; i < 20_000; i++) {
      x = x * 31 + i % 7;
    }
    return x;
  }

  static void inner(boolean waits) throws Exception {
    while (true) {
      for (int i = 0; i < 100; i++) {
        sum += leaf();
      }
      if (waits) {
        Thread.sleep(1);
      }
    }
  }

  static void deep(int n, boolean waits) throws Exception {
    if (n == 0) {
      inner(waits);
    } else {
      deep(n - 1, waits);
    }
  }

  static void outer(int n, boolean waits) {
    try {
      deep(n, waits);
    } catch (Exception e) {
      sum++;
    }
  }

  public static void main(String[] arguments) throws Exception {
    Thread.ofVirtual().start(() -> outer(0, false));
    Thread.ofVirtual().start(() -> outer(0, true));
    Thread.ofVirtual().start(() -> outer(300, true)).join();
  }
}

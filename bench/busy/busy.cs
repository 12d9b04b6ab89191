// Busy in middle and leaf.
class Busy {
  static long Leaf(int n) {
    long x = n;
    for (int i = 0; i < 2000; i++) {
      x = (x * 31 + i % 7) % 1000003;
    }
    return n == 0 ? x : x + Leaf(n - 1);
  }

  static long Middle() {
    return Leaf(5) + Leaf(4) + string.Join(",", new int[50]).Length;
  }

  static long sum;

  static void Main() {
    while (true) {
      sum += Middle();
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/** Spends 70 % of its CPU time in hot and 30 % in cold, by the thread's own clock. */
class Split {
  static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();
  static volatile long sink;

  static void hot(long nanoseconds) {
    long end = CLOCK.getCurrentThreadCpuTime() + nanoseconds;
    while (CLOCK.getCurrentThreadCpuTime() < end) {
      long x = sink;
      for (int i = 0; i < 10_000; i++) {
        x = x * 31 + i % 7;
      }
      sink = x;
    }
  }

  static void cold(long nanoseconds) {
    long end = CLOCK.getCurrentThreadCpuTime() + nanoseconds;
    while (CLOCK.getCurrentThreadCpuTime() < end) {
      long x = sink;
      for (int i = 0; i < 10_000; i++) {
        x = x * 31 + i % 7;
      }
      sink = x;
    }
  }

  public static void main(String[] arguments) {
    // Time that a turn takes too much is missing from the next turn.
    long hot = 0;
    long cold = 0;
    while (true) {
      long begin = CLOCK.getCurrentThreadCpuTime();
      hot(Math.max(0, 7_000_000 - hot));
      long middle = CLOCK.getCurrentThreadCpuTime();
      cold(Math.max(0, 3_000_000 - cold));
      hot += middle - begin - 7_000_000;
      cold += CLOCK.getCurrentThreadCpuTime() - middle - 3_000_000;
    }
  }
}

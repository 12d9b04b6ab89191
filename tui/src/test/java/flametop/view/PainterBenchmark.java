package flametop.view;

import flametop.profile.Snapshot;

/** Prints what layout and painting of a large picture cost. Not a test: the machine decides. */
public final class PainterBenchmark {
  private PainterBenchmark() {}

  public static void main(String[] arguments) {
    Tree tree = Pictures.server();
    java.util.Random random = new java.util.Random(1);
    for (int i = 0; i < 3000; i++) {
      String[] frames = new String[20];
      for (int f = 0; f < frames.length; f++) {
        frames[f] = "frame_" + random.nextInt(f < 3 ? 6 : 3);
      }
      tree.stack(1 + random.nextInt(60), frames);
    }
    ViewState state = Pictures.state();
    Snapshot snapshot = Pictures.snapshot(tree, state, 200);
    com.sun.management.ThreadMXBean threads =
        (com.sun.management.ThreadMXBean) java.lang.management.ManagementFactory.getThreadMXBean();
    for (int round = 0; round < 8; round++) {
      int n = 200;
      long allocated = threads.getThreadAllocatedBytes(Thread.currentThread().getId());
      long cpu = threads.getCurrentThreadCpuTime();
      for (int i = 0; i < n; i++) {
        Painter.paint(Scene.of(snapshot, state, 200, 60, Pictures.options()));
      }
      System.out.printf(
          "nodes=%d us=%d bytes=%d%n",
          snapshot.graph().size(),
          (threads.getCurrentThreadCpuTime() - cpu) / n / 1000,
          (threads.getThreadAllocatedBytes(Thread.currentThread().getId()) - allocated) / n);
    }
  }
}

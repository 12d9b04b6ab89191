package flametop.profile.live;

import flametop.sampler.State;
import flametop.sampler.StreamBytes;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;

/**
 * Writes a stream for {@code --replay} whose graph has a million nodes: in its first two seconds
 * 2,000 tasks pass through 48,000 stacks of 25 frames; from then on 100 of them change at each
 * pass. Arguments: the file, and its length in seconds.
 */
public final class LargeStream {
  private static final int TASKS = 2_000;
  private static final int STACKS = 48_000;
  private static final int FRAMES = 25;
  private static final int WIDTH = 30;
  private static final int PASS_HZ = 19;
  private static final int BATCH_STACKS = 1_000;

  private LargeStream() {}

  public static void main(String[] args) throws IOException {
    try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(Path.of(args[0])))) {
      write(out, Integer.parseInt(args[1]));
    }
  }

  private static void write(OutputStream out, int seconds) throws IOException {
    String facts = "host=large\ncpus=0,1\ntarget=all\nhz.pass=" + PASS_HZ + "\nhz.cpu=0\n";
    out.write(new StreamBytes(1, facts).bytes());
    Random random = new Random(1);
    int sequence = 0;
    Batch first = new Batch(sequence++, 1000, false).module(0, 0, "/bin/large");
    for (int frame = 0; frame < FRAMES * WIDTH; frame++) {
      first.frame(frame, 0).name(frame, "function_" + frame / WIDTH + "_" + frame % WIDTH);
    }
    for (int p = 0; p < 20; p++) {
      first.process(p, 100 + p, "process" + p);
    }
    for (int t = 0; t < TASKS; t++) {
      first.task(t, t % 20, 1000 + t, "thread" + t % 20);
    }
    out.write(first.sealed());
    for (int s = 0; s < STACKS; ) {
      Batch batch = new Batch(sequence++, 1000, false);
      for (int end = s + BATCH_STACKS; s < end; s++) {
        // Leaf last.
        int[] frames = new int[FRAMES];
        for (int i = 0; i < FRAMES; i++) {
          frames[i] = i * WIDTH + random.nextInt(i < 3 ? 8 : WIDTH);
        }
        batch.stack(s, frames);
      }
      out.write(batch.sealed());
    }
    for (int pass = 1; pass <= seconds * PASS_HZ; pass++) {
      double time = 1000 + pass * 1000.0 / PASS_HZ;
      Batch batch = new Batch(sequence++, time, true);
      boolean all = pass <= 2 * PASS_HZ;
      for (int i = 0; i < (all ? TASKS : 100); i++) {
        int task = all ? i : random.nextInt(TASKS);
        int stack = all ? (pass * TASKS + i) % STACKS : random.nextInt(STACKS);
        batch.changed(time, task, stack, pass, State.SLEEP, pass);
      }
      out.write(batch.sealed());
    }
  }
}

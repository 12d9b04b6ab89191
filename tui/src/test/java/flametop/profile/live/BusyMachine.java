package flametop.profile.live;

import flametop.sampler.State;
import flametop.sampler.StreamBytes;
import flametop.sampler.StreamFacts;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.Random;

/**
 * A machine with a random history, pass by pass: stacks that recurse, hostile names, tasks that end
 * and others that begin.
 */
public final class BusyMachine {
  private static final String FACTS =
      "cpus=0,1\nhz.pass=19\nhz.cpu=99\ntarget=all\nidle.0.1=C1|2|3\n";
  private static final int STACKS = 60;
  private static final int FRAMES = 30;
  private static final int TASKS = 12;
  private static final String[] NAMES = {
    "main",
    "operator new(unsigned long)",
    "a\033]0;b\007",
    "\u00e2\u0080\u00aeright to left",
    "",
    " ",
    "std::map<std::string, int>::find(std::string const&)",
    ";",
    "x".repeat(900)
  };

  private static final String[] GROUPS = {
    "/", "", "//", "/a\033[2J/b", "no root", "/" + "/x".repeat(400), "/[older]", "/system.slice"
  };

  private final Random random;
  private final double[] run = new double[TASKS];
  private final int[] id = new int[TASKS];
  private int ids;
  private int sequence;

  public BusyMachine(long seed) {
    random = new Random(seed);
  }

  public static StreamFacts facts() {
    return StreamFacts.parse(FACTS);
  }

  /** A recording of what the next passes bring. */
  public byte[] recording(int passes) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.writeBytes(new StreamBytes(1, FACTS).bytes());
    for (int pass = 0; pass < passes; pass++) {
      out.writeBytes(pass().sealed());
    }
    return out.toByteArray();
  }

  /** What the next 50 ms bring. */
  public ByteBuffer next() {
    return pass().bytes();
  }

  private Batch pass() {
    double time = 1000 + 50 * sequence;
    Batch batch = new Batch(sequence, time, true);
    if (sequence == 0) {
      begin(batch);
    }
    for (int task = 0; task < TASKS; task++) {
      if (random.nextInt(100) == 0) {
        batch.gone(id[task], time, run[task]);
        begin(batch, task);
      }
      int stack = random.nextInt(STACKS);
      State state = State.values()[random.nextInt(4)];
      if (random.nextBoolean()) {
        run[task] += random.nextInt(10);
        batch.sample(time, id[task], stack, run[task], sequence);
      }
      batch.changed(time, id[task], stack, run[task], state, sequence + 1);
    }
    batch.usage(0, 25 * sequence, 50 * sequence).usage(1, 50 * sequence, 50 * sequence);
    batch.counters(sequence, sequence / 7, sequence / 9);
    sequence++;
    return batch;
  }

  private void begin(Batch batch) {
    batch.module(0, 0, "[kernel]").module(1, 1, "/bin/app").module(2, 1, "/lib/\033[2J.so");
    for (int frame = 0; frame < FRAMES; frame++) {
      batch.frame(frame, random.nextInt(3));
      if (frame < FRAMES - 2) {
        batch.name(frame, frame < NAMES.length ? NAMES[frame] : "f" + frame);
      }
    }
    for (int stack = 0; stack < STACKS; stack++) {
      int[] frames = new int[1 + random.nextInt(40)];
      for (int i = 0; i < frames.length; i++) {
        frames[i] = random.nextInt(FRAMES);
      }
      batch.stack(stack, frames);
    }
    for (int process = 0; process < NAMES.length; process++) {
      String name = NAMES[process];
      batch.process(process, 10 + process, name.length() > 15 ? name.substring(0, 15) : name);
      batch.cgroup(process, GROUPS[process % GROUPS.length]);
    }
    for (int task = 0; task < TASKS; task++) {
      begin(batch, task);
    }
  }

  private void begin(Batch batch, int task) {
    run[task] = 0;
    id[task] = ids++;
    batch.task(id[task], random.nextInt(NAMES.length), 100 + ids, "t" + task % 3);
  }
}

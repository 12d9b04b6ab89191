package flametop.profile;

import flametop.sampler.State;
import flametop.sampler.WalkEnd;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/**
 * Tasks with a true history, seen as a kernel shows it: sums that lag until the tick, passes that
 * are late, samples that are lost.
 */
final class Simulation {
  private static final long MS = World.MS;
  private static final long TICK = 4 * MS;

  static final class Task {
    int id;
    int process;
    long begin;
    long firstSum;
    long firstWait;
    long account;
    boolean fresh;
    boolean alive = true;
    boolean seen;
    State state = State.SLEEP;
    int stack;
    long since;
    long until;
    long run;
    long wait;
    long nvcsw;
    long nivcsw;
    long shown = -1;
    State shownState;
    long lastRun;
    long lastWait;
    long lastSight;
    State lastState;

    long runSum(long now) {
      return state == State.RUN ? run + Math.max(0, now / TICK * TICK - since) : run;
    }
  }

  final World world;
  final List<Task> tasks = new ArrayList<>();
  private final Random random;
  private final int[] stacks;
  private final List<Runnable> late = new ArrayList<>();
  private int processes;
  private int tids = 100;
  private boolean naming;
  long now = 1_000 * MS;

  Simulation(World world, long seed) {
    this.world = world;
    random = new Random(seed);
    stacks = new int[40];
    world.batch(
        1000,
        false,
        () -> {
          for (int p = 0; p < 4; p++) {
            world.process(processes, 10 + processes++, "app" + p % 3);
          }
          for (int i = 0; i < stacks.length; i++) {
            stacks[i] = stack();
          }
          for (int i = 0; i < 12; i++) {
            start(false);
          }
        });
  }

  private int stack() {
    String[] path = new String[1 + random.nextInt(6)];
    for (int i = 0; i < path.length; i++) {
      path[i] =
          i == 0 && random.nextInt(3) == 0
              ? "[thread start]"
              : "f" + i + random.nextInt(3) + (i > 3 ? "_k" : "");
    }
    return world.stack(random.nextInt(4) == 0 ? WalkEnd.TRUNCATED : WalkEnd.ROOT, path);
  }

  private void start(boolean fresh) {
    Task task = new Task();
    task.id = tasks.size();
    task.process = random.nextInt(processes);
    task.fresh = fresh;
    task.begin = fresh ? now : now - 500 * MS;
    task.since = now;
    task.until = now;
    task.stack = stacks[random.nextInt(stacks.length)];
    if (!fresh) {
      task.run = random.nextInt(1000) * MS;
      task.wait = random.nextInt(1000) * MS;
      task.nvcsw = random.nextInt(100);
    } else {
      task.state = State.RUN;
    }
    tasks.add(task);
    world.intake.taskSeen(task.id, task.process, tids++, task.begin, fresh, "t" + task.id % 5);
  }

  /** Moves a task's true history to a time. */
  private void run(Task t, long to) {
    while (t.until <= to) {
      long length = t.until - t.since;
      State next;
      if (t.state == State.RUN) {
        t.run += length;
        boolean sleeps = random.nextInt(3) > 0;
        t.nvcsw += sleeps ? 1 : 0;
        t.nivcsw += sleeps ? 0 : 1;
        next = sleeps ? State.SLEEP : State.QUEUED;
        t.stack = stacks[random.nextInt(stacks.length)];
      } else if (t.state == State.QUEUED) {
        t.wait += length;
        next = State.RUN;
      } else {
        next = State.QUEUED;
      }
      t.state = next;
      t.since = t.until;
      long most = next == State.RUN ? 30 * MS : next == State.QUEUED ? 20 * MS : 200 * MS;
      t.until += 1 + (long) (random.nextDouble() * most);
    }
  }

  /** One pass's time, with what the CPU clock sees in it. */
  void step() {
    List<Runnable> records = new ArrayList<>(late);
    late.clear();
    long pass = now + 52 * MS + random.nextInt(1000);
    for (long at = now + 10 * MS; at < pass; at += 10 * MS) {
      for (Task t : tasks) {
        if (t.alive) {
          run(t, at);
          if (t.state == State.RUN && random.nextInt(5) > 0) {
            sample(t, at, random.nextInt(4) == 0 ? late : records);
          } else if (t.state == State.RUN && t.seen && random.nextInt(60) == 0) {
            exit(t, at, records);
          }
        }
      }
    }
    boolean made = random.nextInt(8) > 0;
    List<Runnable> passRecords = new ArrayList<>();
    for (Task t : tasks) {
      long at = pass + random.nextInt(50_000);
      if (t.alive) {
        run(t, at);
        if (made) {
          see(t, at, passRecords);
        }
      }
    }
    if (random.nextBoolean()) {
      records.addAll(passRecords);
    } else {
      records.addAll(0, passRecords);
    }
    now = pass + 60_000;
    world.batch(
        pass / (double) MS,
        made,
        () -> {
          records.forEach(Runnable::run);
          if (random.nextInt(4) == 0) {
            start(true);
          }
          if (random.nextInt(10) == 0) {
            exec();
          }
          if (!naming && random.nextInt(10) == 0 || random.nextInt(40) == 0) {
            naming = true;
            List<Integer> due = new ArrayList<>(world.asked);
            Collections.shuffle(due, random);
            world.nameSome(due.subList(0, due.size() / 2 + 1));
          }
        });
  }

  private void exec() {
    Task t = tasks.get(random.nextInt(tasks.size()));
    if (t.alive) {
      world.process(processes, 10 + t.process, "exec" + processes % 3);
      t.process = processes++;
      world.intake.taskSeen(t.id, t.process, 100 + t.id, t.begin, false, "x");
    }
  }

  private void note(Task t, long at, long run, long wait) {
    if (!t.seen) {
      t.seen = true;
      t.account = t.fresh ? t.begin : at;
      t.firstSum = t.fresh ? 0 : run;
      t.firstWait = t.fresh ? 0 : wait;
      t.lastSight = t.account;
      t.lastRun = t.firstSum;
      t.lastWait = t.firstWait;
    }
    if (at >= t.lastSight) {
      t.lastSight = at;
      t.lastRun = run;
      t.lastWait = wait;
    }
  }

  private void sample(Task t, long at, List<Runnable> to) {
    long run = t.runSum(at);
    long wait = t.wait;
    long nvcsw = t.nvcsw;
    int stack = t.stack;
    to.add(
        () -> {
          if (t.alive) {
            note(t, at, run, wait);
            world.intake.cpuSample(
                at, t.id, stack, run, wait, nvcsw, 0, 0, State.RUN, WalkEnd.ROOT, true);
          }
        });
  }

  private void see(Task t, long at, List<Runnable> to) {
    long three = t.nvcsw + t.nivcsw;
    if (t.state != State.RUN && three == t.shown && t.state == t.shownState) {
      return;
    }
    t.shown = three;
    t.shownState = t.state;
    long run = t.runSum(at);
    long wait = t.wait;
    long nvcsw = t.nvcsw;
    State state = t.state;
    int stack = state == State.RUN ? -1 : t.stack;
    to.add(
        () -> {
          if (t.alive) {
            note(t, at, run, wait);
            t.lastState = state;
            world.intake.taskChanged(at, t.id, stack, run, wait, nvcsw, 0, 0, state, WalkEnd.ROOT);
          }
        });
  }

  private void exit(Task t, long at, List<Runnable> to) {
    long run = t.run + at - t.since;
    long wait = t.wait;
    to.add(
        () -> {
          if (t.alive) {
            note(t, at, run, wait);
            // A sight after the end that was told before it; its sums lag.
            t.lastRun = Math.max(t.lastRun, run);
            t.alive = false;
            world.intake.taskGone(t.id, at, run, wait, true);
          }
        });
  }
}

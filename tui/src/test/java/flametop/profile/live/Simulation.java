package flametop.profile.live;

import flametop.sampler.Heads;
import flametop.sampler.IdSpace;
import flametop.sampler.State;
import flametop.sampler.WalkEnd;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;

/**
 * Tasks with a true history, seen as a kernel shows it: sums that lag until the tick, passes that
 * are late, samples that are lost, ends that are told after a pass. It may forget ids, and give
 * them to others; its history is the same then.
 */
final class Simulation {
  private static final long MS = World.MS;
  private static final long TICK = 4 * MS;
  private static final int NONE = -1;

  /** Processes that tasks may begin in at any time. */
  private static final int INITIAL_PROCESSES = 4;

  private static final String[] GROUPS = {"/", "/a", "/a/b", "/ab", ""};

  static final class Task {
    int id;

    /** Its id in the stream. */
    int number;

    long goneAt = Long.MAX_VALUE;

    /** The stack that it was told to be in: it is not forgotten while the task lives. */
    int told = NONE;

    int process;
    long begin;
    long account;

    /** What the kernel counted when the task was seen first, and last. */
    Sums first;

    Sums last;

    boolean fresh;
    boolean alive = true;

    /** It lives no more, which may be told in the next step. */
    boolean ended;

    boolean seen;
    State state = State.SLEEP;
    int stack;
    long since;
    long until;
    long run;
    long wait;
    long blocked;
    long toldBlocked = -1;
    long nvcsw;
    long nivcsw;
    long shown = -1;
    State shownState;
    long lastSight;
    State lastState;

    Sums sums(long now) {
      return new Sums(
          state == State.RUN ? run + Math.max(0, now / TICK * TICK - since) : run,
          wait,
          state == State.DISK ? blocked + now - since : blocked);
    }
  }

  /** Sums of the kernel, ns. */
  record Sums(long run, long queued, long blocked) {}

  final World world;
  final List<Task> tasks = new ArrayList<>();
  private final Random random;

  /** Null: nothing is forgotten. */
  private final Random forgetting;

  private final Random moving;

  /** Whether its kernel counts time in D. */
  final boolean countsDisk;

  private final Random diskOrSleep;

  private final World.Ids taskIds = new World.Ids();
  private final World.Ids processIds = new World.Ids();
  private final Map<Integer, Integer> processNumber = new HashMap<>();

  /** Ids in the stream, and what they are, by the number here. */
  private final int[] stacks;

  private final WalkEnd[] stackEnd;
  private final String[][] stackPath;
  private final List<Runnable> late = new ArrayList<>();
  private int processes;
  private int tids = 100;
  private boolean naming;
  private final boolean nameAtOnce;
  long now = 1_000 * MS;

  Simulation(World world, long seed) {
    this(world, seed, false, null);
  }

  Simulation(World world, long seed, boolean nameAtOnce, Random forgetting) {
    this.world = world;
    this.nameAtOnce = nameAtOnce;
    this.forgetting = forgetting;
    moving = new Random(~seed);
    diskOrSleep = new Random(seed + 1000);
    countsDisk = seed % 2 == 1;
    random = new Random(seed);
    stacks = new int[40];
    stackEnd = new WalkEnd[stacks.length];
    stackPath = new String[stacks.length][];
    world.begin(1000, false);
    for (int p = 0; p < INITIAL_PROCESSES; p++) {
      process("app" + p % 3, 10 + processes);
    }
    for (int i = 0; i < stacks.length; i++) {
      stack(i);
    }
    for (int i = 0; i < 12; i++) {
      start(false);
    }
    world.end();
  }

  private void process(String comm, int tgid) {
    int number = processIds.take();
    processNumber.put(processes++, number);
    String line = tgid % 3 == 0 ? "python3 " + comm + ".py" : "/bin/" + comm + " --work";
    seen(number, tgid, comm, "");
    seen(number, tgid, comm, line);
    move(number, GROUPS.length);
    Integer parent = processNumber.get(moving.nextInt(processes));
    if (parent != null && parent != number) {
      world.intake.parent(number, parent);
    }
  }

  private void seen(int number, int tgid, String comm, String commandLine) {
    world.intake.processSeen(number, tgid, 0, 0, 1000 + tgid, 0, false, comm, commandLine);
  }

  private void move(int process, int groups) {
    world.intake.cgroup(process, GROUPS[moving.nextInt(groups)]);
  }

  private void stack(int index) {
    String[] path = new String[1 + random.nextInt(6)];
    for (int i = 0; i < path.length; i++) {
      path[i] =
          i == 0 && random.nextInt(3) == 0
              ? "[thread start]"
              : "f" + i + random.nextInt(3) + (i > 3 ? "_k" : "");
    }
    stackEnd[index] = random.nextInt(4) == 0 ? WalkEnd.TRUNCATED : WalkEnd.ROOT;
    stackPath[index] = path;
    stacks[index] = world.stack(stackEnd[index], path);
  }

  /** Gives ids of what is gone, and of stacks, to others; stacks come again under new ones. */
  private void forget() {
    Set<Integer> held = new HashSet<>();
    for (Task t : tasks) {
      if (t.alive) {
        held.add(t.told);
      }
    }
    for (int i = 0; i < stacks.length; i++) {
      if (forgetting.nextInt(10) == 0 && !held.contains(i)) {
        world.forgetStack(stacks[i]);
        stacks[i] = NONE;
      }
    }
    for (int i = stacks.length - 1; i >= 0; i--) {
      if (stacks[i] == NONE) {
        stacks[i] = world.stack(stackEnd[i], stackPath[i]);
      }
    }
    Set<Integer> used = new HashSet<>();
    for (Task t : tasks) {
      if (t.number != NONE && t.goneAt < now - 500 * MS && forgetting.nextInt(3) == 0) {
        world.intake.forgotten(IdSpace.TASK, new int[] {t.number});
        taskIds.forget(t.number);
        t.number = NONE;
      }
      if (t.number != NONE) {
        used.add(t.process);
      }
    }
    for (int process = INITIAL_PROCESSES; process < processes; process++) {
      Integer number = processNumber.get(process);
      if (number != null && !used.contains(process)) {
        processNumber.remove(process);
        processIds.forget(number);
        world.intake.forgotten(IdSpace.PROCESS, new int[] {number});
      }
    }
  }

  private void start(boolean fresh) {
    Task task = new Task();
    task.id = tasks.size();
    // One that executed has the process for itself.
    task.process = random.nextInt(INITIAL_PROCESSES);
    task.fresh = fresh;
    task.begin = fresh ? now : now - 500 * MS;
    task.since = now;
    task.until = now;
    task.stack = random.nextInt(stacks.length);
    if (!fresh) {
      task.run = random.nextInt(1000) * MS;
      task.wait = random.nextInt(1000) * MS;
      task.nvcsw = random.nextInt(100);
    } else {
      task.state = State.RUN;
    }
    tasks.add(task);
    task.number = taskIds.take();
    world.intake.taskSeen(
        task.number, processNumber.get(task.process), tids++, task.begin, fresh, "t" + task.id % 5);
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
        State sleep = diskOrSleep.nextInt(3) == 0 ? State.DISK : State.SLEEP;
        next = sleeps ? sleep : State.QUEUED;
        t.stack = random.nextInt(stacks.length);
      } else if (t.state == State.QUEUED) {
        t.wait += length;
        next = State.RUN;
      } else {
        t.blocked += t.state == State.DISK ? length : 0;
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
        if (t.alive && !t.ended) {
          run(t, at);
          if (t.state == State.RUN && random.nextInt(5) > 0) {
            sample(t, at, random.nextInt(4) == 0 ? late : records);
          } else if (t.state == State.RUN && t.seen && random.nextInt(60) == 0) {
            t.ended = true;
            exit(t, at, random.nextBoolean() ? late : records);
          }
        }
      }
    }
    boolean made = random.nextInt(8) > 0;
    List<Runnable> passRecords = new ArrayList<>();
    for (Task t : tasks) {
      long at = pass + random.nextInt(50_000);
      if (t.alive && !t.ended) {
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
          // Each place that it was in is an owner more of all its tasks.
          if (moving.nextInt(20) == 0) {
            move(processNumber.get(0), 2);
          }
          if (forgetting != null) {
            forget();
          }
          if (nameAtOnce) {
            world.nameAll();
          } else if (!naming && random.nextInt(10) == 0 || random.nextInt(40) == 0) {
            naming = true;
            List<Integer> due = new ArrayList<>(world.asked);
            Collections.shuffle(due, random);
            world.nameSome(due.subList(0, due.size() / 2 + 1));
          }
        });
  }

  private void exec() {
    Task t = tasks.get(random.nextInt(tasks.size()));
    if (t.alive && !t.ended) {
      process("exec" + processes % 3, 10 + t.process);
      t.process = processes - 1;
      world.intake.taskSeen(
          t.number, processNumber.get(t.process), 100 + t.id, t.begin, false, "x");
    }
  }

  private void note(Task t, long at, Sums sums) {
    if (countsDisk && sums.blocked > t.toldBlocked) {
      t.toldBlocked = sums.blocked;
      world.intake.taskBlocked(t.number, sums.blocked);
    }
    if (!t.seen) {
      t.seen = true;
      t.account = t.fresh ? t.begin : at;
      t.first = t.fresh ? new Sums(0, 0, 0) : sums;
      t.lastSight = t.account;
      t.last = t.first;
    }
    if (at >= t.lastSight) {
      t.lastSight = at;
      t.last = sums;
    }
  }

  private void sample(Task t, long at, List<Runnable> to) {
    Sums sums = t.sums(at);
    long nvcsw = t.nvcsw;
    int stack = t.stack;
    int cpu = (int) (at / MS % 3);
    to.add(
        () -> {
          if (t.alive) {
            note(t, at, sums);
            world.intake.cpuSample(
                Heads.of(
                    at, t.number, stacks[stack], sums.run, sums.queued, nvcsw, cpu, State.RUN));
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
    Sums sums = t.sums(at);
    long nvcsw = t.nvcsw;
    State state = t.state;
    int stack = state == State.RUN ? NONE : t.stack;
    to.add(
        () -> {
          if (t.alive) {
            note(t, at, sums);
            t.lastState = state;
            t.told = stack;
            int id = stack == NONE ? NONE : stacks[stack];
            world.intake.taskChanged(
                Heads.of(at, t.number, id, sums.run, sums.queued, nvcsw, 0, state));
          }
        });
  }

  private void exit(Task t, long at, List<Runnable> to) {
    Sums sums = new Sums(t.run + at - t.since, t.wait, t.blocked);
    to.add(
        () -> {
          if (t.alive) {
            note(t, at, sums);
            t.alive = false;
            t.goneAt = now;
            world.intake.taskGone(t.number, at, sums.run, sums.queued, true);
          }
        });
  }
}

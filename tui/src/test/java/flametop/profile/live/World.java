package flametop.profile.live;

import flametop.profile.answer.FoldedStack;
import flametop.profile.answer.Shape;
import flametop.profile.answer.StateSet;
import flametop.profile.host.HostUsage;
import flametop.profile.log.ChangeLog;
import flametop.profile.log.Names;
import flametop.profile.log.Owners;
import flametop.profile.log.Stacks;
import flametop.profile.log.TaskStates;
import flametop.profile.tree.Options;
import flametop.sampler.Heads;
import flametop.sampler.IdSpace;
import flametop.sampler.ModuleKind;
import flametop.sampler.NameRequests;
import flametop.sampler.NameSource;
import flametop.sampler.State;
import flametop.sampler.StreamFacts;
import flametop.sampler.WalkEnd;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** All of the profile but its thread, driven record by record; times are in ms. */
public final class World {
  public static final long MS = 1_000_000;

  final List<Integer> asked = new ArrayList<>();
  final Names names =
      new Names((frames, count) -> Arrays.stream(frames, 0, count).forEach(asked::add));
  final List<Integer> askedPlaces = new ArrayList<>();
  final Places places =
      new Places(
          new NameRequests() {
            @Override
            public void ask(int[] frames, int count) {}

            @Override
            public void askPlaces(int[] frames, int count) {
              Arrays.stream(frames, 0, count).forEach(askedPlaces::add);
            }
          });
  public final Owners owners = new Owners();
  final Stacks stacks = new Stacks(names);
  public final ChangeLog log;
  final HostUsage host =
      new HostUsage(
          StreamFacts.parse("cpus=0,1\nhz.pass=19\nhz.cpu=99\ntarget=all\nidle.0.1=C1|2|3\n"));
  final EventSources events;
  public final Intake intake;
  final Options options;
  final LogStore store;
  public final List<LogFold> folds = new ArrayList<>();
  private final Map<String, Integer> frames = new HashMap<>();
  private final Map<Integer, int[]> stackFrames = new HashMap<>();
  private final Ids frameIds = new Ids();
  private final Ids stackIds = new Ids();
  private int sequence;
  private int epochs;

  public World(Options options) {
    this.options = options;
    log = new ChangeLog(options.historyBytes(), owners);
    store = new LogStore(log, owners, stacks, options, () -> ++epochs);
    events = new EventSources(owners, options.historyBytes());
    intake = new Intake(log, owners, stacks, names, places, host, events);
    fold(options.shape());
    intake.moduleSeen(0, ModuleKind.KERNEL, "[kernel]", "");
    intake.moduleSeen(1, ModuleKind.FILE, "/usr/bin/app", "ab");
  }

  public World() {
    this(Options.DEFAULT);
  }

  World(Shape shape, long historyBytes) {
    this(new Options(shape, historyBytes, true));
  }

  LogFold fold(Shape shape) {
    LogFold fold = store.fold(shape);
    folds.add(fold);
    return fold;
  }

  /** A new fold that has all of the log. */
  LogFold caughtUp(Shape shape) {
    LogFold fold = fold(shape);
    fold.catchUp(Long.MAX_VALUE);
    return fold;
  }

  void drop(LogFold fold) {
    folds.remove(fold);
    fold.close();
  }

  public LogFold fold() {
    return folds.get(0);
  }

  public void process(int process, int tgid, String comm) {
    intake.processSeen(
        process, tgid, 0, 0, 1000 + process, 0, false, comm, "/bin/" + comm + " --work");
  }

  public void task(int task, int process, int tid, double start, boolean fresh, String comm) {
    intake.taskSeen(task, process, tid, ns(start), fresh, comm);
  }

  /** Time in D so far, which the kernel counts. */
  public void blocked(int task, double ms) {
    intake.taskBlocked(task, ns(ms));
  }

  public static long ns(double ms) {
    return Math.round(ms * MS);
  }

  /**
   * A stack of user frames, or of kernel frames where the name ends in _k, or in _[k], which is no
   * part of the name; new frames are not named yet.
   */
  int stack(WalkEnd end, String... functions) {
    int[] ids = new int[functions.length];
    int user = 0;
    for (int i = 0; i < functions.length; i++) {
      boolean kernel = functions[i].endsWith("_k") || functions[i].endsWith("_[k]");
      user += kernel ? 0 : 1;
      Integer known = frames.get(functions[i]);
      if (known == null) {
        known = frameIds.take();
        frames.put(functions[i], known);
        intake.frameSeen(known, kernel ? 0 : 1, 0x1000 + known, functions[i].startsWith("guessed"));
      }
      ids[i] = known;
    }
    int stack = stackIds.take();
    stackFrames.put(stack, ids.clone());
    intake.stackSeen(stack, end, user, ids);
    return stack;
  }

  /** Ids as the native side gives them: the one forgotten last first. */
  static final class Ids {
    private final ArrayDeque<Integer> free = new ArrayDeque<>();
    private int next;

    int take() {
      return free.isEmpty() ? next++ : free.pop();
    }

    void forget(int id) {
      free.push(id);
    }
  }

  /** Forgets a stack, and the frames that no other has. */
  void forgetStack(int stack) {
    int[] its = stackFrames.remove(stack);
    stackIds.forget(stack);
    intake.forgotten(IdSpace.STACK, new int[] {stack});
    for (int frame : its) {
      boolean used =
          stackFrames.values().stream().anyMatch(f -> Arrays.stream(f).anyMatch(x -> x == frame));
      if (!used && frames.values().remove(frame)) {
        frameIds.forget(frame);
        intake.forgotten(IdSpace.FRAME, new int[] {frame});
      }
    }
  }

  /** Frees what nothing refers to. */
  void sweep() {
    new Sweep(log, intake, owners, stacks).run(folds, List.of(), List.of(), null);
  }

  int frame(String function) {
    return frames.get(function);
  }

  void name(String function) {
    intake.name(
        frame(function),
        function.startsWith("[") ? NameSource.ROOT : NameSource.SYMBOL,
        function.endsWith("_[k]") ? function.substring(0, function.length() - 4) : function);
  }

  void nameAll() {
    frames.keySet().forEach(this::name);
  }

  void nameSome(List<Integer> ids) {
    frames.keySet().stream().filter(of -> ids.contains(frame(of))).forEach(this::name);
  }

  public int named(String... functions) {
    int stack = stack(WalkEnd.ROOT, functions);
    List.of(functions).forEach(this::name);
    return stack;
  }

  public void batch(double time, boolean pass, Runnable records) {
    begin(time, pass);
    records.run();
    end();
  }

  /** Begins a batch, which has the records until {@link #end}. */
  public void begin(double time, boolean pass) {
    intake.batchBegins(ns(time), sequence++, pass, false);
  }

  public void end() {
    intake.batchEnds();
    stacks.takeChanged(stack -> folds.forEach(f -> f.renamed(stack)));
    folds.forEach(f -> f.catchUp(Long.MAX_VALUE));
  }

  public void changed(
      double time, int task, int stack, double run, double wait, long nvcsw, State state) {
    intake.taskChanged(Heads.of(ns(time), task, stack, ns(run), ns(wait), nvcsw, 0, state));
  }

  public void sample(double time, int task, int stack, double run, double wait, long nvcsw) {
    intake.cpuSample(Heads.of(ns(time), task, stack, ns(run), ns(wait), nvcsw, 1, State.RUN));
  }

  /** What tasks do now. */
  public TaskStates tasks() {
    return new TaskStates(owners, intake.accounts(), intake.now());
  }

  public GraphReader reader() {
    return reader(fold(), Long.MAX_VALUE);
  }

  public GraphReader reader(LogFold fold, long windowNanos) {
    fold.window(windowNanos, System.nanoTime() + 60_000_000_000L);
    return new GraphReader(fold);
  }

  /** Folded stacks in ms, fractions cut off. */
  public Map<String, Long> folded(StateSet states) {
    return folded(fold(), Long.MAX_VALUE, states, false);
  }

  Map<String, Long> folded(LogFold fold) {
    return folded(fold, Long.MAX_VALUE);
  }

  Map<String, Long> folded(LogFold fold, long windowNanos) {
    return folded(fold, windowNanos, StateSet.ALL, false);
  }

  long total(LogFold fold) {
    return reader(fold, Long.MAX_VALUE).tree().total(StateSet.ALL);
  }

  /** Samples of all stacks. */
  Map<String, Long> samples(LogFold fold) {
    return folded(fold, Long.MAX_VALUE, StateSet.ALL, true);
  }

  public Map<String, Long> folded(
      LogFold fold, long windowNanos, StateSet states, boolean samples) {
    Map<String, Long> map = new TreeMap<>();
    for (FoldedStack f : reader(fold, windowNanos).folded(states, 0, samples)) {
      map.put(String.join(";", f.names()), samples ? f.value() : f.value() / MS);
    }
    return map;
  }

  /** Sums along paths must be those of the entries below, which the watched node knows. */
  public void check() {
    for (LogFold fold : folds) {
      checkWatch(fold.trie);
      Trie trie = fold.trie;
      for (State state : State.values()) {
        int bits = 1 << state.ordinal();
        long[] expected = new long[trie.nodes()];
        int[] passing = new int[trie.nodes()];
        for (int entry = 0; entry < trie.entries(); entry++) {
          for (int node = trie.leaf(entry); node >= 0; node = trie.parent(node)) {
            expected[node] += trie.entryWeight(entry, bits);
            passing[node]++;
          }
        }
        for (int node = 0; node < trie.nodes(); node++) {
          if (expected[node] != trie.weight(node, bits) || passing[node] != trie.passing(node)) {
            throw new AssertionError("sums of node=" + node + " state=" + state + " are wrong");
          }
        }
      }
    }
  }

  /** The node that was watched so far; then another. */
  private static void checkWatch(Trie trie) {
    SelectedNodeSums watch = trie.watch;
    for (int entry = 0; entry < trie.entries() && watch.node() >= 0; entry++) {
      int node = trie.leaf(entry);
      while (node >= 0 && node != watch.node()) {
        node = trie.parent(node);
      }
      if (node >= 0 != watch.holds(entry)) {
        throw new AssertionError("entry=" + entry + " is not watched as it is");
      }
    }
    watch.watch(Math.max(0, (watch.node() + 3) % trie.nodes()));
  }
}

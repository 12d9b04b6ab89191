package flametop.profile.live;

import static java.util.Objects.requireNonNull;

import flametop.profile.answer.FoldedStack;
import flametop.profile.answer.NodeKind;
import flametop.profile.answer.ProcessRow;
import flametop.profile.answer.RootOrder;
import flametop.profile.answer.Selection;
import flametop.profile.answer.Source;
import flametop.profile.answer.StateSet;
import flametop.profile.log.Owners;
import flametop.profile.log.Processes;
import flametop.profile.log.Stacks;
import flametop.profile.log.TaskStates;
import flametop.profile.tree.Functions;
import flametop.profile.tree.TreeReader;
import flametop.sampler.State;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/** Answers questions about a fold: the selected node, folded stacks, processes, source lines. */
public final class GraphReader {
  /** How many places of one node are asked for, the heaviest. */
  private static final int MAX_PLACES = 32;

  /** In a trie of so many nodes and entries the owners of a node are told at once, in 1 ms. */
  static final int FEW = 1 << 16;

  /** Shares that are equal by this are of one owner and state. */
  private static final Comparator<FoldedStack.Share> WHOSE =
      Comparator.comparingInt(FoldedStack.Share::pid)
          .thenComparingInt(FoldedStack.Share::tid)
          .thenComparing(FoldedStack.Share::process)
          .thenComparing(FoldedStack.Share::thread)
          .thenComparingInt(share -> requireNonNull(share.state()).ordinal());

  private static final int ROOT = 0;
  private static final int NONE = -1;

  private final LogFold fold;
  private final Trie trie;
  private final Owners owners;
  private final Processes processes;
  private final Stacks stacks;
  private final TreeReader tree;

  GraphReader(LogFold fold) {
    this.fold = fold;
    trie = fold.trie;
    owners = fold.store.owners;
    processes = owners.processes();
    stacks = fold.store.stacks;
    tree = fold.tree().reader();
  }

  /** Answers questions about the tree alone. */
  public TreeReader tree() {
    return tree;
  }

  /** A node in full, as {@link LogFold#selection}. */
  Selection selection(int node, StateSet states, long budget) {
    int function = trie.function(node);
    SelectedNodeSums watch = trie.watch;
    // In a large tree processes, error and trend of a node that is only passed are told later.
    boolean watched = watch.node() == node || trie.size() <= FEW || budget > 0;
    watch.watch(node);
    BitSet processesIn = new BitSet();
    for (int entry = 0; watched && entry < trie.entries(); entry++) {
      if (watch.holds(entry)
          && trie.owner(entry) != Owners.OLDER
          && (trie.entryWeight(entry, states.bits()) > 0
              // Its time is on the stacks of its siblings.
              || trie.stack(entry) == Stacks.NOT_SAMPLED
                  && trie.entryKnown(entry, states.bits()) > 0)) {
        processesIn.set(owners.process(trie.owner(entry)));
      }
    }
    int count = watched ? processesIn.cardinality() : Selection.UNKNOWN;
    int one = processesIn.nextSetBit(0);
    boolean single = count == 1 && processes.tgid(one) != Processes.NO_TGID;
    return new Selection(
        tree.number(node),
        tree.path(node),
        stacks.kind(function),
        stacks.module(function),
        trie.isGuessed(node),
        count,
        (int) processesIn.stream().filter(process -> !processes.lives(process)).count(),
        single ? processes.tgid(one) : 0,
        single ? processes.commandLine(one) : "",
        trie.filter(node),
        tree.weight(node, states.bits()),
        tree.self(node, states.bits()),
        trie.watchedNanos(),
        watched ? trie.certainty(states.bits()) : null,
        watched ? before(node, states.bits(), budget) : null);
  }

  /** The root is all that there is: its trend would be that of the strip, at the cost of a sum. */
  private Selection.@Nullable Before before(int node, int states, long budget) {
    return node == ROOT
        ? Selection.Before.NONE
        : fold.trend.before(states, System.nanoTime() + budget);
  }

  /** Where a node is in the source; unknown places are asked for. */
  Source source(long asked, int node, StateSet states, Places places) {
    int depth = trie.depth(node);
    boolean[] within = below(node);
    Map<Integer, Long> sums = new HashMap<>();
    for (int entry = 0; entry < trie.entries(); entry++) {
      if (trie.leaf(entry) != NONE && within[trie.leaf(entry)]) {
        long nanos = trie.entryWeight(entry, states.bits());
        int frame = nanos > 0 ? trie.frame(entry, depth) : NONE;
        if (frame != NONE) {
          sums.merge(frame, nanos, Long::sum);
        }
      }
    }
    List<Map.Entry<Integer, Long>> heaviest =
        sums.entrySet().stream()
            .sorted(
                Map.Entry.<Integer, Long>comparingByValue(Comparator.reverseOrder())
                    .thenComparing(Map.Entry.comparingByKey()))
            .limit(MAX_PLACES)
            .toList();
    places.want(
        heaviest.stream().mapToInt(e -> stacks.id(e.getKey())).filter(id -> id != NONE).toArray());
    // Several instructions of one line are one place.
    Map<Places.Answer, Long> lines = new LinkedHashMap<>();
    Places.Answer awaited = new Places.Answer(List.of(), "");
    Places.Answer forgotten =
        new Places.Answer(
            List.of(), "seen too long ago to be asked for; it can be when it runs again");
    for (Map.Entry<Integer, Long> of : heaviest) {
      int id = stacks.id(of.getKey());
      Places.Answer answer = id == NONE ? forgotten : places.of(id);
      lines.merge(answer == null ? awaited : answer, of.getValue(), Long::sum);
    }
    List<Source.Place> found = new ArrayList<>();
    lines.forEach(
        (answer, nanos) -> found.add(new Source.Place(nanos, answer.calls(), answer.missing())));
    found.sort(Comparator.comparingLong(Source.Place::weight).reversed());
    return new Source(
        asked,
        tree.name(node),
        tree.weight(node, states.bits()),
        List.copyOf(found),
        sums.size() - heaviest.size());
  }

  /** Which nodes are this one or below it: parents come before their children. */
  private boolean[] below(int node) {
    boolean[] within = new boolean[trie.nodes()];
    within[node] = true;
    for (int n = node + 1; n < within.length; n++) {
      within[n] = within[trie.parent(n)];
    }
    return within;
  }

  /**
   * Stacks below a node with their values and shares, in order of their names, equal paths
   * together. Any thread may go through them, as often as the thread likes.
   */
  public Iterable<FoldedStack> folded(StateSet states, int zoom, boolean samples) {
    Map<Path, List<FoldedStack.Share>> shares = new HashMap<>();
    boolean[] within = zoom == ROOT ? null : below(zoom);
    for (int entry = 0; entry < trie.entries(); entry++) {
      int leaf = trie.leaf(entry);
      if (leaf == NONE || within != null && !within[leaf]) {
        continue;
      }
      if (value(entry, states.bits(), samples) > 0) {
        int[] whole = trie.functions(entry, true);
        // It may be left out for a frame that is not shown.
        int[] path = whole != null ? whole : trie.functions(entry, trie.roots);
        if (path != null) {
          List<FoldedStack.Share> its =
              shares.computeIfAbsent(new Path(path), p -> new ArrayList<>(1));
          share(entry, states.bits(), samples, its);
        }
      }
    }
    Functions names = stacks.held();
    List<Map.Entry<Path, List<FoldedStack.Share>>> ordered = new ArrayList<>(shares.entrySet());
    ordered.sort((a, b) -> compare(names, a.getKey().functions, b.getKey().functions));
    ordered.forEach(of -> of.setValue(merged(of.getValue())));
    return () ->
        ordered.stream().map(of -> stack(names, of.getKey().functions, of.getValue())).iterator();
  }

  private static FoldedStack stack(Functions names, int[] path, List<FoldedStack.Share> shares) {
    String[] name = new String[path.length];
    NodeKind[] kind = new NodeKind[path.length];
    String[] module = new String[path.length];
    for (int i = 0; i < path.length; i++) {
      name[i] = names.name(path[i]);
      kind[i] = names.kind(path[i]);
      module[i] = names.module(path[i]);
    }
    long value = 0;
    for (FoldedStack.Share share : shares) {
      value += share.value();
    }
    return new FoldedStack(name, kind, module, value, shares);
  }

  private static int compare(Functions names, int[] a, int[] b) {
    int at = Arrays.mismatch(a, b);
    return at >= 0 && at < Math.min(a.length, b.length)
        ? names.compare(a[at], b[at])
        : Integer.compare(a.length, b.length);
  }

  private record Path(int[] functions) {
    @Override
    public boolean equals(Object other) {
      return other instanceof Path p && Arrays.equals(functions, p.functions);
    }

    @Override
    public int hashCode() {
      return Arrays.hashCode(functions);
    }
  }

  private long value(int entry, int states, boolean samples) {
    return samples ? trie.entrySamples(entry, states) : trie.entryWeight(entry, states);
  }

  /** Adds the shares of an entry, which add up to its value; a state may be below 0. */
  private void share(int entry, int states, boolean samples, List<FoldedStack.Share> to) {
    int owner = trie.owner(entry);
    int process = owners.process(owner);
    int pid = process == Owners.NONE ? 0 : Math.max(0, processes.tgid(process));
    boolean threads = fold.shape.group() == RootOrder.THREAD;
    int tid = threads ? Math.max(0, owners.tid(owner)) : 0;
    String thread = tid > 0 ? owners.comm(owner) : "";
    long owed = 0;
    for (State state : State.values()) {
      long part = value(entry, states & 1 << state.ordinal(), samples);
      owed += Math.max(0, -part);
    }
    for (State state : State.values()) {
      long part = value(entry, states & 1 << state.ordinal(), samples);
      long paid = Math.min(owed, Math.max(0, part));
      owed -= paid;
      if (part > paid) {
        long seen = trie.entrySamples(entry, states & 1 << state.ordinal());
        to.add(
            new FoldedStack.Share(
                pid, owners.processComm(owner), tid, thread, state, part - paid, seen));
      }
    }
  }

  /** Joins shares of the same owner and state. */
  private static List<FoldedStack.Share> merged(List<FoldedStack.Share> shares) {
    if (shares.size() <= 1) {
      return shares;
    }
    Map<FoldedStack.Share, FoldedStack.Share> merged = new TreeMap<>(WHOSE);
    shares.forEach(share -> merged.merge(share, share, FoldedStack.Share::plus));
    return List.copyOf(merged.values());
  }

  /** Rows of the pick list of processes or comms, heaviest first. */
  public List<ProcessRow> processes(StateSet states, TaskStates tasks, boolean byComm) {
    Map<Object, Row> rows = new HashMap<>();
    long total =
        rows(
            states,
            tasks,
            rows,
            process -> {
              int tgid = processes.tgid(process);
              boolean isOld = tgid == Processes.NO_TGID;
              return byComm ? List.of(processes.comm(process)) : isOld ? List.of() : List.of(tgid);
            });
    List<ProcessRow> list = new ArrayList<>(rows.size());
    for (Row row : rows.values()) {
      int count = byComm ? row.count : 1;
      String line = count == 1 ? processes.commandLine(row.process) : "";
      int pid = byComm ? 0 : processes.tgid(row.process);
      list.add(row.of(pid, count, processes.comm(row.process), line, total));
    }
    list.sort(ProcessRow.HEAVIEST_FIRST);
    return list;
  }

  /**
   * Rows of the pick list of control groups: of each path with processes, and of those above it
   * unless all of theirs are in one of them. Those of {@code /} are only its own.
   */
  List<ProcessRow> cgroups(StateSet states, TaskStates tasks) {
    Map<Object, Row> rows = new HashMap<>();
    long total = rows(states, tasks, rows, process -> groups(processes.cgroup(process)));
    Set<Object> same = new HashSet<>();
    rows.forEach(
        (path, row) -> {
          String above = above((String) path);
          Row there = rows.get(above);
          if (there != null && there.count == row.count) {
            same.add(above);
          }
        });
    rows.keySet().removeAll(same);
    List<ProcessRow> list = new ArrayList<>(rows.size());
    rows.forEach((path, row) -> list.add(row.of(0, row.count, (String) path, "", total)));
    list.sort(ProcessRow.HEAVIEST_FIRST);
    return list;
  }

  /** The path of the control group above a path; empty for one that stands below the root. */
  private static String above(String path) {
    return path.substring(0, path.lastIndexOf('/'));
  }

  /** The path of a control group and the paths above; none for text that is no path. */
  private static List<Object> groups(String path) {
    List<Object> groups = new ArrayList<>();
    for (String of = path; of.startsWith("/"); of = above(of)) {
      groups.add(of);
    }
    return groups;
  }

  /**
   * Sums up processes that have time or live.
   *
   * @param keys the rows that a process is in
   * @return ns of all
   */
  private long rows(
      StateSet states, TaskStates tasks, Map<Object, Row> rows, IntFunction<List<Object>> keys) {
    int[][] living = tasks.byProcess(owners);
    long total = 0;
    for (int process = 0; process < processes.slots(); process++) {
      long nanos = Math.max(0, fold.processWeight(process, states.bits()));
      total += nanos;
      if (nanos > 0 || living[process] != null) {
        for (Object key : keys.apply(process)) {
          rows.computeIfAbsent(key, k -> new Row()).add(process, nanos, living[process]);
        }
      }
    }
    return total;
  }

  /** Processes of one comm or control group, or generations of one pid. */
  private final class Row {
    int process;
    int count;
    long weight;
    boolean alive;
    final int[] tasks = new int[State.values().length];

    /**
     * @param byState its tasks; null if it had ended
     */
    void add(int its, long nanos, int[] byState) {
      boolean lives = byState != null;
      // The newest living one speaks for them all.
      if (count == 0 || lives || !alive) {
        process = its;
      }
      count++;
      weight += nanos;
      alive |= lives;
      for (int state = 0; lives && state < tasks.length; state++) {
        tasks[state] += byState[state];
      }
    }

    ProcessRow of(int pid, int shown, String name, String commandLine, long total) {
      int uid = processes.uid(process);
      return new ProcessRow(pid, shown, uid, name, commandLine, weight, total, tasks, alive);
    }
  }
}

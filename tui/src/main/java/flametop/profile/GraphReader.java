package flametop.profile;

import flametop.sampler.State;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * Reads what is asked for out of a fold: the visible part of the graph, what a search finds, the
 * selected node, folded stacks. Goes only where something is to be seen.
 */
final class GraphReader {
  private static final int MAX_MATCHES = 4_096;

  /** Places of one node that are asked for, the heaviest. */
  private static final int MAX_PLACES = 32;

  private static final int STATES = State.values().length;
  private static final int ROOT = 0;
  private static final int NONE = -1;
  private static final byte MATCHES = 1;
  private static final byte DIFFERS = 2;

  private final Fold fold;
  private final Trie trie;
  private final Window window;
  private final Owners owners;
  private final Stacks stacks;
  private final long epoch;

  /**
   * @param epoch upper half of the numbers of its nodes
   */
  GraphReader(Fold fold, Owners owners, Stacks stacks, int epoch) {
    this.fold = fold;
    trie = fold.trie();
    window = fold.window();
    this.owners = owners;
    this.stacks = stacks;
    this.epoch = (long) epoch << 32;
  }

  long number(int node) {
    return node == ROOT ? GraphQuery.ROOT : epoch | node;
  }

  long total(StateSet states) {
    return weight(ROOT, states.bits());
  }

  private long weight(int node, int states) {
    return Math.max(0, trie.weight(node, states, window));
  }

  private String name(int node) {
    return stacks.name(trie.function(node));
  }

  private int compare(int a, int b) {
    return compareFunctions(trie.function(a), trie.function(b));
  }

  /** Order of siblings: by name, then kind, then module. */
  private int compareFunctions(int a, int b) {
    if (a == b) {
      return 0;
    }
    int byName = stacks.name(a).compareTo(stacks.name(b));
    if (byName != 0) {
      return byName;
    }
    int byKind = stacks.kind(a).compareTo(stacks.kind(b));
    return byKind != 0 ? byKind : stacks.module(a).compareTo(stacks.module(b));
  }

  /** Which functions match a pattern; kept as long as the pattern is the same. */
  static final class Matches {
    /** Far more than a plain expression needs, and done within a millisecond. */
    private static final int LOOKS = 10_000;

    private static final int LOOKS_PER_CHARACTER = 64;

    /** An expression that is too costly for so many names is given up. */
    private static final int MOST_EXHAUSTED = 50;

    private Pattern pattern;
    private int exhausted;
    private byte[] of = new byte[0];

    /** Functions may be others from now on. */
    void forget() {
      pattern = null;
    }

    private void use(Pattern wanted, int functions) {
      if (pattern == null
          || !pattern.pattern().equals(wanted.pattern())
          || pattern.flags() != wanted.flags()) {
        pattern = wanted;
        exhausted = 0;
        of = new byte[functions];
      } else if (functions > of.length) {
        of = Arrays.copyOf(of, 2 * functions);
      }
    }

    private boolean matches(Stacks stacks, int function) {
      if (of[function] == 0) {
        of[function] = find(stacks.name(function)) ? MATCHES : DIFFERS;
      }
      return of[function] == MATCHES;
    }

    private boolean find(String name) {
      if (exhausted > MOST_EXHAUSTED) {
        return false;
      }
      try {
        return pattern
            .matcher(new BoundedText(name, LOOKS + LOOKS_PER_CHARACTER * name.length()))
            .find();
      } catch (BoundedText.Exhausted e) {
        exhausted++;
        return false;
      } catch (StackOverflowError e) {
        // Some patterns recurse for every character, and names may be long.
        return false;
      }
    }
  }

  private final class SliceBuilder {
    final GraphQuery query;
    final Matches matches;
    final IntList node = new IntList();
    final IntList parent = new IntList();
    final IntList depth = new IntList();
    long[] weight = new long[256];
    long[] hiddenWeight = new long[256];
    int[] hiddenCount = new int[256];

    SliceBuilder(GraphQuery query, Matches matches) {
      this.query = query;
      this.matches = matches;
    }

    int add(int of, int above, int level, long nanos) {
      int at = node.size;
      node.add(of);
      parent.add(above);
      depth.add(level);
      if (at == weight.length) {
        weight = Arrays.copyOf(weight, 2 * at);
        hiddenWeight = Arrays.copyOf(hiddenWeight, 2 * at);
        hiddenCount = Arrays.copyOf(hiddenCount, 2 * at);
      }
      weight[at] = nanos;
      return at;
    }

    GraphSlice build(int zoomIndex) {
      int size = node.size;
      long[] numbers = new long[size];
      String[] names = new String[size];
      NodeKind[] kinds = new NodeKind[size];
      boolean[] matched = new boolean[size];
      if (query.search() != null) {
        matches.use(query.search(), stacks.functions());
      }
      for (int i = 0; i < size; i++) {
        int function = trie.function(node.items[i]);
        numbers[i] = number(node.items[i]);
        names[i] = stacks.name(function);
        kinds[i] = stacks.kind(function);
        matched[i] = query.search() != null && matches.matches(stacks, function);
      }
      return new GraphSlice(
          numbers,
          parent.toArray(),
          names,
          kinds,
          Arrays.copyOf(weight, size),
          Arrays.copyOf(hiddenWeight, size),
          Arrays.copyOf(hiddenCount, size),
          matched,
          zoomIndex,
          query.byState() ? states(size) : null);
    }

    private byte[] states(int size) {
      byte[] most = new byte[size];
      for (int i = 0; i < size; i++) {
        long nanos = 0;
        for (int state = 0; state < STATES; state++) {
          int bit = query.states().bits() & 1 << state;
          long in = bit == 0 ? 0 : weight(node.items[i], bit);
          if (in > nanos) {
            nanos = in;
            most[i] = (byte) state;
          }
        }
      }
      return most;
    }
  }

  /** The part of the graph that the query can show. */
  GraphSlice slice(GraphQuery query, int zoom, Matches matches) {
    int states = query.states().bits();
    SliceBuilder slice = new SliceBuilder(query, matches);
    IntList ancestors = new IntList();
    for (int node = trie.parent(zoom); node != NONE; node = trie.parent(node)) {
      ancestors.add(node);
    }
    int above = NONE;
    for (int i = ancestors.size - 1; i >= 0; i--) {
      above = slice.add(ancestors.items[i], above, 0, weight(ancestors.items[i], states));
    }
    int zoomIndex = ancestors.size;
    long zoomWeight = weight(zoom, states);
    // What is still to be listed: a node, its parent's index, its level and weight.
    IntList dueNode = new IntList();
    IntList dueParent = new IntList();
    IntList dueLevel = new IntList();
    long[] dueWeight = new long[64];
    dueNode.add(zoom);
    dueParent.add(above);
    dueLevel.add(0);
    dueWeight[0] = zoomWeight;
    List<Child> wide = new ArrayList<>();
    IntList children = new IntList();
    long[] weights = new long[64];
    while (dueNode.size > 0) {
      int last = --dueNode.size;
      dueParent.size = last;
      dueLevel.size = last;
      int node = dueNode.items[last];
      int level = dueLevel.items[last];
      long weight = dueWeight[last];
      int index = slice.add(node, dueParent.items[last], level, weight);
      children.clear();
      long sum = 0;
      int first = level < query.levels() ? trie.firstChild(node) : NONE;
      for (int child = first; child != NONE; child = trie.sibling(child)) {
        long nanos = weight(child, states);
        if (nanos > 0) {
          if (children.size == weights.length) {
            weights = Arrays.copyOf(weights, 2 * children.size);
          }
          weights[children.size] = nanos;
          children.add(child);
          sum += nanos;
        }
      }
      // A window may begin between what was seen and its correction: then children are more than
      // their parent.
      double scale = sum > weight ? (double) weight / sum : 1;
      wide.clear();
      for (int i = 0; i < children.size; i++) {
        long nanos = sum > weight ? (long) (weights[i] * scale) : weights[i];
        if ((double) nanos * query.columns() * 8 < zoomWeight) {
          slice.hiddenWeight[index] += nanos;
          slice.hiddenCount[index]++;
        } else {
          wide.add(new Child(children.items[i], nanos));
        }
      }
      wide.sort((a, b) -> compare(b.node, a.node));
      for (Child child : wide) {
        int at = dueNode.size;
        if (at == dueWeight.length) {
          dueWeight = Arrays.copyOf(dueWeight, 2 * at);
        }
        dueNode.add(child.node);
        dueParent.add(index);
        dueLevel.add(level + 1);
        dueWeight[at] = child.weight;
      }
    }
    return slice.build(zoomIndex);
  }

  private record Child(int node, long weight) {}

  /** What matches in the whole graph. */
  Snapshot.Search search(Pattern pattern, StateSet states, Matches matches) {
    matches.use(pattern, stacks.functions());
    int nodes = trie.nodes();
    boolean[] below = new boolean[nodes];
    boolean[] matched = new boolean[nodes];
    int count = 0;
    for (int node = nodes - 1; node > ROOT; node--) {
      if (trie.passing(node) > 0
          && matches.matches(stacks, trie.function(node))
          && weight(node, states.bits()) > 0) {
        matched[node] = true;
        below[node] = true;
        count++;
      }
      if (below[node]) {
        below[trie.parent(node)] = true;
      }
    }
    long weight = 0;
    long[] found = new long[Math.min(count, MAX_MATCHES)];
    int listed = 0;
    IntList due = new IntList();
    IntList covered = new IntList();
    due.add(ROOT);
    covered.add(0);
    List<Integer> next = new ArrayList<>();
    while (due.size > 0) {
      int node = due.items[--due.size];
      int isCovered = covered.items[--covered.size];
      if (matched[node]) {
        if (isCovered == 0) {
          weight += weight(node, states.bits());
        }
        isCovered = 1;
        if (listed < found.length) {
          found[listed++] = number(node);
        }
      }
      next.clear();
      for (int child = trie.firstChild(node); child != NONE; child = trie.sibling(child)) {
        if (below[child]) {
          next.add(child);
        }
      }
      next.sort((a, b) -> compare(b, a));
      for (int child : next) {
        due.add(child);
        covered.add(isCovered);
      }
    }
    return new Snapshot.Search(pattern, Math.min(weight, total(states)), found, count);
  }

  /** The node in full. */
  Selection selection(int node, StateSet states) {
    int function = trie.function(node);
    List<String> path = new ArrayList<>();
    for (int n = node; n != NONE; n = trie.parent(n)) {
      path.add(0, name(n));
    }
    long[] byState = new long[State.values().length];
    for (int state = 0; state < byState.length; state++) {
      byState[state] = weight(node, 1 << state);
    }
    int processes = 0;
    int one = NONE;
    boolean[] counted = new boolean[owners.processes()];
    boolean[] within = node == ROOT ? null : below(node);
    for (int entry = 0; entry < trie.entries(); entry++) {
      int process = owners.process(trie.owner(entry));
      if (process != Owners.NONE
          && !counted[process]
          && (within == null || within[trie.leaf(entry)])
          && trie.entryWeight(entry, states.bits(), window) > 0) {
        counted[process] = true;
        processes++;
        one = process;
      }
    }
    boolean single = processes == 1 && owners.tgid(one) != Owners.NO_TGID;
    return new Selection(
        number(node),
        path.toArray(new String[0]),
        stacks.kind(function),
        stacks.module(function),
        trie.guessed(node),
        processes,
        single ? owners.tgid(one) : 0,
        single ? owners.commandLine(one) : "",
        weight(node, states.bits()),
        byState);
  }

  /** Where a node is in the source; places that nothing is known of are asked for. */
  Source source(long asked, int node, StateSet states, Places places) {
    int depth = trie.depth(node);
    boolean[] within = below(node);
    Map<Integer, long[]> sums = new HashMap<>();
    for (int entry = 0; entry < trie.entries(); entry++) {
      if (within[trie.leaf(entry)]) {
        long nanos = trie.entryWeight(entry, states.bits(), window);
        int frame = nanos > 0 ? trie.frame(entry, depth) : NONE;
        if (frame != NONE) {
          sums.computeIfAbsent(frame, f -> new long[1])[0] += nanos;
        }
      }
    }
    List<Map.Entry<Integer, long[]>> heaviest = new ArrayList<>(sums.entrySet());
    heaviest.sort(
        (a, b) -> {
          int byWeight = Long.compare(b.getValue()[0], a.getValue()[0]);
          return byWeight != 0 ? byWeight : Integer.compare(a.getKey(), b.getKey());
        });
    int others = Math.max(0, heaviest.size() - MAX_PLACES);
    heaviest = heaviest.subList(0, heaviest.size() - others);
    places.want(
        heaviest.stream().mapToInt(e -> stacks.id(e.getKey())).filter(id -> id != NONE).toArray());
    // Several instructions of one line are one place.
    Map<Places.Answer, Long> lines = new LinkedHashMap<>();
    Places.Answer awaited = new Places.Answer(List.of(), "");
    Places.Answer forgotten =
        new Places.Answer(
            List.of(), "seen too long ago to be asked for; it can be when it runs again");
    for (Map.Entry<Integer, long[]> of : heaviest) {
      int id = stacks.id(of.getKey());
      Places.Answer answer = id == NONE ? forgotten : places.of(id);
      lines.merge(answer == null ? awaited : answer, of.getValue()[0], Long::sum);
    }
    List<Source.Place> found = new ArrayList<>();
    lines.forEach(
        (answer, nanos) -> found.add(new Source.Place(nanos, answer.calls(), answer.missing())));
    found.sort((a, b) -> Long.compare(b.weight(), a.weight()));
    return new Source(asked, name(node), weight(node, states.bits()), List.copyOf(found), others);
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

  /** Stacks below a node with their values, in order of their names; equal paths together. */
  List<FoldedStack> folded(StateSet states, int zoom, boolean samples) {
    Map<Path, long[]> sums = new HashMap<>();
    IntList path = new IntList();
    IntList guessed = new IntList();
    boolean[] within = zoom == ROOT ? null : below(zoom);
    for (int entry = 0; entry < trie.entries(); entry++) {
      if (within != null && !within[trie.leaf(entry)]) {
        continue;
      }
      long value =
          samples
              ? trie.entrySamples(entry, states.bits(), window)
              : trie.entryWeight(entry, states.bits(), window);
      if (value > 0) {
        path.clear();
        guessed.clear();
        trie.rootPath(trie.owner(entry), path);
        stacks.path(trie.stack(entry), true, path, guessed);
        sums.computeIfAbsent(new Path(path.toArray()), p -> new long[1])[0] += value;
      }
    }
    List<Map.Entry<Path, long[]>> ordered = new ArrayList<>(sums.entrySet());
    ordered.sort((a, b) -> compare(a.getKey().functions, b.getKey().functions));
    List<FoldedStack> folded = new ArrayList<>(ordered.size());
    for (Map.Entry<Path, long[]> of : ordered) {
      int[] functions = of.getKey().functions;
      String[] names = new String[functions.length];
      NodeKind[] kinds = new NodeKind[functions.length];
      for (int i = 0; i < functions.length; i++) {
        names[i] = stacks.name(functions[i]);
        kinds[i] = stacks.kind(functions[i]);
      }
      folded.add(new FoldedStack(names, kinds, of.getValue()[0]));
    }
    return folded;
  }

  private int compare(int[] a, int[] b) {
    for (int i = 0; i < a.length && i < b.length; i++) {
      int order = compareFunctions(a[i], b[i]);
      if (order != 0) {
        return order;
      }
    }
    return Integer.compare(a.length, b.length);
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

  /** Rows of the pick list, heaviest first. */
  List<ProcessRow> processes(StateSet states, boolean byComm) {
    int[][] tasks = owners.tasksByProcess();
    int count = owners.processes();
    long[] weights = new long[count];
    long total = 0;
    for (int process = 0; process < count; process++) {
      weights[process] = Math.max(0, fold.processWeight(process, states.bits()));
      total += weights[process];
    }
    Map<Object, Row> rows = new HashMap<>();
    for (int process = 0; process < count; process++) {
      boolean many = owners.tgid(process) == Owners.NO_TGID;
      if ((weights[process] > 0 || owners.alive(process)) && (byComm || !many)) {
        Object key = byComm ? owners.commOfProcess(process) : (Object) owners.tgid(process);
        Row row = rows.computeIfAbsent(key, k -> new Row());
        row.add(process, weights[process], tasks[process], owners.alive(process));
      }
    }
    List<ProcessRow> list = new ArrayList<>(rows.size());
    for (Row row : rows.values()) {
      list.add(
          new ProcessRow(
              byComm ? 0 : owners.tgid(row.process),
              byComm ? row.processes : 1,
              owners.uid(row.process),
              owners.commOfProcess(row.process),
              byComm && row.processes > 1 ? "" : owners.commandLine(row.process),
              row.weight,
              total,
              row.tasks,
              row.alive));
    }
    list.sort(
        (a, b) -> {
          int byWeight = Long.compare(b.weight(), a.weight());
          int byName = byWeight != 0 ? byWeight : a.comm().compareTo(b.comm());
          return byName != 0 ? byName : Integer.compare(a.pid(), b.pid());
        });
    return list;
  }

  /** Processes of one comm, or generations of one pid. */
  private static final class Row {
    int process;
    int processes;
    long weight;
    boolean alive;
    final int[] tasks = new int[State.values().length];

    void add(int process, long nanos, int[] byState, boolean lives) {
      // The newest living one speaks for them all.
      if (processes == 0 || lives || !alive) {
        this.process = process;
      }
      processes++;
      weight += nanos;
      alive |= lives;
      for (int state = 0; byState != null && state < tasks.length; state++) {
        tasks[state] += byState[state];
      }
    }
  }
}

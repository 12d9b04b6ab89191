package flametop.view.screen;

import flametop.profile.answer.Function;
import flametop.profile.answer.GraphQuery;
import flametop.profile.answer.GraphSlice;
import flametop.profile.answer.NodeKind;
import flametop.profile.answer.Selection;
import flametop.profile.answer.Shape;
import flametop.profile.answer.Snapshot;
import flametop.sampler.State;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;

/** A call tree made by hand, which answers a {@link GraphQuery} as its contract says. */
public final class Tree {
  public static final class Node {
    public final long id;
    final Node parent;
    public final String name;
    final NodeKind kind;
    final TreeMap<String, Node> children = new TreeMap<>();
    public long weight;
    long before;
    long queued;
    boolean guessed;

    Node(long id, Node parent, String name, NodeKind kind) {
      this.id = id;
      this.parent = parent;
      this.name = name;
      this.kind = kind;
    }

    /** The weight that is in no child. */
    long self() {
      return weight - children.values().stream().mapToLong(child -> child.weight).sum();
    }

    /** The nodes from the process on. */
    private List<Node> path() {
      List<Node> path = new ArrayList<>();
      for (Node n = this; n.parent != null; n = n.parent) {
        path.add(0, n);
      }
      return path;
    }
  }

  public final List<Node> nodes = new ArrayList<>();
  final Node root = add(null, "all", NodeKind.ROOT);
  boolean compared;

  private Node add(Node parent, String name, NodeKind kind) {
    Node node = new Node(nodes.size(), parent, name, kind);
    nodes.add(node);
    return node;
  }

  /**
   * Adds a stack: frames from the root, {@code _[k]} kernel, {@code _[j]} JIT, {@code _[p]} Python,
   * {@code _[h]} PHP, {@code _[r]} Ruby, {@code [...]} a reason, {@code [idle]} idle threads,
   * {@code ?...} unknown, {@code _[?]} guessed.
   */
  public Tree stack(long milliseconds, String... frames) {
    return stack(milliseconds, 0, frames);
  }

  /**
   * Adds folded stacks in ms, one a line.
   *
   * @param outer the outermost frames of each, folded too; empty for none
   */
  void folded(String outer, String stacks) {
    for (String line : stacks.strip().split("\n")) {
      int space = line.lastIndexOf(' ');
      String inner = line.substring(0, Math.max(0, space));
      String path = outer.isEmpty() || inner.isEmpty() ? outer + inner : outer + ";" + inner;
      stack(Long.parseLong(line.substring(space + 1)), path.split(";"));
    }
  }

  /** The same where it is compared with what it had before. */
  public Tree stack(long milliseconds, long before, String... frames) {
    Node at = root;
    long ns = milliseconds * 1_000_000L;
    long was = before * 1_000_000L;
    compared |= was > 0;
    at.weight += ns;
    at.before += was;
    for (String frame : frames) {
      Node parent = at;
      NodeKind kind = at == root ? NodeKind.PROCESS : kind(frame);
      at = at.children.computeIfAbsent(name(frame), name -> add(parent, name, kind));
      at.weight += ns;
      at.before += was;
      at.guessed |= frame.endsWith("_[?]");
    }
    return this;
  }

  private static NodeKind kind(String frame) {
    return switch (frame.substring(Math.max(0, frame.length() - 4))) {
      case "_[k]" -> NodeKind.KERNEL;
      case "_[j]" -> NodeKind.JIT;
      case "_[p]" -> NodeKind.PYTHON;
      case "_[h]" -> NodeKind.PHP;
      case "_[r]" -> NodeKind.RUBY;
      default ->
          frame.equals("[idle]")
              ? NodeKind.IDLE
              : frame.startsWith("[")
                  ? NodeKind.REASON
                  : frame.startsWith("?") ? NodeKind.UNKNOWN : NodeKind.USER;
    };
  }

  private static String name(String frame) {
    return frame.replaceAll("_\\[[kjphr?]\\]$", "").replaceAll("^\\?", "");
  }

  boolean hasGuesses() {
    return nodes.stream().anyMatch(node -> node.guessed);
  }

  /** Adds a stack with which tasks wait for a CPU. */
  public Tree queued(long milliseconds, String... frames) {
    stack(milliseconds, frames);
    Node at = root;
    at.queued += milliseconds * 1_000_000L;
    for (String frame : frames) {
      at = at.children.get(name(frame));
      at.queued += milliseconds * 1_000_000L;
    }
    return this;
  }

  /** Adds a stack of other trees' nodes below the root. */
  private void put(List<Node> stack, long weight) {
    Node at = root;
    at.weight += weight;
    for (Node node : stack) {
      Node parent = at;
      at = at.children.computeIfAbsent(node.name, name -> add(parent, name, node.kind));
      at.weight += weight;
    }
  }

  /** The callers or callees of a function, as {@link flametop.profile.answer.Sandwich} has them. */
  public Tree half(String function, boolean callers) {
    Tree half = new Tree();
    for (Node node : nodes) {
      List<Node> path = node.path();
      int at = 1;
      while (at < path.size() && !path.get(at).name.equals(function)) {
        at++;
      }
      if (node.self() > 0 && at < path.size()) {
        List<Node> kept = path.subList(callers ? 1 : at, callers ? at + 1 : path.size());
        if (callers) {
          Collections.reverse(kept);
        }
        half.put(kept, node.self());
      }
    }
    return half;
  }

  /** The same with the innermost frames first, below what stands above the frames. */
  Tree reversed() {
    Tree reversed = new Tree();
    for (Node leaf : nodes) {
      if (leaf.self() > 0 && leaf != root) {
        List<Node> path = leaf.path();
        Collections.reverse(path.subList(1, path.size()));
        reversed.put(path, leaf.self());
      }
    }
    return reversed;
  }

  public Node find(String... path) {
    Node at = root;
    for (String name : path) {
      at = at.children.get(name);
    }
    return at;
  }

  public GraphSlice slice(GraphQuery query) {
    List<Node> listed = new ArrayList<>();
    List<Integer> parents = new ArrayList<>();
    List<long[]> hidden = new ArrayList<>();
    Node zoom = nodes.get((int) query.zoom());
    List<Node> chain = new ArrayList<>();
    for (Node n = zoom.parent; n != null; n = n.parent) {
      chain.add(0, n);
    }
    for (Node n : chain) {
      listed.add(n);
      parents.add(listed.size() - 2);
      hidden.add(new long[2]);
    }
    int zoomIndex = listed.size();
    // What is too narrow on the zoomed node is a bundle of its own.
    double narrowest = wanted(zoom, query) / (query.columns() * 8.0);
    listed.add(zoom);
    parents.add(zoomIndex - 1);
    hidden.add(new long[2]);
    for (Node child : zoom.children.values()) {
      if (isWanted(child, query)) {
        list(child, zoomIndex, narrowest, listed, parents, hidden);
      }
    }
    int n = listed.size();
    boolean parted = root.queued > 0 && !compared;
    GraphSlice slice =
        new GraphSlice(
            new long[n],
            new int[n],
            new String[n],
            new NodeKind[n],
            new long[n],
            new long[n],
            new int[n],
            new int[n],
            new long[n],
            query.siblings() != null,
            new boolean[n],
            new boolean[n],
            zoomIndex,
            parted ? new long[n] : null,
            query.byState() ? new byte[n] : null,
            compared ? new long[n] : null);
    for (int i = 0; i < n; i++) {
      Node node = listed.get(i);
      slice.node()[i] = node.id;
      slice.parent()[i] = parents.get(i);
      slice.name()[i] = node.name;
      slice.kind()[i] = node.kind;
      slice.guessed()[i] = node.guessed;
      if (parted) {
        slice.queued()[i] = node.queued;
      }
      slice.weight()[i] = node.weight;
      if (compared) {
        slice.baseline()[i] = node.before;
      }
      slice.hiddenWeight()[i] = hidden.get(i)[0];
      slice.hiddenCount()[i] = (int) hidden.get(i)[1];
      slice.last()[i] = node.id;
      slice.bundled()[i] = node.parent == zoom && extent(node) < narrowest ? 1 : 0;
      if (query.byState()) {
        slice.state()[i] = (byte) state(node).ordinal();
      }
      slice.matched()[i] = query.search() != null && query.search().matcher(node.name).find();
    }
    return slice;
  }

  private boolean isWanted(Node child, GraphQuery query) {
    return query.siblings() == null
        || child.name.compareTo(nodes.get((int) query.siblings().first()).name) >= 0
            && child.name.compareTo(nodes.get((int) query.siblings().last()).name) <= 0;
  }

  private double wanted(Node zoom, GraphQuery query) {
    return query.siblings() == null
        ? extent(zoom)
        : zoom.children.values().stream()
            .filter(c -> isWanted(c, query))
            .mapToLong(Tree::extent)
            .sum();
  }

  private static Shape.Filter filter(Node node, String module) {
    return switch (node.kind) {
      case ROOT -> null;
      case PROCESS -> new Shape.Comms(Set.of(node.name), false);
      default -> new Shape.Through(new Function(node.kind, module, node.name), false);
    };
  }

  private static long extent(Node node) {
    return Math.max(node.weight, node.before);
  }

  /** By the name of its widest leaf. */
  private static State state(Node node) {
    Node leaf = node;
    while (!leaf.children.isEmpty()) {
      leaf = Collections.max(leaf.children.values(), Comparator.comparingLong(n -> n.weight));
    }
    return state(leaf.name);
  }

  /** The state in which a function is that calls none. */
  static State state(String function) {
    return switch (function) {
      case "schedule", "epoll_wait" -> State.SLEEP;
      case "jbd2_log_wait_commit", "wb_workfn" -> State.DISK;
      case "tcp_write_xmit", "tcp_recvmsg" -> State.QUEUED;
      default -> State.RUN;
    };
  }

  private static void list(
      Node node,
      int parent,
      double narrowest,
      List<Node> listed,
      List<Integer> parents,
      List<long[]> hidden) {
    int index = listed.size();
    listed.add(node);
    parents.add(parent);
    long[] sums = new long[2];
    hidden.add(sums);
    for (Node child : node.children.values()) {
      if (extent(child) < narrowest) {
        sums[0] += extent(child);
        sums[1]++;
      } else {
        list(child, index, narrowest, listed, parents, hidden);
      }
    }
  }

  Snapshot.Search search(GraphQuery query) {
    if (query.search() == null) {
      return null;
    }
    List<Node> found = new ArrayList<>();
    long weight = search(root, query, false, found);
    return new Snapshot.Search(
        query.search(), weight, found.stream().mapToLong(n -> n.id).toArray(), found.size(), false);
  }

  private static long search(Node node, GraphQuery query, boolean within, List<Node> found) {
    boolean matches = query.search().matcher(node.name).find();
    if (matches) {
      found.add(node);
    }
    long below = 0;
    for (Node child : node.children.values()) {
      below += search(child, query, within || matches, found);
    }
    return within ? 0 : matches ? node.weight : below;
  }

  Selection selection(
      GraphQuery query,
      String module,
      int processes,
      int pid,
      String commandLine,
      long[] weightByState) {
    Node node = nodes.get((int) query.selected());
    List<String> path = new ArrayList<>();
    for (Node n = node; n != null; n = n.parent) {
      path.add(0, n.name);
    }
    return new Selection(
        node.id,
        path.toArray(new String[0]),
        node.kind,
        module,
        false,
        processes,
        0,
        pid,
        commandLine,
        filter(node, module),
        node.weight,
        node.self(),
        weightByState,
        null,
        null);
  }
}

package flametop.profile.format;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import flametop.array.IntColumn;
import flametop.array.LongColumn;
import flametop.array.LongIndex;
import flametop.profile.answer.NodeKind;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A {@code .cpuprofile} of V8: a tree of nodes, samples that name a node each, and the times
 * between the samples. A sample lasts until the next one, the last until the profile's end.
 *
 * @see <a href="https://chromedevtools.github.io/devtools-protocol/tot/Profiler/#type-Profile">its
 *     definition</a>
 */
final class CpuProfileJson {
  private static final int MOST_FRAMES = 1 << 24;

  /** The root's own name, which is no function. */
  private static final String ROOT = "(root)";

  private record Frame(String name, String url) {}

  private final LongIndex ids = new LongIndex();
  private final Map<Frame, Integer> known = new HashMap<>();
  private final List<Frame> frames = new ArrayList<>();

  // By row of a node.
  private final IntColumn frame = new IntColumn();
  private final LongColumn hits = new LongColumn();

  // The edges: row of a parent, id of a child.
  private final IntColumn parents = new IntColumn();
  private final LongColumn children = new LongColumn();

  private final LongColumn samples = new LongColumn();
  private final JsonNumbers deltas = new JsonNumbers();
  private long start = -1;
  private long end = -1;
  private long unknown;
  private long back;

  /** Reads a field of the outermost object; returns whether it is one of such a profile. */
  boolean field(String name, JsonParser json) throws IOException {
    boolean array = json.currentToken() == JsonToken.START_ARRAY;
    switch (name) {
      case "startTime" -> start = JsonReader.whole(json);
      case "endTime" -> end = JsonReader.whole(json);
      case "timeDeltas" -> deltas.addAll(json);
      case "samples" -> {
        while (array && JsonReader.nextElement(json) != null) {
          samples.add(JsonReader.whole(json));
        }
      }
      default -> {
        if (!array) {
          return false;
        }
        for (JsonToken t; (t = JsonReader.nextElement(json)) != null; ) {
          if (t == JsonToken.START_OBJECT) {
            node(json);
          } else {
            json.skipChildren();
          }
        }
      }
    }
    return array;
  }

  private void node(JsonParser json) throws IOException {
    long id = -1;
    long parent = -1;
    long hit = 0;
    Frame of = new Frame("", "");
    LongColumn below = new LongColumn();
    while (JsonReader.nextField(json)) {
      String field = json.currentName();
      JsonToken value = json.nextToken();
      switch (field) {
        case "id" -> id = JsonReader.whole(json);
        case "parent" -> parent = JsonReader.whole(json);
        case "hitCount" -> hit = JsonReader.whole(json);
        case "callFrame" -> of = value == JsonToken.START_OBJECT ? callFrame(json) : of;
        case "children" -> {
          while (value == JsonToken.START_ARRAY && JsonReader.nextElement(json) != null) {
            below.add(JsonReader.whole(json));
          }
        }
        default -> json.skipChildren();
      }
    }
    if (id < 0 || ids.size() >= MOST_FRAMES) {
      unknown++;
      return;
    }
    int row = ids.row(id);
    Integer number = known.putIfAbsent(of, frames.size());
    if (number == null) {
      frames.add(of);
    }
    frame.set(row, number == null ? frames.size() : number + 1);
    hits.set(row, Math.max(0, hit));
    for (int i = 0; i < below.size; i++) {
      parents.add(row);
      children.add(below.items[i]);
    }
    if (parent >= 0) {
      parents.add(ids.row(parent));
      children.add(id);
    }
  }

  private static Frame callFrame(JsonParser json) throws IOException {
    String name = "";
    String url = "";
    long line = -1;
    while (JsonReader.nextField(json)) {
      String field = json.currentName();
      json.nextToken();
      switch (field) {
        case "functionName" -> name = JsonReader.text(json);
        case "url" -> url = JsonReader.text(json);
        case "lineNumber" -> line = JsonReader.whole(json);
        default -> json.skipChildren();
      }
    }
    String file = url.substring(url.lastIndexOf('/') + 1);
    // Functions without a name are told apart by where they begin; V8 counts lines from 0 on.
    return name.isEmpty()
        ? new Frame("(anonymous) " + file + ":" + (line + 1), url)
        : new Frame(name, url);
  }

  /** Hands all stacks on. */
  void write(StackSink to) {
    if (ids.size() == 0) {
      return;
    }
    int time = to.measure("time", Unit.of("us", ""), true);
    int count = to.measure("samples", Unit.whole("samples"), false);
    FrameTree tree = new FrameTree();
    int[] nodes = nodes(tree);
    long unheld = 0;
    Unit unit = Unit.of("us", "");
    long elapsed = 0;
    boolean timed = deltas.size() > 0;
    for (int i = 0; i < samples.size; i++) {
      int row = ids.find(samples.items[i]);
      int node = row < 0 ? -1 : nodes[row];
      long lasts = lasts(i, unit, elapsed);
      elapsed += i < deltas.size() ? Math.max(0, deltas.get(i, unit)) : 0;
      if (node < 0) {
        unheld++;
      } else {
        boolean kept = tree.add(node, 1, 1);
        kept &= !timed || lasts <= 0 || tree.add(node, 0, lasts);
        unheld += kept ? 0 : 1;
      }
    }
    for (int row = 0; samples.size == 0 && row < nodes.length; row++) {
      if (nodes[row] >= 0 && !tree.add(nodes[row], 1, hits.get(row))) {
        unheld++;
      }
    }
    int[] numbers = new int[frames.size()];
    tree.write(
        of -> {
          if (numbers[of] == 0) {
            Frame called = frames.get(of);
            numbers[of] = 1 + to.frame(NodeKind.USER, called.name, called.url);
          }
          return numbers[of] - 1;
        },
        0,
        new int[] {time, count},
        to);
    if (unheld > 0) {
      to.note(unheld + " samples are of nodes that the file does not have, or has in a circle");
    }
    if (back > 0) {
      to.note(back + " samples go back in time, and count as no time");
    }
    if (unknown > 0) {
      to.note(unknown + " nodes have no number");
    }
  }

  /** How long a sample lasts, in parts of µs. */
  private long lasts(int sample, Unit unit, long elapsed) {
    if (sample + 1 < Math.min(deltas.size(), samples.size)) {
      long delta = deltas.get(sample + 1, unit);
      back += delta < 0 ? 1 : 0;
      return delta;
    }
    boolean ends = sample + 1 == samples.size && end > start && start >= 0;
    long own = sample < deltas.size() ? Math.max(0, deltas.get(sample, unit)) : 0;
    return ends ? unit.of(end - start) - elapsed - own : 0;
  }

  /** By row: the node of the tree; -1 for rows that are below no root. */
  private int[] nodes(FrameTree tree) {
    int rows = ids.size();
    int[] parent = new int[rows];
    Arrays.fill(parent, -1);
    for (int i = 0; i < parents.size; i++) {
      int child = ids.find(children.items[i]);
      if (child >= 0 && parent[child] < 0) {
        parent[child] = parents.items[i];
      }
    }
    int[] firstChild = new int[rows];
    int[] sibling = new int[rows];
    Arrays.fill(firstChild, -1);
    int[] nodes = new int[rows];
    Arrays.fill(nodes, -1);
    int[] waiting = new int[rows];
    int size = 0;
    for (int row = rows - 1; row >= 0; row--) {
      if (parent[row] < 0) {
        waiting[size++] = row;
      } else {
        sibling[row] = firstChild[parent[row]];
        firstChild[parent[row]] = row;
      }
    }
    // Each row stands in the list once, so that a circle, which has no root, is never entered.
    for (int at = 0; at < size; at++) {
      int row = waiting[at];
      int above = parent[row] < 0 ? FrameTree.ROOT : nodes[parent[row]];
      int of = frame.get(row) - 1;
      boolean root = parent[row] < 0 && (of < 0 || frames.get(of).name.equals(ROOT));
      nodes[row] = root ? FrameTree.ROOT : of < 0 ? above : tree.child(above, of);
      for (int child = firstChild[row]; child >= 0; child = sibling[child]) {
        waiting[size++] = child;
      }
    }
    return nodes;
  }
}

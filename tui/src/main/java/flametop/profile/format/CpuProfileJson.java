package flametop.profile.format;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import flametop.array.IntColumn;
import flametop.array.LongColumn;
import flametop.array.LongIndex;
import flametop.profile.answer.FoldedStack.Owner;
import flametop.profile.answer.NodeKind;
import java.io.IOException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

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

  private static final Unit UNIT = Unit.of("us", "");

  private record Frame(String name, String url, Place place) {}

  private final @Nullable JsonInput input;
  private final LongIndex ids = new LongIndex();
  private final Numbering<Frame> frames = new Numbering<>();

  // By row of a node: the number of its frame plus 1, and its hits.
  private final IntColumn frame = new IntColumn();
  private final LongColumn hits = new LongColumn();

  // The edges: row of a parent, id of a child.
  private final IntColumn parents = new IntColumn();
  private final LongColumn children = new LongColumn();

  /** The row of the node of each sample; -1: there is no room for that node. */
  private final IntColumn samples = new IntColumn();

  private final JsonNumbers deltas = new JsonNumbers();
  private long start = -1;
  private long end = -1;
  private long unknown;
  private long back;

  /**
   * @param input of the parser; null if arrays are short
   */
  CpuProfileJson(@Nullable JsonInput input) {
    this.input = input;
  }

  /** Adds what the next piece of a profile has, which comes in pieces within a trace. */
  void append(CpuProfileJson piece) {
    int[] rows = new int[piece.ids.size()];
    for (int row = 0; row < rows.length; row++) {
      rows[row] = row(piece.ids.key(row));
      int of = piece.frame.get(row) - 1;
      if (rows[row] >= 0 && of >= 0) {
        frame.set(rows[row], frames.of(piece.frames.get(of)) + 1);
        hits.set(rows[row], piece.hits.get(row));
      }
    }
    for (int i = 0; i < piece.parents.size; i++) {
      int parent = rows[piece.parents.items[i]];
      if (parent >= 0) {
        parents.add(parent);
        children.add(piece.children.items[i]);
      }
    }
    for (int i = 0; i < piece.samples.size; i++) {
      int row = piece.samples.items[i];
      samples.add(row < 0 ? row : rows[row]);
    }
    deltas.addAll(piece.deltas);
    start = piece.start >= 0 ? piece.start : start;
    end = piece.end >= 0 ? piece.end : end;
    unknown += piece.unknown;
  }

  /** The row of the node with an id; -1 if there is no room for it. */
  private int row(long id) {
    int row = ids.find(id);
    return row >= 0 || ids.size() >= MOST_FRAMES || id < 0 ? row : ids.row(id);
  }

  /** Whether the profile has the node of a row, and does not only name it. */
  private boolean isDescribed(int row) {
    return frame.get(row) > 0;
  }

  /** Reads what is no number where a sample is expected. */
  @FunctionalInterface
  interface Others {
    void read(JsonParser json) throws IOException;
  }

  /** Reads a field of the outermost object; returns whether it is one of such a profile. */
  boolean field(String name, JsonParser json) throws IOException {
    return field(name, json, JsonParser::skipChildren);
  }

  /**
   * Reads a field of the outermost object; returns whether it is one of such a profile.
   *
   * @param others reads samples that are objects, which are none of V8
   */
  boolean field(String name, JsonParser json, Others others) throws IOException {
    boolean array = json.currentToken() == JsonToken.START_ARRAY;
    switch (name) {
      case "startTime" -> start = JsonReader.whole(json);
      case "endTime" -> end = JsonReader.whole(json);
      case "timeDeltas" -> deltas.addAll(json, input);
      case "samples" -> {
        if (array && input != null) {
          input.numbers(json, id -> samples.add(row(id)));
        }
        for (JsonToken t; array && (t = JsonReader.nextElement(json)) != null; ) {
          if (t == JsonToken.START_OBJECT) {
            others.read(json);
          } else {
            samples.add(row(JsonReader.whole(json)));
          }
        }
      }
      default -> {
        if (!array) {
          return false;
        }
        while (JsonReader.nextObject(json)) {
          node(json);
        }
      }
    }
    return array;
  }

  private void node(JsonParser json) throws IOException {
    long id = -1;
    long parent = -1;
    long hit = 0;
    Frame of = new Frame("", "", Place.NONE);
    LongColumn below = new LongColumn();
    for (String field; (field = JsonReader.nextField(json)) != null; ) {
      JsonToken value = json.currentToken();
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
    frame.set(row, frames.of(of) + 1);
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
    long column = -1;
    for (String field; (field = JsonReader.nextField(json)) != null; ) {
      switch (field) {
        case "functionName" -> name = JsonReader.text(json);
        case "url" -> url = JsonReader.text(json);
        case "lineNumber" -> line = JsonReader.whole(json);
        case "columnNumber" -> column = JsonReader.whole(json);
        default -> json.skipChildren();
      }
    }
    String file = url.substring(url.lastIndexOf('/') + 1);
    // V8 counts lines from 0 on.
    Place place = Place.of(url, line + 1, column + 1);
    // Functions without a name are told apart by where they begin.
    return name.isEmpty()
        ? new Frame("(anonymous) " + file + ":" + (line + 1), url, place)
        : new Frame(name, url, place);
  }

  /** Hands all stacks on. */
  void write(StackSink to) {
    if (ids.size() > 0) {
      int time = to.measure("time", UNIT, true);
      write(to, null, time, to.measure("samples", Unit.whole("samples"), false));
    }
  }

  /**
   * Hands all stacks on.
   *
   * @param owner whose they are; null if the profile does not say it
   * @param time measure of times
   * @param count measure of samples
   */
  void write(StackSink to, @Nullable Owner owner, int time, int count) {
    FrameTree tree = new FrameTree(to.wantsOrder());
    int[] nodes = nodes(tree, owner == null ? FrameTree.ROOT : tree.child(FrameTree.ROOT, -1));
    boolean timed = deltas.size() > 0;
    boolean ordered = to.wantsOrder();
    long unheld = 0;
    long elapsed = 0;
    long next = timed ? deltas.get(0, UNIT) : 0;
    for (int i = 0; i < samples.size; i++) {
      long own = Math.max(0, next);
      next = i + 1 < deltas.size() ? deltas.get(i + 1, UNIT) : 0;
      long lasts = lasts(i, elapsed, own, next);
      elapsed += own;
      int row = samples.items[i];
      int node = row < 0 || !isDescribed(row) ? -1 : nodes[row];
      boolean kept = node >= 0 && tree.add(node, 1, 1);
      if (kept && lasts > 0 && (timed || !ordered)) {
        kept = tree.add(node, 0, lasts);
      }
      unheld += kept ? 0 : 1;
    }
    for (int row = 0; samples.size == 0 && row < nodes.length; row++) {
      if (nodes[row] >= 0 && !tree.add(nodes[row], 1, hits.get(row))) {
        unheld++;
      }
    }
    int first = owner == null ? StackSink.NO_FRAME : to.owner(owner);
    tree.write(frames.size(), of -> of < 0 ? first : frame(of, to), 0, new int[] {time, count}, to);
    to.note(unheld, "samples are of nodes that the file does not have, or has in a circle");
    to.note(back, "samples go back in time, and count as no time");
    to.note(unknown, "nodes have no number");
  }

  private int frame(int number, StackSink to) {
    Frame of = frames.get(number);
    return to.frame(NodeKind.USER, of.name, of.url, of.place);
  }

  /**
   * How long a sample lasts, in parts of µs.
   *
   * @param own what passed since the sample before
   * @param next what passes until the sample behind
   */
  private long lasts(int sample, long elapsed, long own, long next) {
    if (sample + 1 < Math.min(deltas.size(), samples.size)) {
      back += next < 0 ? 1 : 0;
      return next;
    }
    boolean ends = sample + 1 == samples.size && end > start && start >= 0;
    return ends ? UNIT.of(end - start) - elapsed - own : 0;
  }

  /** By row: the node of the tree; -1 for rows that are below no root. */
  private int[] nodes(FrameTree tree, int top) {
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
      int above = parent[row] < 0 ? top : nodes[parent[row]];
      int of = frame.get(row) - 1;
      boolean root = parent[row] < 0 && (of < 0 || frames.get(of).name.equals(ROOT));
      nodes[row] = root ? top : of < 0 ? above : tree.child(above, of);
      for (int child = firstChild[row]; child >= 0; child = sibling[child]) {
        waiting[size++] = child;
      }
    }
    return nodes;
  }
}

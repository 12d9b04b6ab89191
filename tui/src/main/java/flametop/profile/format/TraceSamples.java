package flametop.profile.format;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import flametop.array.IntColumn;
import flametop.array.LongColumn;
import flametop.array.LongIndex;
import java.io.IOException;
import java.util.function.IntUnaryOperator;

/**
 * The samples beside the events of a trace, as Hermes writes them: each names a frame, and each
 * frame its parent. A sample lasts until the next one of its thread; the last one lasts no time.
 */
final class TraceSamples {
  private static final int TIME = 0;
  private static final int COUNT = 1;

  /** A sample without a frame. */
  static final int NO_STACK = -1;

  /** A frame that the file does not have, or has in a circle. */
  private static final int NOWHERE = -1;

  private final TraceTexts texts;

  // By the text of a frame's id: one more than the text of its name, and of its parent's id.
  private final IntColumn names = new IntColumn();
  private final IntColumn parents = new IntColumn();
  private int frames;

  // By sample.
  private final IntColumn tracks = new IntColumn();
  private final LongColumn moments = new LongColumn();
  private final IntColumn ends = new IntColumn();

  private long unknown;
  private long back;
  private long unheld;

  TraceSamples(TraceTexts texts) {
    this.texts = texts;
  }

  boolean isEmpty() {
    return tracks.size == 0;
  }

  /**
   * Takes a sample.
   *
   * @param track number of its thread
   * @param moment in parts of µs
   * @param frame text of the id of its innermost frame; {@link #NO_STACK} if it has none
   */
  void add(int track, long moment, int frame) {
    tracks.add(track);
    moments.add(moment);
    ends.add(frame);
  }

  /** Reads the frames; returns whether a parser stands at such. */
  boolean frames(JsonParser json) throws IOException {
    if (json.currentToken() != JsonToken.START_OBJECT) {
      return false;
    }
    for (String frame; (frame = JsonReader.nextField(json)) != null; ) {
      int id = texts.number(frame);
      if (json.currentToken() != JsonToken.START_OBJECT) {
        json.skipChildren();
        continue;
      }
      int name = texts.number("");
      boolean held = true;
      int parent = 0;
      for (String field; (field = JsonReader.nextField(json)) != null; ) {
        switch (field) {
          case "name" -> name = texts.number(json);
          case "parent" -> {
            if (json.currentToken() != JsonToken.VALUE_NULL) {
              parent = texts.number(json) + 1;
              held &= parent > 0;
            }
          }
          default -> json.skipChildren();
        }
      }
      if (id < 0 || name < 0 || !held) {
        unheld++;
        continue;
      }
      frames += names.get(id) == 0 ? 1 : 0;
      names.set(id, name + 1);
      parents.set(id, parent);
    }
    return true;
  }

  /**
   * Hands all stacks on.
   *
   * @param made makes the sink's number of a text, or below 0 of the complement of a track
   * @param time measure of times
   * @param count measure of samples
   */
  void write(StackSink to, IntUnaryOperator made, int time, int count) {
    FrameTree tree = new FrameTree(to.wantsOrder());
    LongIndex known = new LongIndex();
    IntColumn nodes = new IntColumn();
    // By track: one more than its last sample.
    IntColumn last = new IntColumn();
    int[] nodeOf = new int[tracks.size];
    for (int i = 0; i < tracks.size; i++) {
      int track = tracks.items[i];
      int before = last.get(track) - 1;
      if (before >= 0 && nodeOf[before] >= 0) {
        long lasts = moments.items[i] - moments.items[before];
        back += lasts < 0 ? 1 : 0;
        unheld += lasts <= 0 || tree.add(nodeOf[before], TIME, lasts) ? 0 : 1;
      }
      last.set(track, i + 1);
      int top = tree.child(FrameTree.ROOT, -1 - track);
      int node = ends.items[i] == NO_STACK ? top : node(tree, top, ends.items[i], known, nodes);
      nodeOf[i] = node;
      if (node < 0) {
        unknown++;
      } else {
        unheld += tree.add(node, COUNT, 1) ? 0 : 1;
      }
    }
    tree.write(texts.size(), made, 0, new int[] {time, count}, to);
    to.note(unknown, "samples are of frames that the file does not have, or has in a circle");
    to.note(back, "samples go back in time, and count as no time");
    to.note(unheld, "samples or their frames are left out: there is no memory for more");
  }

  /** The node of a frame below that of a thread; below 0 if there is none. */
  private int node(FrameTree tree, int top, int frame, LongIndex known, IntColumn nodes) {
    int seen = top < 0 ? -1 : known.find((long) top << 32 | frame);
    if (top < 0 || seen >= 0) {
      return top < 0 ? top : nodes.items[seen];
    }
    IntColumn path = new IntColumn();
    int node = top;
    for (int at = frame; at >= 0; at = parents.items[at] - 1) {
      int row = known.find((long) top << 32 | at);
      if (row >= 0) {
        node = nodes.items[row];
        break;
      }
      if (names.get(at) == 0 || path.size > frames) {
        node = NOWHERE;
        break;
      }
      path.add(at);
    }
    // Each frame is gone to once for a thread, those of a circle too.
    for (int i = path.size - 1; i >= 0; i--) {
      int at = path.items[i];
      node = node < 0 ? NOWHERE : tree.child(node, names.items[at] - 1);
      nodes.set(known.row((long) top << 32 | at), node);
    }
    return node;
  }
}

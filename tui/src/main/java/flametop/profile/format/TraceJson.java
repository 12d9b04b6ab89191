package flametop.profile.format;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import flametop.array.IntColumn;
import flametop.array.LongColumn;
import flametop.profile.answer.FoldedStack.Owner;
import flametop.profile.answer.NodeKind;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * A trace of Chrome: events that begin, end, or last for a time, in each thread one within the
 * other. The value of a stack is the time of its last event without the events within. Processes
 * are the outermost frames, threads where a process has no name.
 *
 * @see <a
 *     href="https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU">its
 *     definition</a>
 */
final class TraceJson {
  private static final int MOST_NAMES = 1 << 24;
  private static final int MOST_THREADS = 1 << 16;
  private static final long BEGINS = Long.MAX_VALUE;
  private static final long ENDS = -1;
  private static final Unit UNIT = Unit.of("us", "");

  private final Map<String, Integer> names = new HashMap<>();
  private final List<String> texts = new ArrayList<>();
  private final Map<String, Track> threads = new LinkedHashMap<>();
  private final Map<String, String> processes = new HashMap<>();
  private boolean any;
  private long others;
  private long damaged;
  private long unpaired;
  private long unheld;

  /** The events of a thread. */
  private static final class Track {
    final String process;
    final String number;
    String name;
    final LongColumn at = new LongColumn();

    /** How long each lasts, ns; {@link #BEGINS} and {@link #ENDS} of the halves of a pair. */
    final LongColumn lasts = new LongColumn();

    final IntColumn names = new IntColumn();

    Track(String process, String number, String name) {
      this.process = process;
      this.number = number;
      this.name = name;
    }
  }

  /** Reads the events; returns whether a parser stands at such. */
  boolean events(JsonParser json) throws IOException {
    any = true;
    for (JsonToken t; (t = JsonReader.nextElement(json)) != null; ) {
      if (t == JsonToken.START_OBJECT) {
        event(json);
      } else {
        json.skipChildren();
      }
    }
    return true;
  }

  private void event(JsonParser json) throws IOException {
    String name = "";
    String phase = "";
    String process = "";
    String thread = "";
    String argument = "";
    JsonNumbers at = new JsonNumbers();
    JsonNumbers lasts = new JsonNumbers();
    while (JsonReader.nextField(json)) {
      String field = json.currentName();
      JsonToken value = json.nextToken();
      switch (field) {
        case "name" -> name = JsonReader.text(json);
        case "ph" -> phase = JsonReader.text(json);
        case "pid" -> process = JsonReader.text(json);
        case "tid" -> thread = JsonReader.text(json);
        case "ts" -> at.add(json);
        case "dur" -> lasts.add(json);
        case "args" -> argument = value == JsonToken.START_OBJECT ? argument(json) : "";
        default -> json.skipChildren();
      }
    }
    switch (phase) {
      case "M" -> {
        if (name.equals("process_name") && processes.size() < MOST_THREADS) {
          processes.put(process, argument);
        } else if (name.equals("thread_name")) {
          thread(process, thread).name = argument;
        }
      }
      case "X" ->
          add(thread(process, thread), name, at, lasts.size() == 0 ? 0 : lasts.get(0, UNIT));
      case "B" -> add(thread(process, thread), name, at, BEGINS);
      case "E" -> add(thread(process, thread), name, at, ENDS);
      default -> others++;
    }
  }

  private static String argument(JsonParser json) throws IOException {
    String name = "";
    while (JsonReader.nextField(json)) {
      boolean is = json.currentName().equals("name");
      json.nextToken();
      if (is) {
        name = JsonReader.text(json);
      } else {
        json.skipChildren();
      }
    }
    return name;
  }

  private Track thread(String process, String thread) {
    String key = process + "/" + thread;
    Track known = threads.get(key);
    if (known == null && threads.size() >= MOST_THREADS) {
      key = "";
      known = threads.get(key);
    }
    if (known == null) {
      known =
          key.isEmpty()
              ? new Track("", "", "others")
              : new Track(process, thread, "thread " + thread);
      threads.put(key, known);
    }
    return known;
  }

  private void add(Track thread, String name, JsonNumbers at, long lasts) {
    long moment = at.size() == 0 ? Unit.TOO_LARGE : at.get(0, UNIT);
    boolean pair = lasts == BEGINS || lasts == ENDS;
    if (moment == Unit.TOO_LARGE || !pair && (lasts < 0 || moment + lasts < moment)) {
      damaged++;
      return;
    }
    Integer number = names.get(name);
    if (number == null) {
      if (texts.size() >= MOST_NAMES) {
        unheld++;
        return;
      }
      number = texts.size();
      names.put(name, number);
      texts.add(name);
    }
    thread.at.add(moment);
    thread.lasts.add(lasts);
    thread.names.add(number);
  }

  /** Hands all stacks on. */
  void write(StackSink to) {
    if (!any) {
      return;
    }
    int measure = to.measure("time", UNIT, true);
    FrameTree tree = new FrameTree();
    List<Owner> owners = new ArrayList<>();
    for (Track thread : threads.values()) {
      if (thread.at.size > 0) {
        String process = processes.getOrDefault(thread.process, "");
        owners.add(
            new Owner(
                process.isEmpty() ? thread.name : process,
                TaskNumber.of(thread.process),
                thread.name,
                TaskNumber.of(thread.number),
                "",
                null));
        // Names have numbers from 0 on.
        replay(thread, tree, tree.child(FrameTree.ROOT, -owners.size()));
      }
    }
    int[] numbers = new int[texts.size()];
    tree.write(
        frame -> {
          if (frame < 0) {
            return to.owner(owners.get(-1 - frame));
          }
          if (numbers[frame] == 0) {
            numbers[frame] = 1 + to.frame(NodeKind.USER, texts.get(frame), "");
          }
          return numbers[frame] - 1;
        },
        0,
        new int[] {measure},
        to);
    complain(to, others, "are of other kinds than B, E and X, and are left out");
    complain(to, damaged, "have no time, or a time that is negative or too large");
    complain(to, unpaired, "begin or end without their other half");
    complain(to, unheld, "are left out: there is no memory for more frames");
  }

  private static void complain(StackSink to, long count, String what) {
    if (count > 0) {
      to.note(count + " events " + what);
    }
  }

  private void replay(Track thread, FrameTree tree, int above) {
    long[] at = thread.at.items;
    long[] lasts = thread.lasts.items;
    int count = thread.at.size;
    Integer[] order = order(thread);
    // The events that are open, innermost last: node, and when it ends.
    IntColumn nodes = new IntColumn();
    LongColumn ends = new LongColumn();
    int begun = 0;
    long last = count > 0 ? at[order[0]] : 0;
    for (int i = 0; i <= count; i++) {
      long now = i < count ? at[order[i]] : Long.MAX_VALUE;
      while (nodes.size > 0
          && ends.items[nodes.size - 1] <= now
          && ends.items[nodes.size - 1] != BEGINS) {
        long end = ends.items[nodes.size - 1];
        put(tree, nodes.items[nodes.size - 1], end - last);
        last = Math.max(last, end);
        pop(nodes, ends);
      }
      if (i == count) {
        break;
      }
      if (nodes.size > 0) {
        put(tree, nodes.items[nodes.size - 1], now - last);
      }
      last = now;
      long how = lasts[order[i]];
      if (how == ENDS && begun == 0) {
        unpaired++;
      } else if (how == ENDS) {
        begun--;
        while (ends.items[nodes.size - 1] != BEGINS) {
          pop(nodes, ends);
        }
        pop(nodes, ends);
      } else {
        int parent = nodes.size == 0 ? above : nodes.items[nodes.size - 1];
        int node = tree.child(parent, thread.names.items[order[i]]);
        begun += how == BEGINS ? 1 : 0;
        // What would last longer than what it is in ends with that.
        long outer = ends.size == 0 ? BEGINS : ends.items[ends.size - 1];
        nodes.add(node);
        ends.add(how == BEGINS ? BEGINS : Math.min(outer, now + how));
      }
    }
    unpaired += begun;
  }

  private static void pop(IntColumn nodes, LongColumn ends) {
    nodes.size--;
    ends.size--;
  }

  private void put(FrameTree tree, int node, long value) {
    if (value > 0 && (node < 0 || !tree.add(node, 0, value))) {
      unheld++;
    }
  }

  /**
   * The events in the order of their times; what lasts longer comes first of those that begin
   * together.
   */
  private static Integer[] order(Track thread) {
    long[] at = thread.at.items;
    long[] lasts = thread.lasts.items;
    int count = thread.at.size;
    Integer[] order = IntStream.range(0, count).boxed().toArray(Integer[]::new);
    boolean pairs = false;
    for (int i = 0; i < count; i++) {
      pairs |= lasts[i] == ENDS || lasts[i] == BEGINS;
    }
    // Pairs stand in order, or nothing says which of the events of one moment came first.
    boolean whole = !pairs;
    Arrays.sort(
        order,
        (a, b) -> {
          int byTime = Long.compare(at[a], at[b]);
          return byTime != 0 || !whole ? byTime : Long.compare(lasts[b], lasts[a]);
        });
    return order;
  }
}

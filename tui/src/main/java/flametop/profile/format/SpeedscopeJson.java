package flametop.profile.format;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import flametop.array.IntColumn;
import flametop.array.LongIndex;
import flametop.profile.answer.FoldedStack.Owner;
import flametop.profile.answer.NodeKind;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Profiles of speedscope, all of a file: where there are several, the name of each is the outermost
 * frame of its stacks. Profiles with different units are different measures.
 *
 * @see <a href="https://www.speedscope.app/file-format-schema.json">its schema</a>
 */
final class SpeedscopeJson {
  /** A frame that the file does not have. */
  private static final int MISSING = -1;

  private static final int MOST_FRAMES = 1 << 26;
  private static final int MOST_PROFILES = 1 << 16;

  /** More fields than an owner has. */
  private static final int MOST_PARTS = 16;

  private static final Pattern PID =
      Pattern.compile("(?i)\\b(?:process|pid)[ :=#]{1,3}([0-9]{1,9})\\b");
  private static final Pattern TID =
      Pattern.compile("(?i)\\b(?:thread|tid)[ :=#]{1,3}([0-9]{1,9})\\b");
  private static final Pattern QUOTED = Pattern.compile("\"([^\"]{1,200})\"");

  private record Frame(NodeKind kind, String name, String module, Place place) {}

  private final List<Frame> frames = new ArrayList<>();

  /** By profile: whose its stacks are. */
  private final List<Owner> profiles = new ArrayList<>();

  private final List<String> units = new ArrayList<>();
  private final FrameTree tree;
  private final JsonInput input;

  // The profile that is read.
  private final IntColumn ends = new IntColumn();
  private final JsonNumbers weights = new JsonNumbers();

  /** The frame of each event; of one that ends the complement of the frame. */
  private final IntColumn events = new IntColumn();

  private final JsonNumbers moments = new JsonNumbers();

  /** When the profile ends, if it says so. */
  private final JsonNumbers over = new JsonNumbers();

  /** Whether outermost frames are owners. */
  private boolean owned;

  /** Whether a profile says its owner in a field of flametop's. */
  private boolean saysOwners;

  /** The sink's frame that stands for those that the file does not have. */
  private int missing = StackSink.NO_FRAME;

  private long negative;
  private long large;
  private long back;
  private long unpaired;
  private long unheld;
  private long unweighted;

  /**
   * @param ordered whether samples are kept in their order
   */
  SpeedscopeJson(boolean ordered, JsonInput input) {
    this.input = input;
    tree = new FrameTree(ordered);
  }

  /** Takes the program that wrote the file. */
  void exporter(String program) {
    owned = program.startsWith("flametop");
  }

  /** Takes what flametop says of outermost frames, behind the program. */
  void firstFrame(String what) {
    owned &= !what.equals("function");
  }

  /** Reads the frames; returns whether there are any. */
  boolean shared(JsonParser json) throws IOException {
    if (json.currentToken() != JsonToken.START_OBJECT) {
      return false;
    }
    boolean any = false;
    for (String name; (name = JsonReader.nextField(json)) != null; ) {
      if (!name.equals("frames") || json.currentToken() != JsonToken.START_ARRAY) {
        json.skipChildren();
        continue;
      }
      any = true;
      while (JsonReader.nextObject(json)) {
        if (frames.size() < MOST_FRAMES) {
          frames.add(frame(json));
        } else {
          json.skipChildren();
        }
      }
    }
    return any;
  }

  private static Frame frame(JsonParser json) throws IOException {
    String name = "";
    String file = "";
    String module = null;
    String kind = "";
    long line = 0;
    long column = 0;
    for (String field; (field = JsonReader.nextField(json)) != null; ) {
      switch (field) {
        case "name" -> name = JsonReader.text(json);
        case "file" -> file = JsonReader.text(json);
        case "line" -> line = JsonReader.whole(json);
        case "col" -> column = JsonReader.whole(json);
        // Of flametop; other programs do not read them.
        case "module" -> module = JsonReader.text(json);
        case "mark" -> kind = JsonReader.text(json);
        default -> json.skipChildren();
      }
    }
    NodeKind marked = FrameMark.kind(name + kind, name);
    String in = module == null ? file : module;
    boolean kernel = marked == NodeKind.USER && in.startsWith("[kernel");
    boolean placed = line > 0 || module != null;
    return new Frame(
        kernel ? NodeKind.KERNEL : marked,
        name,
        in,
        placed ? Place.of(file, line, column) : Place.NONE);
  }

  /** Reads the profiles; returns whether there are any. */
  boolean profiles(JsonParser json) throws IOException {
    if (json.currentToken() != JsonToken.START_ARRAY) {
      return false;
    }
    while (JsonReader.nextObject(json)) {
      profile(json);
    }
    return true;
  }

  private void profile(JsonParser json) throws IOException {
    String name = "";
    String unit = "";
    Owner owner = null;
    ends.clear();
    weights.clear();
    events.clear();
    moments.clear();
    over.clear();
    int number = Math.min(profiles.size(), MOST_PROFILES);
    // Frames have numbers from 0 on, so a profile has one below MISSING.
    int above = tree.child(FrameTree.ROOT, MISSING - 1 - number);
    try {
      for (String field; (field = JsonReader.nextField(json)) != null; ) {
        switch (field) {
          case "name" -> name = JsonReader.text(json);
          case "unit" -> unit = JsonReader.text(json);
          case "weights" -> weights.addAll(json, input);
          case "samples" -> samples(json, above);
          case "events" -> events(json);
          case "owner" -> owner = owner(json);
          case "endValue" -> over.add(json);
          default -> json.skipChildren();
        }
      }
    } finally {
      if (number < MOST_PROFILES) {
        saysOwners |= owner != null;
        profiles.add(
            owner != null ? owner : named(name.isEmpty() ? "profile " + (number + 1) : name));
      }
      add(unit, above);
    }
  }

  private void samples(JsonParser json, int above) throws IOException {
    if (json.currentToken() != JsonToken.START_ARRAY) {
      json.skipChildren();
      return;
    }
    IntColumn list = new IntColumn();
    input.lists(
        json,
        list,
        () -> {
          int node = above;
          for (int i = 0; i < list.size; i++) {
            node = tree.child(node, frame(list.items[i]));
          }
          ends.add(node);
        });
    for (JsonToken t; (t = JsonReader.nextElement(json)) != null; ) {
      int node = above;
      if (t == JsonToken.START_ARRAY) {
        while (JsonReader.nextElement(json) != null) {
          node = tree.child(node, frame(JsonReader.whole(json)));
        }
      } else {
        json.skipChildren();
      }
      ends.add(node);
    }
  }

  private static int frame(long number) {
    return number < 0 || number >= MOST_FRAMES ? MISSING : (int) number;
  }

  private void events(JsonParser json) throws IOException {
    if (json.currentToken() != JsonToken.START_ARRAY) {
      json.skipChildren();
      return;
    }
    while (JsonReader.nextObject(json)) {
      String type = "";
      int frame = MISSING;
      int before = moments.size();
      for (String field; (field = JsonReader.nextField(json)) != null; ) {
        switch (field) {
          case "type" -> type = JsonReader.text(json);
          case "frame" -> frame = frame(JsonReader.whole(json));
          case "at" -> {
            if (moments.size() == before) {
              moments.add(json);
            } else {
              json.skipChildren();
            }
          }
          default -> json.skipChildren();
        }
      }
      // One more, so that a missing frame has a complement of its own.
      if (moments.size() > before) {
        events.add(type.equals("C") ? ~(frame + 1) : frame + 1);
      }
    }
  }

  /** Adds the profile that was read to the tree. */
  private void add(String unitName, int above) {
    Unit unit = Unit.of(unitName, "samples");
    int measure = units.indexOf(unitName);
    if (measure < 0 && units.size() < 20) {
      units.add(unitName);
    }
    measure = measure < 0 ? units.size() - 1 : measure;
    for (int i = 0; i < ends.size; i++) {
      if (weights.size() == 0) {
        put(ends.items[i], measure, unit.of(1L));
      } else if (i < weights.size()) {
        put(ends.items[i], measure, weights.get(i, unit));
      } else {
        unweighted++;
      }
    }
    replay(unit, measure, above);
  }

  private void put(int node, int measure, long value) {
    if (value == Unit.TOO_LARGE) {
      large++;
    } else if (value < 0) {
      negative++;
    } else if (node < 0) {
      unheld++;
    } else if (!tree.add(node, measure, value)) {
      large++;
    }
  }

  /** Adds what each function took by itself, between its events. */
  private void replay(Unit unit, int measure, int above) {
    LongIndex known = new LongIndex();
    IntColumn open = new IntColumn();
    int node = above;
    long last = events.size > 0 ? moments.get(0, unit) : 0;
    for (int i = 0; i < events.size; i++) {
      long at = moments.get(i, unit);
      long passed = at - last;
      if (at == Unit.TOO_LARGE || last == Unit.TOO_LARGE || (at < last) != (passed < 0)) {
        large++;
      } else if (passed < 0) {
        back++;
      } else if (passed > 0 && node != above) {
        put(node, measure, passed);
      }
      last = at;
      boolean closes = events.items[i] < 0;
      int frame = (closes ? ~events.items[i] : events.items[i]) - 1;
      int row = known.row(frame);
      if (!closes) {
        int child = tree.child(node, frame);
        if (child < 0) {
          unheld++;
          continue;
        }
        open.set(row, open.get(row) + 1);
        node = child;
      } else if (open.get(row) == 0) {
        unpaired++;
      } else {
        int ended = Integer.MIN_VALUE;
        while (ended != frame) {
          ended = tree.frame(node);
          node = tree.parent(node);
          int of = known.row(ended);
          open.set(of, open.get(of) - 1);
          unpaired += ended == frame ? 0 : 1;
        }
      }
    }
    if (node != above) {
      // What never ends lasts as long as the profile.
      long end = over.size() == 0 ? last : over.get(0, unit);
      put(node, measure, last == Unit.TOO_LARGE ? 0 : Math.max(0, end - last));
      unpaired += tree.depth(node) - tree.depth(above);
    }
  }

  /** Hands all stacks on. */
  void write(StackSink to) {
    if (units.isEmpty()) {
      return;
    }
    int[] measures = new int[units.size()];
    for (int i = 0; i < measures.length; i++) {
      String unit = units.get(i).isEmpty() ? "none" : units.get(i);
      measures[i] = to.measure(unit, Unit.of(unit, "samples"), i == 0);
    }
    boolean several =
        profiles.size() > 1 || saysOwners || profiles.stream().anyMatch(of -> of.tid() > 0);
    if (owned && !several) {
      to.owners();
    }
    tree.write(
        frames.size(),
        frame ->
            frame >= MISSING
                ? frame(frame, to)
                : several ? to.owner(profiles.get(MISSING - 1 - frame)) : StackSink.NO_FRAME,
        several ? 0 : 1,
        measures,
        to);
    to.note(negative, "samples or events have a weight below 0 and are left out");
    to.note(large, "samples or events have a weight or a time that is too large and are left out");
    to.note(back, "samples or events go back in time, and count as no time");
    to.note(unpaired, "samples or events begin or end without their other half");
    to.note(unheld, "samples or events are left out: there is no memory for more frames");
    to.note(unweighted, "samples or events have no weight and are left out");
  }

  private int frame(int number, StackSink to) {
    if (number == MISSING || number >= frames.size()) {
      if (missing == StackSink.NO_FRAME) {
        missing = to.frame(NodeKind.UNKNOWN, "[no frame]", "");
        to.note("some stacks have frames that the file does not describe: [no frame]");
      }
      return missing;
    }
    Frame of = frames.get(number);
    return to.frame(of.kind, of.name, of.module, of.place);
  }

  /** The owner that the name of a profile says: {@code Process 12 Thread 34 "worker"}. */
  private static Owner named(String name) {
    int pid = TaskNumber.in(name, PID);
    int tid = TaskNumber.in(name, TID);
    Matcher quoted = QUOTED.matcher(name);
    return new Owner(name, pid, tid > 0 && quoted.find() ? quoted.group(1) : "", tid, "", null);
  }

  /** The owner that flametop writes beside the name. */
  private static @Nullable Owner owner(JsonParser json) throws IOException {
    if (json.currentToken() != JsonToken.START_OBJECT) {
      json.skipChildren();
      return null;
    }
    Map<String, String> parts = new HashMap<>();
    for (String field; (field = JsonReader.nextField(json)) != null; ) {
      parts.put(parts.size() < MOST_PARTS ? field : "", JsonReader.text(json));
    }
    return new Owner(
        parts.getOrDefault("comm", "-"),
        TaskNumber.of(parts.getOrDefault("pid", "")),
        parts.getOrDefault("thread", ""),
        TaskNumber.of(parts.getOrDefault("tid", "")),
        parts.getOrDefault("cgroup", ""),
        PprofLabels.state(parts.getOrDefault("state", "")));
  }
}

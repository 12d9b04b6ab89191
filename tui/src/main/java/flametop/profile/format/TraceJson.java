package flametop.profile.format;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import flametop.array.IntColumn;
import flametop.array.LongColumn;
import flametop.array.LongIndex;
import flametop.profile.answer.FoldedStack.Owner;
import flametop.profile.answer.NodeKind;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntUnaryOperator;
import org.jspecify.annotations.Nullable;

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
  private static final int MOST_THREADS = 1 << 16;
  private static final int MOST_PROFILES = 1 << 12;
  private static final Unit UNIT = Unit.of("us", "");

  private final TraceTexts texts = new TraceTexts();
  private final TraceSamples samples = new TraceSamples(texts);

  private final int none = texts.number("");
  private final int processName = texts.number("process_name");
  private final int threadName = texts.number("thread_name");
  private final int profile = texts.number("Profile");
  private final int profileChunk = texts.number("ProfileChunk");

  /** By texts of process and thread. */
  private final LongIndex threads = new LongIndex();

  private final List<Track> tracks = new ArrayList<>();
  private final Map<Integer, String> processes = new HashMap<>();

  /** Profiles that come in pieces, by the text of their process and the hash of their id. */
  private final Map<Long, Pieces> profiles = new LinkedHashMap<>();

  private boolean any;
  private long others;
  private long damaged;
  private long unheld;

  // The event that is read.
  private final JsonNumbers at = new JsonNumbers();
  private final JsonNumbers lasts = new JsonNumbers();

  /** How long the event lasts by the clock of its thread, which counts where nothing else does. */
  private final JsonNumbers onCpu = new JsonNumbers();

  private String argument = "";
  private @Nullable CpuProfileJson piece;

  /** The events of a thread. */
  private static final class Track {
    final int process;
    final int thread;
    String name;
    final LongColumn at = new LongColumn();

    /** How long each lasts, ns; as {@link TraceReplay#add} takes it. */
    final LongColumn lasts = new LongColumn();

    final IntColumn names = new IntColumn();

    Track(int process, int thread, String name) {
      this.process = process;
      this.thread = thread;
      this.name = name;
    }
  }

  /** A profile of V8, and the thread that was its first piece's. */
  private record Pieces(Track thread, CpuProfileJson whole) {}

  /** Reads the events of a file that has nothing else: the end of their list may be missing. */
  void openEvents(JsonParser json) throws IOException {
    any = true;
    while (true) {
      JsonToken next;
      try {
        next = JsonReader.nextElement(json);
      } catch (JacksonException e) {
        if (JsonReader.endsEarly(e)) {
          return;
        }
        throw e;
      }
      if (next == null) {
        return;
      }
      if (next == JsonToken.START_OBJECT) {
        event(json);
      } else {
        json.skipChildren();
      }
    }
  }

  /** Reads the events; returns whether a parser stands at such. */
  boolean events(JsonParser json) throws IOException {
    if (json.currentToken() != JsonToken.START_ARRAY) {
      return false;
    }
    any = true;
    while (JsonReader.nextObject(json)) {
      event(json);
    }
    return true;
  }

  /** Reads a sample of those beside the events. */
  void sample(JsonParser json) throws IOException {
    int process = none;
    int thread = none;
    int frame = none;
    at.clear();
    for (String field; (field = JsonReader.nextField(json)) != null; ) {
      switch (field) {
        case "pid" -> process = texts.number(json);
        case "tid" -> thread = texts.number(json);
        case "sf" -> frame = texts.number(json);
        case "ts" -> at.add(json);
        default -> json.skipChildren();
      }
    }
    long moment = moment();
    if (process < 0 || thread < 0 || frame < 0) {
      unheld++;
    } else if (moment == Unit.TOO_LARGE) {
      damaged++;
    } else {
      any = true;
      samples.add(number(process, thread), moment, frame == none ? TraceSamples.NO_STACK : frame);
    }
  }

  /** Reads the frames of the samples; returns whether a parser stands at such. */
  boolean frames(JsonParser json) throws IOException {
    return samples.frames(json);
  }

  private long moment() {
    return at.size() == 0 ? Unit.TOO_LARGE : at.get(0, UNIT);
  }

  private void event(JsonParser json) throws IOException {
    int name = none;
    String phase = "";
    int process = none;
    int thread = none;
    int id = 0;
    at.clear();
    lasts.clear();
    onCpu.clear();
    argument = "";
    piece = null;
    for (String field; (field = JsonReader.nextField(json)) != null; ) {
      switch (field) {
        case "name" -> name = texts.number(json);
        case "ph" -> phase = phase(json);
        case "pid" -> process = texts.number(json);
        case "tid" -> thread = texts.number(json);
        case "id" -> id = JsonReader.text(json).hashCode();
        case "ts" -> at.add(json);
        case "dur" -> {
          if (json.currentToken() != JsonToken.VALUE_NULL) {
            lasts.add(json);
          }
        }
        case "tdur" -> onCpu.add(json);
        case "args" -> arguments(json);
        default -> json.skipChildren();
      }
    }
    if (name < 0 || process < 0 || thread < 0) {
      unheld++;
      return;
    }
    switch (phase) {
      case "M" -> {
        if (name == processName && processes.size() < MOST_THREADS) {
          processes.put(process, argument);
        } else if (name == threadName) {
          track(process, thread).name = argument;
        }
      }
      case "X" -> {
        JsonNumbers length = lasts.size() > 0 ? lasts : onCpu;
        add(track(process, thread), name, length.size() == 0 ? 0 : length.get(0, UNIT));
      }
      case "B" -> add(track(process, thread), name, TraceReplay.BEGINS);
      case "E" -> add(track(process, thread), name, TraceReplay.ENDS);
      default -> {
        if (piece != null && (name == profile || name == profileChunk)) {
          append(process, thread, id, piece);
        } else {
          others++;
        }
      }
    }
  }

  private static String phase(JsonParser json) throws IOException {
    if (json.currentToken() != JsonToken.VALUE_STRING || json.getTextLength() != 1) {
      return JsonReader.text(json);
    }
    return switch (json.getTextCharacters()[json.getTextOffset()]) {
      case 'X' -> "X";
      case 'B' -> "B";
      case 'E' -> "E";
      case 'M' -> "M";
      default -> "";
    };
  }

  /** Reads the arguments of an event: a name, or a piece of a profile of V8. */
  private void arguments(JsonParser json) throws IOException {
    if (json.currentToken() != JsonToken.START_OBJECT) {
      json.skipChildren();
      return;
    }
    for (String field; (field = JsonReader.nextField(json)) != null; ) {
      if (field.equals("name")) {
        argument = JsonReader.text(json);
      } else if (field.equals("data") && json.currentToken() == JsonToken.START_OBJECT) {
        data(json);
      } else {
        json.skipChildren();
      }
    }
  }

  private void data(JsonParser json) throws IOException {
    for (String field; (field = JsonReader.nextField(json)) != null; ) {
      switch (field) {
        case "cpuProfile" -> {
          boolean object = json.currentToken() == JsonToken.START_OBJECT;
          for (String name; object && (name = JsonReader.nextField(json)) != null; ) {
            if (name.equals("nodes") || name.equals("samples")) {
              ofPiece().field(name, json);
            }
            json.skipChildren();
          }
          json.skipChildren();
        }
        case "timeDeltas", "startTime", "endTime" -> {
          ofPiece().field(field, json);
          json.skipChildren();
        }
        default -> json.skipChildren();
      }
    }
  }

  private CpuProfileJson ofPiece() {
    CpuProfileJson of = piece == null ? new CpuProfileJson(null) : piece;
    piece = of;
    return of;
  }

  private void append(int process, int thread, int id, CpuProfileJson next) {
    long key = (long) process << 32 | id & 0xFFFF_FFFFL;
    Pieces known = profiles.get(key);
    if (known == null) {
      if (profiles.size() >= MOST_PROFILES) {
        unheld++;
        return;
      }
      known = new Pieces(track(process, thread), new CpuProfileJson(null));
      profiles.put(key, known);
    }
    known.whole.append(next);
  }

  private Track track(int process, int thread) {
    return tracks.get(number(process, thread));
  }

  /** The number of a thread. */
  private int number(int process, int thread) {
    long key = (long) process << 32 | thread;
    int row = threads.find(key);
    if (row < 0 && tracks.size() >= MOST_THREADS) {
      row = MOST_THREADS - 1;
    } else if (row < 0) {
      row = threads.row(key);
      tracks.add(
          row == MOST_THREADS - 1
              ? new Track(none, none, "others")
              : new Track(process, thread, "thread " + texts.get(thread)));
    }
    return row;
  }

  private void add(Track thread, int name, long lasts) {
    long moment = moment();
    boolean pair = lasts == TraceReplay.BEGINS || lasts == TraceReplay.ENDS;
    if (moment == Unit.TOO_LARGE || !pair && (lasts < 0 || moment + lasts < moment)) {
      damaged++;
      return;
    }
    thread.at.add(moment);
    thread.lasts.add(lasts);
    thread.names.add(name);
  }

  private Owner owner(Track thread) {
    String process = processes.getOrDefault(thread.process, "");
    return new Owner(
        process.isEmpty() ? thread.name : process,
        TaskNumber.of(texts.get(thread.process)),
        thread.name,
        TaskNumber.of(texts.get(thread.thread)),
        "",
        null);
  }

  /** Hands all stacks on. */
  void write(StackSink to) {
    if (!any) {
      return;
    }
    boolean sampled = !samples.isEmpty();
    FrameTree tree = new FrameTree(to.wantsOrder());
    TraceReplay replay = new TraceReplay(tree, none);
    for (int i = 0; i < tracks.size(); i++) {
      Track of = tracks.get(i);
      if (of.at.size > 0) {
        // Names have numbers from 0 on.
        replay.add(of.at, of.lasts, of.names, tree.child(FrameTree.ROOT, -1 - i));
      }
    }
    // First, so that stacks of another type are not shown among those of the preferred one.
    boolean events = replay.counts() || profiles.isEmpty() && !sampled;
    IntUnaryOperator frames =
        of ->
            of < 0
                ? to.owner(owner(tracks.get(-1 - of)))
                : to.frame(NodeKind.USER, texts.get(of), "");
    if (events) {
      tree.write(texts.size(), frames, 0, new int[] {to.measure("time", UNIT, true)}, to);
    }
    if (!profiles.isEmpty() || sampled) {
      // Times of samples are no times of events.
      String name = !profiles.isEmpty() ? "cpu profile" : events ? "sampled time" : "time";
      int time = to.measure(name, UNIT, !events);
      int count = to.measure("samples", Unit.whole("samples"), false);
      profiles.values().forEach(of -> of.whole.write(to, owner(of.thread), time, count));
      samples.write(to, frames, time, count);
    }
    to.note(others, "events are of other kinds than B, E, X and ProfileChunk, and are left out");
    to.note(damaged, "events have no time, or a time that is negative or too large");
    to.note(replay.unpaired(), "events begin or end without their other half");
    to.note(unheld + replay.unheld(), "events are left out: there is no memory for more frames");
  }
}

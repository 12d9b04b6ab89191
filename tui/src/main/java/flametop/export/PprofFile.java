package flametop.export;

import flametop.profile.answer.NodeKind;
import flametop.profile.format.FrameMark;
import flametop.profile.format.Numbering;
import flametop.profile.format.ProfileFacts;
import flametop.profile.format.SampleLog.Frame;
import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import java.util.function.IntFunction;
import java.util.zip.GZIPOutputStream;

/**
 * Writes a gzipped {@code profile.proto}: the types of the values, the samples, and then the tables
 * that the numbers of samples refer to.
 *
 * @see <a href="https://github.com/google/pprof/blob/main/proto/profile.proto">its definition</a>
 */
final class PprofFile {
  /** A function as pprof knows it: without a line. */
  private record Function(NodeKind kind, String name, String file) {}

  private final GZIPOutputStream out;
  private final IntFunction<Frame> frames;
  private final Protobuf profile = new Protobuf();
  private final Numbering<String> strings = new Numbering<>();
  private final Numbering<String> modules = new Numbering<>();
  private final Numbering<Function> functions = new Numbering<>();
  private final Locations locations;

  /**
   * @param frames the frame of a number
   */
  PprofFile(OutputStream out, IntFunction<Frame> frames) throws IOException {
    this.out = new GZIPOutputStream(out, 1 << 13);
    this.frames = frames;
    locations = new Locations(frames);
    int unused = strings.of("");
  }

  /** Adds a type of values. */
  void type(String type, String unit) {
    profile.field(1, named(type, unit));
  }

  private Protobuf named(String type, String unit) {
    return new Protobuf().field(1, strings.of(type)).field(2, strings.of(unit));
  }

  /** The unit of numbers with decimals: pprof has whole numbers, so the unit is smaller. */
  static String parts(String unit, int decimals) {
    return decimals == 0 ? unit : unit + "/1" + "0".repeat(decimals);
  }

  /** The text of a number that a label has; empty if it is not known. */
  static String number(int number) {
    return number > 0 ? Integer.toString(number) : "";
  }

  /** The locations of a stack, as a sample has them. */
  long[] path(int[] path, int depth) {
    return locations.of(path, depth);
  }

  /** A sample, without labels. */
  Protobuf sample(long[] path, long[] values) {
    return new Protobuf().packed(1, path).packed(2, values);
  }

  /** Adds a label to a sample, unless its text is empty. */
  void label(Protobuf sample, String key, String text) {
    if (!text.isEmpty()) {
      sample.field(3, new Protobuf().field(1, strings.of(key)).field(2, strings.of(text)));
    }
  }

  /** Adds a label with a number to a sample. */
  void label(Protobuf sample, String key, long number, String unit) {
    Protobuf label = new Protobuf().field(1, strings.of(key)).field(3, number);
    sample.field(3, label.field(4, strings.of(unit)));
  }

  /** Writes a sample with its labels. */
  void write(Protobuf sample) throws IOException {
    write(2, sample);
  }

  private void write(int field, Protobuf message) throws IOException {
    out.write(profile.field(field, message).take());
  }

  /**
   * Writes the tables, and what the profile says of itself.
   *
   * @param name of the profile
   * @param shown the type of values to show first; empty: the last one
   */
  void end(String name, ProfileFacts facts, String shown) throws IOException {
    // The first mapping is what pprof calls the file of the profile.
    int unused = mapping(name);
    for (int i = 0; i < locations.all().size(); i++) {
      write(4, location(i + 1, locations.all().get(i)));
    }
    for (int i = 0; i < functions.size(); i++) {
      Function of = functions.get(i);
      String text = of.name.isEmpty() ? "-" : of.name;
      Protobuf function = new Protobuf().field(1, i + 1).field(2, strings.of(text));
      function.field(3, strings.of(text + FrameMark.of(of.kind)));
      write(5, function.field(4, strings.of(of.file)));
    }
    profile.field(9, facts.beginNanos()).field(10, facts.lengthNanos());
    if (!facts.periodType().isEmpty()) {
      profile.field(11, named(facts.periodType(), facts.periodUnit()));
    }
    profile.field(12, facts.period());
    profile.packed(13, facts.comments().stream().mapToLong(strings::of).toArray());
    profile.field(14, strings.of(shown));
    strings.all().forEach(text -> profile.field(6, text));
    out.write(profile.take());
    out.finish();
  }

  /** The number of a module's mapping; a new mapping is written. */
  private int mapping(String module) {
    int before = modules.size();
    int number = modules.of(module) + 1;
    if (number > before) {
      // That all names are there keeps pprof from looking for the file.
      Protobuf mapping = new Protobuf().field(1, number).field(5, strings.of(module));
      profile.field(3, mapping.field(7, 1).field(8, 1).field(9, 1));
    }
    return number;
  }

  private Protobuf location(int number, List<Integer> called) {
    String module = frames.apply(called.get(0)).module();
    Protobuf location = new Protobuf().field(1, number);
    if (!module.isEmpty()) {
      location.field(2, mapping(module));
    }
    // What is inlined stands before what it is inlined into.
    for (int i = called.size() - 1; i >= 0; i--) {
      Frame frame = frames.apply(called.get(i));
      String file = frame.place().file().isEmpty() ? frame.module() : frame.place().file();
      int function = functions.of(new Function(frame.kind(), frame.name(), file)) + 1;
      Protobuf line = new Protobuf().field(1, function).field(2, frame.place().line());
      location.field(4, line.field(3, frame.place().column()));
    }
    return location;
  }
}

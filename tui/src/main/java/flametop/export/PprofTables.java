package flametop.export;

import flametop.profile.answer.NodeKind;
import flametop.profile.format.FrameMark;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The tables of a {@code profile.proto} that numbers refer to. */
final class PprofTables {
  private final Map<String, Integer> strings = new HashMap<>();
  private final List<String> table = new ArrayList<>();
  private final Map<String, Integer> modules = new HashMap<>();

  PprofTables() {
    int unused = string("");
  }

  /** The number of a text. */
  int string(String text) {
    Integer number = strings.putIfAbsent(text, table.size());
    if (number == null) {
      table.add(text);
      return table.size() - 1;
    }
    return number;
  }

  /** The type of a value. */
  Protobuf type(String type, String unit) {
    return new Protobuf().field(1, string(type)).field(2, string(unit));
  }

  /** The unit of numbers with decimals: pprof has whole numbers, so the unit is smaller. */
  static String parts(String unit, int decimals) {
    return decimals == 0 ? unit : unit + "/1" + "0".repeat(decimals);
  }

  /** Adds a label to a sample, unless its text is empty. */
  void label(Protobuf sample, String key, String text) {
    if (!text.isEmpty()) {
      sample.field(3, new Protobuf().field(1, string(key)).field(2, string(text)));
    }
  }

  /** Adds a label with a number to a sample. */
  void label(Protobuf sample, String key, long number, String unit) {
    Protobuf label = new Protobuf().field(1, string(key)).field(3, number);
    sample.field(3, label.field(4, string(unit)));
  }

  /** The number of a module's mapping; a new mapping is written. */
  int mapping(Protobuf profile, String module) {
    Integer known = modules.putIfAbsent(module, modules.size() + 1);
    if (known != null) {
      return known;
    }
    // That all names are there keeps pprof from looking for the file.
    Protobuf mapping = new Protobuf().field(1, modules.size()).field(5, string(module));
    profile.field(3, mapping.field(7, 1).field(8, 1).field(9, 1));
    return modules.size();
  }

  /** Writes a function; what is inlined at one location may be called at another. */
  void function(Protobuf profile, int number, NodeKind kind, String name, String file) {
    String shown = name.isEmpty() ? "-" : name;
    profile.field(
        5,
        new Protobuf()
            .field(1, number)
            .field(2, string(shown))
            .field(3, string(shown + FrameMark.of(kind)))
            .field(4, string(file)));
  }

  /** Writes lines for people. */
  void comments(Protobuf profile, List<String> lines) {
    long[] comments = new long[lines.size()];
    for (int i = 0; i < comments.length; i++) {
      comments[i] = string(lines.get(i));
    }
    profile.packed(13, comments);
  }

  /** Writes all texts: the last of the tables. */
  void strings(Protobuf profile) {
    for (String text : table) {
      profile.field(6, text);
    }
  }
}

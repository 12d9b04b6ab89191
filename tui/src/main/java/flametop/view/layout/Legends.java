package flametop.view.layout;

import flametop.profile.answer.Capability;
import java.util.ArrayList;
import java.util.List;

/** What is no key but wants an explanation in the help: a title, then word and meaning. */
final class Legends {
  private static final String[][] CHANGES = {
    {"compared"},
    {"width", "the larger of the two"},
    {"more, less", "share of all, then and now"},
    {"underlined", "gone"},
  };

  private static final String[][] CHANGES_OF_ROWS = {
    {"was", "in what it is compared with"},
    {"change", "coloured if beyond the noise"},
    {"underlined", "gone"},
  };

  private static final String[][] SANDWICH = {
    {"sandwich"},
    {"above", "who calls the function"},
    {"below", "what it calls"},
    {"self", "in itself"},
    {"total", "also in what it calls"},
  };

  private static final String[][] CPUS = {
    {"columns"},
    {"waiting", "tasks, for this CPU"},
    {"own", "wakes by flametop's clock"},
    {"cycles", "run, of those that passed"},
  };

  private static final String[][] IDLE = {
    {"columns"},
    {"latency", "to leave the state"},
    {"target", "shortest stay that pays"},
    {"too short", "stays below the target"},
    {"long", "a deeper one would have paid"},
  };

  private static final String[][] QUALITY = {
    {"columns"},
    {"samples", "stacks taken, unchanged not"},
    {"whole", "walked to a root"},
    {"beyond", "walked beyond the module"},
    {"guessed", "have a frame not unwound"},
    {"the rest", "why a walk ended"},
  };

  private Legends() {}

  /** The explanations of the view that a picture shows. */
  static String[][] of(Scene scene) {
    return switch (scene.state.view()) {
      case GRAPH, CALLERS -> graph(scene);
      case SANDWICH -> SANDWICH;
      case TOP -> functions(scene);
      case TASKS -> tasks(scene);
      case CPUS -> CPUS;
      case IDLE -> IDLE;
      case QUALITY -> QUALITY;
    };
  }

  /** Nothing of a file that is compared with none. */
  private static String[][] graph(Scene scene) {
    boolean none = !scene.options.origin().has(Capability.BASELINE) && !scene.compares();
    return none ? new String[0][] : CHANGES;
  }

  private static String[][] functions(Scene scene) {
    List<String[]> lines = new ArrayList<>();
    boolean file = !scene.options.origin().has(Capability.STATES);
    lines.add(new String[] {"columns"});
    lines.add(new String[] {"self", "in the function itself"});
    lines.add(new String[] {"total", "also in what it calls"});
    if (scene.compares()) {
      lines.addAll(List.of(CHANGES_OF_ROWS));
    }
    lines.add(new String[] {"bar", file ? "self; faint: total" : "self by state; faint: total"});
    if (!file) {
      lines.add(new String[] {"run, …", "total by state"});
    }
    return lines.toArray(new String[0][]);
  }

  private static String[][] tasks(Scene scene) {
    List<String[]> lines = new ArrayList<>();
    lines.add(new String[] {"columns"});
    lines.add(new String[] {"age", "in its state"});
    lines.add(new String[] {"cpu", "exact; 100% is one CPU"});
    if (scene.compares()) {
      lines.addAll(List.of(CHANGES_OF_ROWS));
    }
    lines.add(new String[] {"queued", "waited for one, likewise"});
    lines.add(new String[] {"is in", "its innermost function"});
    return lines.toArray(new String[0][]);
  }
}

package flametop.profile.file;

import flametop.profile.answer.Capability;
import flametop.profile.answer.FoldedStack.Owner;
import flametop.profile.answer.Function;
import flametop.profile.answer.NodeKind;
import flametop.profile.answer.RootOrder;
import flametop.profile.answer.Shape;
import flametop.profile.answer.StateSet;
import flametop.sampler.CleanText;
import flametop.sampler.State;
import java.nio.charset.StandardCharsets;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The owners of stacks among the names of a file. The text of such a name is the name that is
 * shown, and behind it what else is known; the two are parted by bytes that no name has:
 *
 * <pre>
 *   comm  0 0 o pid 0 tid 0 state 0 cgroup 0 thread     an owner in full, in the tree of all stacks
 *   comm-pid   0 0 p pid                                a process, in a tree that is grouped
 *   thread-tid 0 0 t tid                                a thread
 *   path       0 0 g                                    a control group
 * </pre>
 */
final class OwnerNames {
  /** Owners above this number are told apart by their names alone: each has a tree of its own. */
  static final int MOST = 1 << 14;

  private static final int MAX_NAME = 4_096;
  private static final String PARTS = "\0\0";
  private static final char FULL = 'o';
  private static final char PROCESS = 'p';
  private static final char THREAD = 't';
  private static final char CGROUP = 'g';

  private final StackNames names;
  private final Map<Integer, Owner> byName = new HashMap<>();

  /** The comm by which a process goes: that of its first thread, else the first that was seen. */
  private final Map<Integer, String> processes = new HashMap<>();

  private final Set<Capability> known = EnumSet.noneOf(Capability.class);
  private boolean detailed;
  private boolean tooMany;

  OwnerNames(StackNames names) {
    this.names = names;
  }

  /** The kind that the text of a name says behind the name; null if the text is of no owner. */
  static @Nullable NodeKind kind(byte[] text, int nameEnd, int to) {
    if (nameEnd + PARTS.length() >= to || text[nameEnd + 1] != 0) {
      return null;
    }
    return switch (text[nameEnd + PARTS.length()]) {
      case THREAD -> NodeKind.THREAD;
      case CGROUP -> NodeKind.CGROUP;
      // Outermost it is a process.
      default -> NodeKind.USER;
    };
  }

  /** The text of an owner, by which {@link StackNames#intern} knows him. */
  static byte[] text(Owner of) {
    if (!of.isDetailed()) {
      return StackNames.text(NodeKind.PROCESS, of.comm(), "");
    }
    State state = of.state();
    String more =
        String.join(
            "\0",
            "" + of.pid(),
            "" + of.tid(),
            state == null ? "" : "" + state.ordinal(),
            of.cgroup().replace('\0', ' '),
            of.thread().replace('\0', ' '));
    return text(of.comm(), FULL, more);
  }

  private static byte[] text(String name, char kind, String more) {
    String shown = new String(StackNames.text(NodeKind.PROCESS, name, ""), StandardCharsets.UTF_8);
    return (shown + PARTS + kind + more).getBytes(StandardCharsets.UTF_8);
  }

  /** The number of the name of an owner; -1 if there is no room. */
  int intern(byte[] text) {
    Owner owner = owner(text);
    if (owner == null) {
      return names.intern(text, 0, text.length);
    }
    if (byName.size() >= MOST) {
      tooMany = true;
      return names.intern(text, 0, StackNames.nameEnd(text, 0, text.length));
    }
    int name = names.intern(text, 0, text.length);
    if (name >= 0 && byName.putIfAbsent(name, owner) == null) {
      detailed = true;
      know(owner);
    }
    return name;
  }

  private void know(Owner owner) {
    if (owner.pid() > 0) {
      known.add(Capability.PROCESSES);
      if (owner.pid() == owner.tid()) {
        processes.put(owner.pid(), owner.comm());
      } else {
        processes.putIfAbsent(owner.pid(), owner.comm());
      }
    }
    if (owner.tid() > 0 || !owner.thread().isEmpty()) {
      known.add(Capability.THREADS);
    }
    if (!owner.cgroup().isEmpty()) {
      known.add(Capability.CGROUPS);
    }
    if (owner.state() != null) {
      known.add(Capability.STATES);
    }
  }

  /** Whether more is known of any owner than its name. */
  boolean areDetailed() {
    return detailed;
  }

  /** Whether there were more owners than are told apart. */
  boolean areTooMany() {
    return tooMany;
  }

  /** Whether the state of any owner is known. */
  boolean haveStates() {
    return known.contains(Capability.STATES);
  }

  /** What a file says of its stacks, which may have several measures. */
  Set<Capability> says(boolean measures) {
    Set<Capability> says = EnumSet.copyOf(known);
    if (measures) {
      says.add(Capability.MEASURES);
    }
    return says;
  }

  /** The owner that a text is of; null if it says no more than a name. */
  static @Nullable Owner owner(byte[] text) {
    int end = StackNames.nameEnd(text, 0, text.length);
    if (end + PARTS.length() >= text.length || text[end + PARTS.length()] != FULL) {
      return null;
    }
    String[] parts = more(text, end).split("\0", 5);
    int pid = number(parts[0]);
    // A file of folded stacks may have any bytes.
    if (parts.length < 5 || pid < 0 || number(parts[1]) < 0) {
      return null;
    }
    int state = number(parts[2]);
    return new Owner(
        CleanText.clean(text, 0, FoldedName.end(text, 0, end), MAX_NAME),
        pid,
        CleanText.clean(parts[4], MAX_NAME),
        number(parts[1]),
        CleanText.clean(parts[3], MAX_NAME),
        state < 0 || state >= State.values().length ? null : State.of(state));
  }

  /** What stands behind the letter of the kind. */
  private static String more(byte[] text, int nameEnd) {
    int from = nameEnd + PARTS.length() + 1;
    return new String(text, from, text.length - from, StandardCharsets.UTF_8);
  }

  /** The number that a text is; -1 if it is none. */
  private static int number(String text) {
    return text.matches("[0-9]{1,10}") && Long.parseLong(text) <= Integer.MAX_VALUE
        ? Integer.parseInt(text)
        : -1;
  }

  /** Whether a shape admits the stacks that begin with a function. */
  boolean admits(Shape shape, int function) {
    Owner of = byName.get(function >> 1);
    Owner owner = of == null ? Owner.of(names.name(function)) : of;
    State state = owner.state();
    boolean inState =
        (shape.states() & StateSet.ALL.bits()) == StateSet.ALL.bits()
            || state != null && (shape.states() & 1 << state.ordinal()) != 0;
    String process = process(owner);
    return inState
        && shape.admits(
            owner.pid(),
            owner.tid(),
            -1,
            owner.comm(),
            process,
            process,
            owner.cgroup(),
            "",
            NodeKind.ThreadKind.PROGRAM);
  }

  /** The comm by which the process of an owner goes. */
  String process(Owner of) {
    return processes.getOrDefault(of.pid(), of.comm());
  }

  /** The function that stands for the owner of a stack in a grouped tree. */
  int grouped(RootOrder by, int function) {
    int name = function >> 1;
    Owner owner = byName.get(name);
    if (owner == null) {
      return function;
    }
    byte[] text =
        switch (by) {
          case PROCESS ->
              owner.pid() > 0
                  ? text(process(owner) + "-" + owner.pid(), PROCESS, "" + owner.pid())
                  : comm(owner);
          case THREAD ->
              owner.tid() > 0
                  ? text(owner.threadName() + "-" + owner.tid(), THREAD, "" + owner.tid())
                  : text(owner.threadName(), THREAD, "0");
          case CGROUP -> owner.cgroup().isEmpty() ? comm(owner) : text(owner.cgroup(), CGROUP, "");
          default -> comm(owner);
        };
    return StackNames.function(names.internAnyway(text), StackNames.isOutermost(function));
  }

  private static byte[] comm(Owner of) {
    return StackNames.text(NodeKind.PROCESS, of.comm(), "");
  }

  /** The filter that admits only the stacks of an owner's node. */
  Shape.@Nullable Filter filter(int function, Function shown) {
    byte[] text = names.text(function);
    int end = StackNames.nameEnd(text, 0, text.length);
    if (kind(text, end, text.length) == null) {
      return shown.kind() == NodeKind.PROCESS ? new Shape.Comms(Set.of(shown.name()), false) : null;
    }
    String more = more(text, end);
    return switch ((char) text[end + PARTS.length()]) {
      case PROCESS -> new Shape.Processes(Set.of(number(more)), false);
      case THREAD -> number(more) < 1 ? null : new Shape.Threads(Set.of(number(more)), false);
      case CGROUP -> new Shape.Cgroups(Set.of(shown.name()), false);
      default -> new Shape.Comms(Set.of(shown.name()), false);
    };
  }
}

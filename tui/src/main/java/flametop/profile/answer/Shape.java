package flametop.profile.answer;

import flametop.profile.answer.NodeKind.ThreadKind;
import flametop.sampler.State;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * How stacks become the paths of a graph: a list of steps, applied in their order to the frames of
 * each stack, the past included; sampling goes on as started. Immutable, so undo is the shape
 * before.
 *
 * <p>Whatever their place in the list, what stands above the frames is the last {@link Group}'s,
 * and {@link Reverse} is done last.
 */
public final class Shape {
  /** The number of a CPU that nobody told. */
  public static final int NO_CPU = -1;

  /** One thing done to all stacks. */
  public sealed interface Step {
    /** The words of the step in the breadcrumb; clean, and short but for names. */
    String text();
  }

  /** A step that admits some stacks, or all but those. */
  public sealed interface Filter extends Step {
    /** The same filter, which keeps only the things that it names, or leaves them out. */
    Filter with(boolean isOut);
  }

  /** A filter that admits tasks, by whose they are. */
  private sealed interface TaskFilter extends Filter {}

  /** Only these processes, or all but these. */
  public record Processes(Set<Integer> tgids, boolean out) implements TaskFilter {
    @Override
    public String text() {
      return in(out, "pid " + joined(tgids));
    }

    @Override
    public Processes with(boolean isOut) {
      return new Processes(tgids, isOut);
    }
  }

  /** Only these threads, or all but these. */
  public record Threads(Set<Integer> tids, boolean out) implements TaskFilter {
    @Override
    public String text() {
      return in(out, "tid " + joined(tids));
    }

    @Override
    public Threads with(boolean isOut) {
      return new Threads(tids, isOut);
    }
  }

  /** Only threads and processes of these comms, or all but these. */
  public record Comms(Set<String> comms, boolean out) implements TaskFilter {
    @Override
    public String text() {
      return in(out, "comm " + joined(comms));
    }

    @Override
    public Comms with(boolean isOut) {
      return new Comms(comms, isOut);
    }
  }

  /** Only processes whose programs have these names, or all but these. */
  public record Services(Set<String> names, boolean out) implements TaskFilter {
    @Override
    public String text() {
      return in(out, "service " + joined(names));
    }

    @Override
    public Services with(boolean isOut) {
      return new Services(names, isOut);
    }
  }

  /** Only processes that stand below these, or all but these. */
  public record Ancestors(Set<String> names, boolean out) implements TaskFilter {
    @Override
    public String text() {
      return in(out, "started by " + joined(names));
    }

    @Override
    public Ancestors with(boolean isOut) {
      return new Ancestors(names, isOut);
    }
  }

  /** Only threads of these kinds, or all but these. */
  public record Kinds(Set<ThreadKind> kinds, boolean out) implements TaskFilter {
    @Override
    public String text() {
      return in(
          out,
          kinds.stream().map(ThreadKind::label).sorted().collect(Collectors.joining(","))
              + " threads");
    }

    @Override
    public Kinds with(boolean isOut) {
      return new Kinds(kinds, isOut);
    }
  }

  /** Only processes of these users, or all but these. */
  public record Users(Set<Integer> uids, boolean out) implements TaskFilter {
    @Override
    public String text() {
      return in(out, "uid " + joined(uids));
    }

    @Override
    public Users with(boolean isOut) {
      return new Users(uids, isOut);
    }
  }

  /**
   * Only processes of these control groups and of those below them, or all but these. What is known
   * of no group, and of old history that is not known any more, belongs to neither.
   *
   * @param paths from the root, as {@code /system.slice/ssh.service}; {@code /} is the root without
   *     what is below it
   */
  public record Cgroups(Set<String> paths, boolean out) implements TaskFilter {
    @Override
    public String text() {
      return in(out, "cgroup " + joined(paths));
    }

    @Override
    public Cgroups with(boolean isOut) {
      return new Cgroups(paths, isOut);
    }

    private boolean admits(String path) {
      return path.startsWith("/") && paths.stream().anyMatch(of -> isWithin(path, of)) != out;
    }

    private static boolean isWithin(String path, String group) {
      int length = group.length();
      return path.startsWith(group) && (path.length() == length || path.charAt(length) == '/');
    }
  }

  /**
   * Only time on these CPUs, or on others. The CPU is not known for history that is only sums, nor
   * for time off the CPU: such time belongs to neither.
   */
  public record Cpus(Set<Integer> cpus, boolean out) implements Filter {
    @Override
    public String text() {
      return in(out, "cpu " + joined(cpus));
    }

    @Override
    public Cpus with(boolean isOut) {
      return new Cpus(cpus, isOut);
    }
  }

  /** Only time in these states. */
  public record States(StateSet states) implements Step {
    @Override
    public String text() {
      return Arrays.stream(State.values())
          .filter(states::contains)
          .map(State::label)
          .collect(Collectors.joining("+"));
    }
  }

  /**
   * Only stacks with a frame whose name matches, or without one. What is no regular expression is
   * refused with {@link java.util.regex.PatternSyntaxException}.
   *
   * @param flags of {@link Pattern#compile(String, int)}
   */
  public record Matching(String regex, int flags, boolean out) implements Filter {
    public Matching {
      Pattern.compile(regex, flags);
    }

    @Override
    public String text() {
      return in(out, "/" + regex + "/");
    }

    @Override
    public Matching with(boolean isOut) {
      return new Matching(regex, flags, isOut);
    }
  }

  /** Only stacks that pass through a function, or that do not. */
  public record Through(Function function, boolean out) implements Filter {
    @Override
    public String text() {
      return in(out, function.name());
    }

    @Override
    public Through with(boolean isOut) {
      return new Through(function, isOut);
    }
  }

  /**
   * No function calls itself: between two calls of one function on a stack, what called the second
   * is left out, and it stands for both.
   */
  public record Merge() implements Step {
    @Override
    public String text() {
      return "recursion merged";
    }
  }

  /** Frames of one module that call each other are one node, {@code [module]}. */
  public record Collapse(String module) implements Step {
    @Override
    public String text() {
      return Shape.collapsed(module);
    }
  }

  /**
   * Frames of a runtime's own machinery are left out of stacks that have functions of the language
   * that the runtime runs: interpreter loops, call glue, stubs. Frames of other modules stay.
   */
  public record FoldRuntimes() implements Step {
    @Override
    public String text() {
      return "runtimes folded";
    }
  }

  /** The nodes above the frames; without this step they are those of {@link RootOrder#SERVICE}. */
  public record Group(RootOrder by) implements Step {
    @Override
    public String text() {
      return switch (by) {
        case NONE -> "not grouped";
        case SERVICE -> "by service";
        case COMM -> "by comm";
        case PROCESS -> "by process";
        case THREAD -> "by thread";
        case CPU -> "by CPU";
        case CGROUP -> "by cgroup";
        case ANCESTOR -> "by ancestor";
      };
    }
  }

  /** Whether the outermost frame of the stacks of a file is a comm; else it is a function. */
  public record Comm(boolean is) implements Step {
    @Override
    public String text() {
      return is ? "outermost: a comm" : "outermost: a function";
    }
  }

  /**
   * The stacks of idle threads as they are. Without this step, a graph that is drawn has one frame,
   * {@code [idle]}, in their place.
   */
  public record ShowIdle() implements Step {
    @Override
    public String text() {
      return "idle shown";
    }
  }

  /** Innermost frame first. */
  public record Reverse() implements Step {
    @Override
    public String text() {
      return "reversed";
    }
  }

  /**
   * Who calls a function: of the stacks with it, the function, its caller, and so on outwards. Of
   * recursive calls it is the outermost, so that all weigh what the function does.
   */
  public record Callers(Function function) implements Step {
    @Override
    public String text() {
      return "callers of " + function.name();
    }
  }

  /**
   * The callees of a function: of each stack with the function, the part that the outermost call of
   * the function begins.
   */
  public record Callees(Function function) implements Step {
    @Override
    public String text() {
      return "below " + function.name();
    }
  }

  /** How many of a set its text names. */
  private static final int NAMED = 4;

  /** Everything by service. */
  public static final Shape PLAIN = new Shape(List.of());

  private final List<Step> steps;
  private final RootOrder group;
  private final int states;
  private final boolean reversed;
  private final boolean everybody;
  private final boolean narrowsCpus;
  private final boolean showsIdle;

  private Shape(List<Step> steps) {
    this.steps = steps;
    Group last = last(Group.class);
    group = last == null ? RootOrder.SERVICE : last.by;
    reversed = last(Reverse.class) != null;
    everybody = last(TaskFilter.class) == null;
    narrowsCpus = last(Cpus.class) != null;
    showsIdle = last(ShowIdle.class) != null;
    int bits = -1;
    for (Step step : steps) {
      bits &= step instanceof States s ? s.states.bits() : -1;
    }
    states = bits;
  }

  public static Shape of(Step... steps) {
    return new Shape(List.of(steps));
  }

  public List<Step> steps() {
    return steps;
  }

  /** The same with one more step, at the end. */
  public Shape plus(Step step) {
    List<Step> more = new ArrayList<>(steps);
    more.add(step);
    return new Shape(List.copyOf(more));
  }

  /** The same with this step in place of all steps of its sort. */
  public Shape with(Step step) {
    return without(step.getClass()).plus(step);
  }

  /** The same without the steps of one sort. */
  public Shape without(Class<? extends Step> sort) {
    List<Step> fewer = new ArrayList<>(steps);
    return fewer.removeIf(sort::isInstance) ? new Shape(List.copyOf(fewer)) : this;
  }

  /** The same without one step. */
  public Shape minus(Step step) {
    List<Step> fewer = new ArrayList<>(steps);
    return fewer.remove(step) ? new Shape(List.copyOf(fewer)) : this;
  }

  /** The last step of one sort; null if there is none. */
  public <S extends Step> @Nullable S last(Class<S> sort) {
    S last = null;
    for (Step step : steps) {
      last = sort.isInstance(step) ? sort.cast(step) : last;
    }
    return last;
  }

  /** The same with its first so many steps only. */
  public Shape first(int count) {
    return count >= steps.size() ? this : new Shape(List.copyOf(steps.subList(0, count)));
  }

  /** The same with the steps of one sort that another shape has, in place of its own. */
  public Shape as(Shape base, Class<? extends Step> sort) {
    List<Step> result = new ArrayList<>(without(sort).steps);
    base.steps.stream().filter(sort::isInstance).forEach(result::add);
    return new Shape(List.copyOf(result));
  }

  /** The nodes above the frames. */
  public RootOrder group() {
    return group;
  }

  /** Whether the innermost frame is first. */
  public boolean reversed() {
    return reversed;
  }

  /** Bits of the states whose time counts. */
  public int states() {
    return states;
  }

  /** Whether it admits what ran on some CPUs only. */
  public boolean narrowsCpus() {
    return narrowsCpus;
  }

  /** Tells whether the graph shows the stacks of idle threads, and no frame {@code [idle]}. */
  public boolean showsIdle() {
    return showsIdle;
  }

  /** Whether it admits what ran on a CPU. */
  public boolean admitsCpu(int cpu) {
    for (Step step : steps) {
      if (step instanceof Cpus c && (cpu == NO_CPU || c.cpus.contains(cpu) == c.out)) {
        return false;
      }
    }
    return true;
  }

  /** Whether it matters on which CPU something ran. */
  public boolean tellsCpus() {
    return narrowsCpus || group == RootOrder.CPU;
  }

  /** Whether it admits every task. */
  public boolean everybody() {
    return everybody;
  }

  /**
   * @param tid {@code Owners.NONE} of one that stands for many
   * @param service the name of the process by the program that it runs
   * @param cgroup its path, or text that does not begin as one
   * @param ancestor name and number of the process that it stands below
   * @param kind what the thread is for
   */
  public boolean admits(
      int tgid,
      int tid,
      int uid,
      String comm,
      String processComm,
      String service,
      String cgroup,
      String ancestor,
      ThreadKind kind) {
    for (Step step : steps) {
      boolean admitted = true;
      if (step instanceof Processes p) {
        admitted = p.tgids.contains(tgid) != p.out;
      } else if (step instanceof Threads t) {
        admitted = t.tids.contains(tid) != t.out;
      } else if (step instanceof Comms c) {
        admitted = (c.comms.contains(comm) || c.comms.contains(processComm)) != c.out;
      } else if (step instanceof Services s) {
        admitted = s.names.contains(service) != s.out;
      } else if (step instanceof Ancestors a) {
        admitted = a.names.contains(ancestor) != a.out;
      } else if (step instanceof Kinds k) {
        admitted = k.kinds.contains(kind) != k.out;
      } else if (step instanceof Users u) {
        admitted = u.uids.contains(uid) != u.out;
      } else if (step instanceof Cgroups c) {
        admitted = c.admits(cgroup);
      }
      if (!admitted) {
        return false;
      }
    }
    return true;
  }

  /** Name of the node for the frames of a module. */
  public static String collapsed(String module) {
    return module.startsWith("[") ? module : "[" + module + "]";
  }

  private static String in(boolean out, String what) {
    return out ? "not " + what : what;
  }

  private static String joined(Set<?> values) {
    int more = values.size() - NAMED;
    return values.stream()
            .sorted(
                Comparator.comparing(v -> v instanceof Integer i ? i : 0)
                    .thenComparing(Object::toString))
            .limit(more > 1 ? NAMED : NAMED + 1)
            .map(Object::toString)
            .collect(Collectors.joining(","))
        + (more > 1 ? " and " + more + " more" : "");
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof Shape s && s.steps.equals(steps);
  }

  @Override
  public int hashCode() {
    return steps.hashCode();
  }

  /** The breadcrumb. */
  @Override
  public String toString() {
    return steps.stream().map(Step::text).collect(Collectors.joining(" › "));
  }
}

package flametop.profile.tree;

import flametop.profile.answer.Function;
import flametop.profile.answer.NodeKind;
import flametop.profile.answer.Shape;
import flametop.profile.answer.StateSet;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.regex.Pattern;

/** What a shape makes of a stack, step by step on lists of functions. */
public final class NaiveShape {
  private NaiveShape() {}

  /**
   * @param frames outermost first
   * @return null if the stack does not belong in the graph
   */
  public static List<Function> shape(Shape shape, List<Function> frames) {
    List<Function> path = new ArrayList<>(frames);
    for (Shape.Step step : shape.steps()) {
      path = step(step, path);
      if (path == null) {
        return null;
      }
    }
    if (shape.reversed()) {
      Collections.reverse(path);
    }
    return path;
  }

  private static List<Function> step(Shape.Step step, List<Function> path) {
    if (step instanceof Shape.Matching m) {
      boolean found =
          path.stream().anyMatch(f -> Pattern.compile(m.regex()).matcher(f.name()).find());
      return found == m.out() ? null : path;
    }
    if (step instanceof Shape.Through t) {
      return path.contains(t.function()) == t.out() ? null : path;
    }
    if (step instanceof Shape.Callers c) {
      int at = path.indexOf(c.function());
      List<Function> callers = new ArrayList<>(path.subList(0, at + 1));
      Collections.reverse(callers);
      return at < 0 ? null : callers;
    }
    if (step instanceof Shape.Callees c) {
      int at = path.indexOf(c.function());
      return at < 0 ? null : new ArrayList<>(path.subList(at, path.size()));
    }
    if (step instanceof Shape.Merge) {
      List<Function> merged = new ArrayList<>();
      for (Function f : path) {
        int at = merged.indexOf(f);
        if (at >= 0) {
          merged = new ArrayList<>(merged.subList(0, at + 1));
        } else {
          merged.add(f);
        }
      }
      return merged;
    }
    if (step instanceof Shape.Collapse c) {
      List<Function> collapsed = new ArrayList<>();
      boolean within = false;
      for (Function f : path) {
        boolean its = f.module().equals(c.module());
        if (!its) {
          collapsed.add(f);
        } else if (!within) {
          NodeKind kind = f.kind() == NodeKind.UNKNOWN ? NodeKind.USER : f.kind();
          String name = c.module().startsWith("[") ? c.module() : "[" + c.module() + "]";
          collapsed.add(new Function(kind, c.module(), name));
        }
        within = its;
      }
      return collapsed;
    }
    return step instanceof Shape.FoldRuntimes ? folded(path) : path;
  }

  /** Knows Java and Python 3.11 only. */
  private static List<Function> folded(List<Function> path) {
    boolean python = path.stream().anyMatch(f -> f.kind() == NodeKind.PYTHON);
    boolean java =
        path.stream().anyMatch(f -> isOf(f, "libjvm.so"))
            && path.stream().anyMatch(f -> f.kind() == NodeKind.JIT && isMethod(f));
    List<Function> folded = new ArrayList<>(path);
    folded.removeIf(f -> python && isOf(f, "python3.11"));
    folded.removeIf(
        f -> java && (isOf(f, "libjvm.so") || f.kind() == NodeKind.JIT && !isMethod(f)));
    return folded;
  }

  private static boolean isOf(Function function, String file) {
    return function.module().equals(file)
        && Set.of(NodeKind.USER, NodeKind.INLINED, NodeKind.UNKNOWN).contains(function.kind());
  }

  private static boolean isMethod(Function function) {
    return function.name().contains(".") || function.name().startsWith("[");
  }

  /** Up to four steps with the frames. */
  public static Shape random(Random random, List<Function> functions, String pattern) {
    Shape shape = Shape.PLAIN;
    for (int steps = random.nextInt(5); steps > 0; steps--) {
      Function one = functions.get(random.nextInt(functions.size()));
      boolean out = random.nextBoolean();
      Shape.Step step =
          switch (random.nextInt(8)) {
            case 0 -> new Shape.Matching(pattern, 0, out);
            case 1 -> new Shape.Through(one, out);
            case 2 -> new Shape.Merge();
            case 3 -> new Shape.Collapse(one.module());
            case 4 -> new Shape.Reverse();
            case 5 -> new Shape.Callers(one);
            case 6 -> new Shape.FoldRuntimes();
            default -> new Shape.Callees(one);
          };
      shape = shape.plus(step);
    }
    return shape;
  }

  /** Steps that leave tasks and states out. */
  public static Shape.Step randomTasks(Random random) {
    boolean out = random.nextBoolean();
    return switch (random.nextInt(7)) {
      case 0 -> new Shape.Processes(Set.of(10, 11), out);
      case 1 -> new Shape.Threads(Set.of(101, 104, 107), out);
      case 2 -> new Shape.Comms(Set.of("app1", "t2"), out);
      case 3 -> new Shape.Users(Set.of(1010, 1012), out);
      case 4 -> new Shape.Cpus(Set.of(0, 2), out);
      case 5 -> new Shape.Cgroups(Set.of("/a/b", "/"), out);
      default -> new Shape.States(out ? StateSet.BUSY : StateSet.OFF_CPU);
    };
  }
}

package flametop.profile.tree;

import flametop.array.IntColumn;
import flametop.profile.answer.Function;
import flametop.profile.answer.NodeKind;
import flametop.profile.answer.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.regex.Pattern;

/**
 * Applies a {@link Shape} to the frames of a stack. A shaper knows nothing of the owners of time,
 * nor of the folding of paths.
 */
public final class Shaper {
  private final Functions functions;

  /** The steps, which work on {@link #of} and {@link #origin}. False: the stack is left out. */
  private final List<BooleanSupplier> stages = new ArrayList<>();

  /** What forgets what the steps know of functions. */
  private final List<Runnable> forgets = new ArrayList<>();

  private final boolean keepsOrder;

  private int size;
  private int[] of = new int[64];
  private int[] origin = new int[64];

  /** By function: its index plus 1; only while recursion is merged. */
  private int[] place = new int[0];

  public Shaper(Shape shape, Functions functions) {
    this.functions = functions;
    shape.steps().forEach(this::add);
    keepsOrder =
        !shape.reversed() && shape.steps().stream().noneMatch(Shape.Callers.class::isInstance);
    if (shape.reversed()) {
      stages.add(this::reverse);
    }
  }

  /** Adds the stage of a step, if the step changes stacks. */
  private void add(Shape.Step step) {
    if (step instanceof Shape.Matching m) {
      Matches matches = new Matches(functions);
      matches.use(Pattern.compile(m.regex(), m.flags()));
      add(matches, () -> first(matches) >= 0 != m.out());
    } else if (step instanceof Shape.Through t) {
      Known one = one(t.function());
      add(one, () -> first(one) >= 0 != t.out());
    } else if (step instanceof Shape.Callers c) {
      Known one = one(c.function());
      add(one, () -> upTo(first(one)));
    } else if (step instanceof Shape.Callees c) {
      Known one = one(c.function());
      add(one, () -> from(first(one)));
    } else if (step instanceof Shape.Merge) {
      stages.add(this::merge);
    } else if (step instanceof Shape.Collapse c) {
      stages.add(() -> collapse(c.module()));
    } else if (step instanceof Shape.FoldRuntimes) {
      RuntimeFrames frames = new RuntimeFrames(functions);
      forgets.add(frames::forget);
      stages.add(
          () -> {
            size = frames.fold(of, origin, size);
            return true;
          });
    }
  }

  private void add(Known known, BooleanSupplier stage) {
    forgets.add(known::forget);
    stages.add(stage);
  }

  private Known one(Function wanted) {
    return new Known() {
      @Override
      boolean ask(int function) {
        return functions.is(function, wanted);
      }
    };
  }

  /**
   * Whether the shaped outer frames of a stack are always the beginning of the shaped whole stack.
   */
  public boolean keepsOrder() {
    return keepsOrder;
  }

  /** Numbers of functions may mean others from now on. */
  public void forget() {
    forgets.forEach(Runnable::run);
  }

  /**
   * Shapes the frames of a path, which is outermost first.
   *
   * @param from index of the first frame; what is before stays
   * @param origins takes for each frame that is there now which of the given ones it is, counted
   *     from {@code from}; -1 if it stands for several
   * @return false if the stack does not belong in the graph; the path stays as it was then
   */
  public boolean shape(IntColumn path, int from, IntColumn origins) {
    size = path.size - from;
    if (size > of.length) {
      of = new int[2 * size];
      origin = new int[2 * size];
    }
    System.arraycopy(path.items, from, of, 0, size);
    for (int i = 0; i < size; i++) {
      origin[i] = i;
    }
    for (BooleanSupplier stage : stages) {
      if (!stage.getAsBoolean()) {
        return false;
      }
    }
    path.size = from;
    origins.clear();
    for (int i = 0; i < size; i++) {
      path.add(of[i]);
      origins.add(origin[i]);
    }
    return true;
  }

  private boolean reverse() {
    for (int i = 0, j = size - 1; i < j; i++, j--) {
      swap(of, i, j);
      swap(origin, i, j);
    }
    return true;
  }

  private static void swap(int[] items, int i, int j) {
    int item = items[i];
    items[i] = items[j];
    items[j] = item;
  }

  /** Index of the first frame of which something is true; -1 if there is none. */
  private int first(Known known) {
    for (int i = 0; i < size; i++) {
      if (known.test(of[i])) {
        return i;
      }
    }
    return -1;
  }

  private boolean upTo(int first) {
    size = first + 1;
    return reverse() && size > 0;
  }

  private boolean from(int first) {
    if (first < 0) {
      return false;
    }
    size -= first;
    System.arraycopy(of, first, of, 0, size);
    System.arraycopy(origin, first, origin, 0, size);
    return true;
  }

  private boolean collapse(String module) {
    int kept = 0;
    boolean within = false;
    for (int i = 0; i < size; i++) {
      boolean its = functions.module(of[i]).equals(module);
      if (!its) {
        of[kept] = of[i];
        origin[kept++] = origin[i];
      } else if (within) {
        origin[kept - 1] = -1;
      } else {
        NodeKind kind = functions.kind(of[i]);
        of[kept] =
            functions.function(
                kind == NodeKind.UNKNOWN ? NodeKind.USER : kind, module, Shape.collapsed(module));
        origin[kept++] = -1;
      }
      within = its;
    }
    size = kept;
    return true;
  }

  private boolean merge() {
    if (place.length < functions.functions()) {
      place = new int[2 * functions.functions()];
    }
    int kept = 0;
    for (int i = 0; i < size; i++) {
      int function = of[i];
      int at = place[function] - 1;
      if (at < 0) {
        of[kept] = function;
        origin[kept] = origin[i];
        place[function] = ++kept;
      } else {
        for (; kept > at + 1; kept--) {
          place[of[kept - 1]] = 0;
        }
        origin[at] = origin[i];
      }
    }
    for (int i = 0; i < kept; i++) {
      place[of[i]] = 0;
    }
    size = kept;
    return true;
  }
}

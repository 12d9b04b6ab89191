package flametop.profile.tree;

import flametop.array.IntColumn;
import flametop.profile.answer.Function;
import flametop.profile.answer.NodeKind;
import flametop.profile.answer.Shape;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Applies a {@link Shape} to the frames of a stack. A shaper knows nothing of the owners of time,
 * nor of the folding of paths.
 */
public final class Shaper {
  /** One step; works on {@link #of} and {@link #origin}. False: the stack does not belong there. */
  private interface Stage {
    boolean apply();

    /** Numbers of functions may mean others from now on. */
    default void forget() {}
  }

  private final Functions functions;
  private final List<Stage> stages = new ArrayList<>();
  private final boolean keepsOrder;

  private int size;
  private int[] of = new int[64];
  private int[] origin = new int[64];

  public Shaper(Shape shape, Functions functions) {
    this.functions = functions;
    for (Shape.Step step : shape.steps()) {
      Stage stage = stage(step);
      if (stage != null) {
        stages.add(stage);
      }
    }
    boolean keeps = !shape.reversed();
    for (Shape.Step step : shape.steps()) {
      keeps &= !(step instanceof Shape.Callers);
    }
    keepsOrder = keeps;
    if (shape.reversed()) {
      stages.add(this::reverse);
    }
  }

  /** The stage of a step; null of a step that leaves stacks as they are. */
  private @Nullable Stage stage(Shape.Step step) {
    if (step instanceof Shape.Matching m) {
      return new Matching(Pattern.compile(m.regex(), m.flags()), m.out());
    } else if (step instanceof Shape.Through t) {
      One one = new One(t.function());
      return stage(one, () -> one.first() >= 0 != t.out());
    } else if (step instanceof Shape.Callers c) {
      One one = new One(c.function());
      return stage(
          one,
          () -> {
            size = one.first() + 1;
            return reverse() && size > 0;
          });
    } else if (step instanceof Shape.Callees c) {
      One one = new One(c.function());
      return stage(one, () -> from(one.first()));
    } else if (step instanceof Shape.Merge) {
      return new Merge();
    } else if (step instanceof Shape.Collapse c) {
      return () -> collapse(c.module());
    } else if (step instanceof Shape.FoldRuntimes) {
      return new Folding();
    }
    return null;
  }

  private interface Act {
    boolean apply();
  }

  private static Stage stage(One one, Act act) {
    return new Stage() {
      @Override
      public boolean apply() {
        return act.apply();
      }

      @Override
      public void forget() {
        one.forget();
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
    stages.forEach(Stage::forget);
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
    for (Stage stage : stages) {
      if (!stage.apply()) {
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

  /** Whether a function has this name; known by its number once it was asked for. */
  private final class One {
    private static final byte IS = 1;
    private static final byte IS_NOT = 2;

    private final Function wanted;
    private byte[] known = new byte[0];

    One(Function wanted) {
      this.wanted = wanted;
    }

    void forget() {
      Arrays.fill(known, (byte) 0);
    }

    /** Index of the first frame that is it; -1 if none is. */
    int first() {
      for (int i = 0; i < size; i++) {
        if (is(of[i])) {
          return i;
        }
      }
      return -1;
    }

    private boolean is(int function) {
      if (function >= known.length) {
        known = Arrays.copyOf(known, 2 * functions.functions());
      }
      if (known[function] == 0) {
        boolean same =
            functions.kind(function) == wanted.kind()
                && functions.name(function).equals(wanted.name())
                && functions.module(function).equals(wanted.module());
        known[function] = same ? IS : IS_NOT;
      }
      return known[function] == IS;
    }
  }

  private final class Matching implements Stage {
    private final Pattern pattern;
    private final boolean out;
    private final Matches matches = new Matches();

    Matching(Pattern pattern, boolean out) {
      this.pattern = pattern;
      this.out = out;
    }

    @Override
    public boolean apply() {
      matches.use(pattern, functions.functions());
      for (int i = 0; i < size; i++) {
        if (matches.matches(functions, of[i])) {
          return !out;
        }
      }
      return out;
    }

    @Override
    public void forget() {
      matches.forget();
    }
  }

  private final class Folding implements Stage {
    private final RuntimeFrames frames = new RuntimeFrames(functions);

    @Override
    public boolean apply() {
      size = frames.fold(of, origin, size);
      return true;
    }

    @Override
    public void forget() {
      frames.forget();
    }
  }

  private final class Merge implements Stage {
    /** The index of each function plus 1. */
    private int[] place = new int[0];

    @Override
    public boolean apply() {
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
}

package flametop.view.state;

import flametop.profile.answer.Shape;
import flametop.view.base.StepText;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The chosen shape, and the shapes that undo and redo lead to. Immutable.
 *
 * @param base the shape of the command line
 * @param now the chosen shape
 * @param before shapes before this one, the latest last
 * @param after undone shapes, the latest last
 */
public record Shaping(Shape base, Shape now, List<Shape> before, List<Shape> after) {
  private static final int MOST = 100;

  public static Shaping of(Shape base) {
    return new Shaping(base, base, List.of(), List.of());
  }

  /** The same after another shape was chosen. */
  Shaping to(Shape shape) {
    return shape.equals(now) ? this : new Shaping(base, shape, with(before, now), List.of());
  }

  /** The same after an undo; null if there is nothing to undo. */
  public @Nullable Shaping undone() {
    return before.isEmpty()
        ? null
        : new Shaping(base, last(before), withoutLast(before), with(after, now));
  }

  /** The same after a redo; null if nothing was undone. */
  public @Nullable Shaping redone() {
    return after.isEmpty()
        ? null
        : new Shaping(base, last(after), with(before, now), withoutLast(after));
  }

  /** The change from one shape to another, in words. */
  public static String change(Shape from, Shape to) {
    String more = added(from, to);
    String less = added(to, from);
    return more != null ? more : less != null ? "no longer " + less : "another order";
  }

  /** The last step of a shape that another one lacks; null for none. */
  private static @Nullable String added(Shape from, Shape to) {
    for (int i = to.steps().size() - 1; i >= 0; i--) {
      if (!from.steps().contains(to.steps().get(i))) {
        return StepText.of(to.steps().get(i), StepText.IN_WORDS);
      }
    }
    return null;
  }

  private static Shape last(List<Shape> shapes) {
    return shapes.get(shapes.size() - 1);
  }

  private static List<Shape> withoutLast(List<Shape> shapes) {
    return List.copyOf(shapes.subList(0, shapes.size() - 1));
  }

  private static List<Shape> with(List<Shape> shapes, Shape shape) {
    List<Shape> more = new ArrayList<>(shapes);
    more.add(shape);
    return List.copyOf(more.size() > MOST ? more.subList(1, more.size()) : more);
  }
}

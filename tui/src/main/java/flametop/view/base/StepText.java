package flametop.view.base;

import flametop.profile.answer.Shape;

/** Words for the steps of a shape. */
public final class StepText {
  /** Cells for the name of a function in a sentence. */
  public static final int IN_WORDS = 48;

  private StepText() {}

  /**
   * Words for one step.
   *
   * @param room cells for the name of a function or the text of a search
   */
  public static String of(Shape.Step step, int room) {
    String text = step.text();
    if (step instanceof Shape.Through t) {
      String name = t.function().name();
      return (t.out() ? "not " : "") + TextWidth.cut(ShortName.form(name, room), room);
    }
    if (step instanceof Shape.Cgroups c && c.paths().size() == 1) {
      String path = c.paths().iterator().next();
      String sign = (c.out() ? "not " : "") + "cgroup ";
      return sign + TextWidth.cut(CgroupName.ofPath(path, room), room);
    }
    return TextWidth.cut(text, room + 4);
  }
}

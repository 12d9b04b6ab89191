package flametop.view.base;

import flametop.profile.answer.Shape;

/** Words for the steps of a shape. */
public final class StepText {
  /** Cells for the name of a function in a sentence. */
  public static final int IN_WORDS = 48;

  private static final String LEFT_OUT = "…";

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
      return (t.out() ? "not " : "") + cut(ShortName.form(name, room), room);
    }
    if (step instanceof Shape.Cgroups c && c.paths().size() == 1) {
      String path = c.paths().iterator().next();
      String sign = (c.out() ? "not " : "") + "cgroup ";
      return sign + cut(CgroupName.ofPath(path, room), room);
    }
    return cut(text, room + 4);
  }

  private static String cut(String text, int room) {
    if (!TextWidth.exceeds(text, room)) {
      return text;
    }
    int end = 0;
    while (!TextWidth.exceeds(text.substring(0, text.offsetByCodePoints(end, 1)), room - 1)) {
      end = text.offsetByCodePoints(end, 1);
    }
    return text.substring(0, end) + LEFT_OUT;
  }
}

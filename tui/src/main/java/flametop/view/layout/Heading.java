package flametop.view.layout;

import java.util.List;

/**
 * The lines above a table, each with a row of its own: reasons for missing figures, notices, the
 * breadcrumb, the title. A low window has no title.
 */
public final class Heading {
  private static final int LOW = 14;

  /** Reasons for figures that are missing in the table, a line each from the second row on. */
  public final List<String> missing;

  /** Row of the notices; -1 if there are none. */
  public final int notice;

  /** Row of the breadcrumb; -1 if there is none. */
  public final int crumb;

  /** Row of the title; -1 if there is none. */
  public final int title;

  /** The row below the heading. */
  public final int end;

  private Heading(Scene scene, int top, List<String> missing) {
    this.missing = missing;
    int y = top + missing.size();
    notice = scene.notices().isEmpty() ? -1 : y++;
    crumb = scene.state.hasCrumbs() ? y++ : -1;
    title = scene.rows < LOW ? -1 : y++;
    end = y;
  }

  /** The heading from a row on. */
  public static Heading of(Scene scene, int top) {
    return new Heading(scene, top, List.of());
  }

  /** The heading of a table that fills the view, with reasons for missing figures. */
  public static Heading of(Scene scene, List<String> missing) {
    return new Heading(scene, 1, missing);
  }
}

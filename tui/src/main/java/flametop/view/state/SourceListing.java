package flametop.view.state;

import java.util.List;

/**
 * The sources of events whose specs contain a text.
 *
 * @param text that was asked for; empty: all
 * @param rows the first of them, at most {@link #MOST}
 * @param all how many there are
 * @param trouble why there is no list: the text is no pattern; else empty
 */
public record SourceListing(String text, List<Row> rows, long all, String trouble) {
  /** The most rows: more than anybody scrolls through. */
  public static final int MOST = 200;

  /**
   * A source that can be switched on, or that this machine lacks.
   *
   * @param spec by which it is asked for
   * @param details its arguments or fields, or what it counts
   * @param missing why it cannot be had, and what mends that; empty: it can
   */
  public record Row(String spec, String details, String missing) {}

  public SourceListing {
    rows = List.copyOf(rows);
  }
}

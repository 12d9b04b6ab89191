package flametop.profile.answer;

import org.jspecify.annotations.Nullable;

/**
 * Another file beside the one that is shown. What is zoomed and selected in it are the nodes with
 * the paths that were asked for, or with as much of them as it has.
 *
 * @param own what was asked for beside the graph, of the file that is shown; null if nothing was
 * @param snapshot of the other file
 * @param page like {@code own}, of the other file
 */
public record SplitAnswer(@Nullable Page own, Snapshot snapshot, @Nullable Page page)
    implements Page {
  /**
   * Asks for the answer of a file: what another file shows of the same place.
   *
   * @param file number of the other, from 1
   * @param shape that it is to have
   * @param graph what it is to show; its nodes may be those of another file
   * @param page what the view shows beside the graph, of both files; null if nothing
   */
  public record Query(int file, Shape shape, GraphQuery graph, @Nullable PageQuery page)
      implements PageQuery {
    @Override
    public boolean isAnsweredBy(@Nullable Page answer) {
      return answer instanceof SplitAnswer two && (page == null || page.isAnsweredBy(two.own()));
    }
  }

  /**
   * The same with the other file as the one that is shown.
   *
   * @param shown snapshot of the file that was
   */
  public SplitAnswer crossed(Snapshot shown) {
    return new SplitAnswer(/* own= */ page, shown, /* page= */ own);
  }
}

package flametop.profile.answer;

import org.jspecify.annotations.Nullable;

/**
 * Asks for the {@link SplitAnswer} of a file: what another file shows of the same place.
 *
 * @param file number of the other, from 1
 * @param shape that it is to have
 * @param graph what it is to show; its nodes may be those of another file
 * @param page what the view shows beside the graph, of both files; null if nothing
 */
public record SplitQuery(int file, Shape shape, GraphQuery graph, @Nullable PageQuery page)
    implements PageQuery {
  @Override
  public boolean isAnsweredBy(@Nullable Page answer) {
    return answer instanceof SplitAnswer two && (page == null || page.isAnsweredBy(two.own()));
  }
}

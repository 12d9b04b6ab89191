package flametop.view.paint;

import flametop.profile.answer.Measure;
import flametop.view.base.CellGrid;
import flametop.view.base.Paint;
import flametop.view.base.Role;
import flametop.view.base.TextWidth;
import flametop.view.layout.ListBox;
import flametop.view.layout.Scene;
import flametop.view.state.SourceList;
import flametop.view.state.SourceListing;

/** Paints the list of sources of events that can be added over the view. */
public final class SourceListPainter {
  private static final String LABEL = "add a source";

  private SourceListPainter() {}

  public static void paint(Scene scene, SourceList list, CellGrid grid) {
    ListBox box = ListBox.ofSources(scene, list);
    ListPainter.paint(box, grid, LABEL, list.prompt()).atTheEnd(count(list), Paint.DIM);
    below(scene, grid, box, list);
    for (int entry = box.first(); entry < box.end(); entry++) {
      boolean marked = entry == list.index();
      Words words = ListPainter.entry(box, grid, entry, marked);
      if (entry == 0) {
        String text = list.typed().isEmpty() ? "what is typed above" : "as typed: " + list.typed();
        words.write(text, marked ? Paint.INK : Paint.DIM);
      } else {
        row(words, list.rows().get(entry - 1), marked);
      }
    }
  }

  private static String count(SourceList list) {
    SourceListing listing = list.listing();
    if (listing == null || list.wanted() != null && !list.wanted().equals(listing.text())) {
      return "listing…";
    }
    if (!listing.trouble().isEmpty()) {
      return "no list: " + listing.trouble();
    }
    int shown = listing.rows().size();
    String all = Measure.grouped(listing.all());
    return shown < listing.all()
        ? "the first " + shown + " of " + all
        : all + (listing.all() == 1 ? " source" : " sources");
  }

  /** Paints what is below the spec: why it cannot be had, under the character that is meant. */
  private static void below(Scene scene, CellGrid grid, ListBox box, SourceList list) {
    int y = box.top + 1;
    boolean refused = !list.trouble().isEmpty();
    int fg = refused ? Paint.of(Role.WORSE) : Paint.DIM;
    if (list.isAtColumn()) {
      String before = list.typed().substring(0, list.prompt().cursor());
      int x = box.x + 1 + TextWidth.of(LABEL) + 1 + TextWidth.of(before);
      if (x < box.x + box.width - 1) {
        grid.put(x, y, '▲', fg, ListPainter.BACKGROUND, CellGrid.BOLD);
      }
      y++;
    }
    for (String line : ListBox.about(scene, list)) {
      ListPainter.words(box, grid, y++, ListPainter.BACKGROUND).write(line, fg);
    }
  }

  private static void row(Words words, SourceListing.Row row, boolean marked) {
    boolean missing = !row.missing().isEmpty();
    int name = marked ? Paint.INK : missing ? Paint.DIM : Paint.TEXT;
    int quiet = Paint.of(marked ? Role.INK : missing ? Role.WORSE : Role.DIM);
    words.write(row.spec(), name, CellGrid.BOLD).skip(2);
    words.write(missing ? row.missing() : row.details(), quiet);
  }
}

package flametop.view.layout;

import flametop.profile.answer.Shape;
import flametop.view.base.Role;
import flametop.view.base.StepText;
import flametop.view.base.TextWidth;
import flametop.view.base.View;
import flametop.view.base.Zone;
import flametop.view.state.ViewState;
import java.util.ArrayList;
import java.util.List;

/**
 * The steps by which the graph got its shape, in one line. In a narrow line names of functions are
 * shortened first, then the first steps are left out.
 *
 * @param end the column behind the line
 * @param pieces words at their places
 * @param zones indexes of steps at the places where a click goes back to them
 */
public record Breadcrumb(int end, List<Zone<Piece>> pieces, List<Zone<Integer>> zones) {
  /** Cells for the name of a function, from much room to little. */
  private static final int[] NAMES = {80, 48, 32, 24};

  private static final String BETWEEN = " › ";
  private static final String LEFT_OUT = "…";

  /** The first column of the line. */
  private static final int LEFT = 2;

  /** No step of the shape. */
  private static final int NONE = -1;

  /**
   * A word of the line.
   *
   * @param step of the shape; {@link #NONE} for a word that is no step
   */
  private record Word(String text, int step) {}

  /** The line in a row of the screen. */
  public static Breadcrumb of(Scene scene, int row) {
    ViewState s = scene.state;
    int room = scene.columns - 4;
    int end = LEFT + room;
    List<Zone<Piece>> pieces = new ArrayList<>();
    List<Zone<Integer>> zones = new ArrayList<>();
    String title = title(s);
    int x = LEFT;
    if (!title.isEmpty()) {
      x += add(pieces, x, row, end, title, Role.TEXT);
    }
    for (Word word : words(s, room)) {
      if (x > LEFT) {
        x += add(pieces, x, row, end, BETWEEN, Role.DIM);
      }
      int width = add(pieces, x, row, end, word.text, word.step == NONE ? Role.DIM : Role.ACCENT);
      if (word.step != NONE) {
        zones.add(Zone.line(x, row, width, word.step));
      }
      x += width;
    }
    return new Breadcrumb(x, pieces, zones);
  }

  private static int add(
      List<Zone<Piece>> pieces, int x, int row, int end, String text, Role role) {
    int width = Math.min(Math.max(0, end - x), TextWidth.of(text));
    pieces.add(Zone.line(x, row, width, new Piece(text, role, role != Role.DIM, null)));
    return width;
  }

  /** The words that fit into so many cells. */
  private static List<Word> words(ViewState s, int room) {
    List<Word> words = List.of();
    for (int name : NAMES) {
      words = words(s.chosenShape(), name);
      if (width(s, words) <= room) {
        return words;
      }
    }
    List<Word> last = words;
    for (int from = 1; from < words.size() && width(s, last) > room; from++) {
      last = new ArrayList<>(words.subList(from, words.size()));
      last.add(0, new Word(LEFT_OUT, NONE));
    }
    return last;
  }

  private static List<Word> words(Shape shape, int name) {
    List<Word> words = new ArrayList<>();
    for (int i = 0; i < shape.steps().size(); i++) {
      words.add(new Word(StepText.of(shape.steps().get(i), name), i));
    }
    return words;
  }

  private static int width(ViewState s, List<Word> words) {
    int width = TextWidth.of(title(s));
    for (Word word : words) {
      width += (width > 0 ? BETWEEN.length() : 0) + TextWidth.of(word.text);
    }
    return width;
  }

  private static String title(ViewState s) {
    return s.view() == View.CALLERS ? "callers" : "";
  }
}

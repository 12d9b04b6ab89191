package flametop.view.layout;

import flametop.view.base.Action;
import flametop.view.base.Role;
import flametop.view.base.TextWidth;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Words on the screen; a click on them does {@code action}, or nothing if it is null. */
public record Piece(String text, Role role, boolean bold, @Nullable Action action) {
  public static Piece of(String text, Role role) {
    return of(text, role, null);
  }

  static Piece of(String text, Role role, @Nullable Action action) {
    return new Piece(text, role, false, action);
  }

  /** Cells of all pieces. */
  public static int width(List<Piece> pieces) {
    int sum = 0;
    for (Piece p : pieces) {
      sum += TextWidth.of(p.text());
    }
    return sum;
  }
}

package flametop.view.base;

/**
 * One event of the left button or the wheel of the mouse.
 *
 * @param x column of the screen, from 0
 * @param y row of the screen, from 0
 */
public record Mouse(Kind kind, int x, int y) {
  public enum Kind {
    PRESS,
    /** The second of two quick presses at one cell. The first press came as {@link #PRESS}. */
    DOUBLE,
    /** The mouse moved to another cell with the button down. */
    DRAG,
    RELEASE,
    WHEEL_UP,
    WHEEL_DOWN
  }

  /** The same event so many columns further to the right. */
  public Mouse movedBy(int columns) {
    return columns == 0 ? this : new Mouse(kind, x + columns, y);
  }

  public boolean isPress() {
    return kind == Kind.PRESS || kind == Kind.DOUBLE;
  }

  /** 1 if the wheel scrolls down, -1 if it scrolls up, 0 for an event of the button. */
  public int wheel() {
    return kind == Kind.WHEEL_DOWN ? 1 : kind == Kind.WHEEL_UP ? -1 : 0;
  }
}

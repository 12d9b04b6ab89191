package flametop.view.base;

/**
 * One event of the mouse; its left button, unless it is the wheel.
 *
 * @param x column of the screen, from 0
 * @param y row of the screen, from 0
 */
public record Mouse(Kind kind, int x, int y) {
  public enum Kind {
    PRESS,
    /** The second press in quick succession at the same cell; the first came as a press. */
    DOUBLE,
    /** Moved to another cell with the button down. */
    DRAG,
    RELEASE,
    WHEEL_UP,
    WHEEL_DOWN
  }

  /** The same as many columns to the right. */
  public Mouse movedBy(int columns) {
    return columns == 0 ? this : new Mouse(kind, x + columns, y);
  }

  public boolean isPress() {
    return kind == Kind.PRESS || kind == Kind.DOUBLE;
  }

  /** 1 towards the end of what is scrolled, -1 towards its beginning; 0 if it is not the wheel. */
  public int wheel() {
    return kind == Kind.WHEEL_DOWN ? 1 : kind == Kind.WHEEL_UP ? -1 : 0;
  }
}

package flametop.term.device;

import com.googlecode.lanterna.TerminalPosition;
import com.googlecode.lanterna.input.MouseAction;
import flametop.view.base.Mouse;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Turns mouse actions of Lanterna into events of the view, and finds double clicks. */
final class MouseStrokes {
  /** The longest pause between two clicks of a double click. */
  private static final long DOUBLE_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  private static final int LEFT = 1;

  /** The place of the last press that may become a double click; null if there is none. */
  private @Nullable TerminalPosition pressed;

  private long pressedNanos;

  /**
   * The view's event.
   *
   * @param nanos when the event came, of a clock that only goes forward
   * @return null for an event that the screen has no use for
   */
  @Nullable Mouse toMouse(MouseAction action, long nanos) {
    return switch (action.getActionType()) {
      case SCROLL_UP -> at(Mouse.Kind.WHEEL_UP, action);
      case SCROLL_DOWN -> at(Mouse.Kind.WHEEL_DOWN, action);
      case CLICK_DOWN -> action.getButton() == LEFT ? press(action, nanos) : null;
      case DRAG -> action.getButton() == LEFT ? at(Mouse.Kind.DRAG, action) : null;
      case CLICK_RELEASE -> action.getButton() == LEFT ? at(Mouse.Kind.RELEASE, action) : null;
      case MOVE -> null;
    };
  }

  private Mouse press(MouseAction action, long nanos) {
    boolean second = action.getPosition().equals(pressed) && nanos - pressedNanos <= DOUBLE_NANOS;
    // A third press is a first one again.
    pressed = second ? null : action.getPosition();
    pressedNanos = nanos;
    return at(second ? Mouse.Kind.DOUBLE : Mouse.Kind.PRESS, action);
  }

  private static Mouse at(Mouse.Kind kind, MouseAction action) {
    return new Mouse(kind, action.getPosition().getColumn(), action.getPosition().getRow());
  }
}

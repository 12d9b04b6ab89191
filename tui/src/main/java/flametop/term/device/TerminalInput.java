package flametop.term.device;

import com.googlecode.lanterna.input.KeyStroke;
import com.googlecode.lanterna.input.KeyType;
import com.googlecode.lanterna.input.MouseAction;
import flametop.view.base.Key;
import flametop.view.base.Mouse;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The input of the terminal, sorted: keys, pasted text, the mouse, and answers for {@link Echo}.
 * For one thread.
 */
public final class TerminalInput {
  /** Takes the input of the user, in order. */
  public interface Listener {
    /**
     * @param inText whether the key came amid other text, all at once
     */
    void pressed(Key key, boolean inText);

    void pasted(String text);

    void moved(Mouse mouse);

    /** The key that stops a job was pressed. */
    void suspended();

    /** The terminal is gone: no more input comes. */
    void gone();
  }

  /** A paste without an end ends with the first key after so long. */
  private static final long PASTE_NANOS = TimeUnit.SECONDS.toNanos(1);

  private static final int MAX_PASTE = 4_096;

  private final FlameTerminal terminal;
  private final LingeringInput bytes;
  private final Echo echo;
  private final MouseStrokes mouse = new MouseStrokes();

  /** The pasted text so far; null while nothing is pasted. */
  private @Nullable StringBuilder pasted;

  private long pastedAt;

  /**
   * @param bytes the bytes that the terminal reads
   */
  public TerminalInput(FlameTerminal terminal, LingeringInput bytes, Echo echo) {
    this.terminal = terminal;
    this.bytes = bytes;
    this.echo = echo;
  }

  /** Reads until the terminal is gone. */
  public void listen(Listener listener) {
    try {
      boolean there = true;
      while (there) {
        KeyStroke stroke = terminal.readInput();
        there = take(stroke, System.nanoTime(), listener);
      }
    } catch (IOException | RuntimeException e) {
      listener.gone();
    }
  }

  /**
   * Takes one stroke.
   *
   * @param nanos the time of its arrival, of a clock that only goes forward
   * @return false when the terminal is gone
   */
  @SuppressWarnings("ReferenceEquality") // each report is one stroke
  boolean take(KeyStroke stroke, long nanos, Listener listener) {
    if (stroke == FlameTerminal.STATUS) {
      echo.answered(nanos);
      return true;
    }
    if (stroke == UnknownPattern.STROKE) {
      return true;
    }
    boolean ends = stroke == FlameTerminal.PASTE_END || stroke.getKeyType() == KeyType.EOF;
    if (pasted != null) {
      boolean lost = nanos - pastedAt > PASTE_NANOS;
      pastedAt = nanos;
      if (lost || ends || stroke == FlameTerminal.PASTE_BEGIN) {
        listener.pasted(pasted.toString());
        pasted = null;
      } else {
        if (pasted.length() < MAX_PASTE) {
          KeyStrokes.append(stroke, pasted);
        }
        return true;
      }
    }
    if (stroke == FlameTerminal.PASTE_BEGIN) {
      pasted = new StringBuilder();
      pastedAt = nanos;
    } else if (stroke.getKeyType() == KeyType.EOF) {
      listener.gone();
      return false;
    } else if (stroke instanceof MouseAction action) {
      Mouse moved = mouse.toMouse(action, nanos);
      if (moved != null) {
        listener.moved(moved);
      }
    } else if (KeyStrokes.isSuspend(stroke)) {
      listener.suspended();
    } else if (!ends) {
      boolean inText = bytes.isText();
      for (Key key : KeyStrokes.toKeys(stroke)) {
        listener.pressed(key, inText);
      }
    }
    return true;
  }
}

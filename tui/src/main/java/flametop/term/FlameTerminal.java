package flametop.term;

import com.googlecode.lanterna.TerminalSize;
import com.googlecode.lanterna.terminal.ansi.ANSITerminal;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;

/**
 * Lanterna's terminal over our streams: knows its size from the device, and writes text as whole
 * UTF-8 sequences.
 */
final class FlameTerminal extends ANSITerminal {
  private TerminalSize size;

  /** Null: not known. */
  private Boolean cursorVisible;

  FlameTerminal(InputStream input, FrameStream output, TerminalSize size) {
    super(input, output, StandardCharsets.UTF_8);
    this.size = size;
  }

  /**
   * Takes over a new size; Lanterna's listeners hear of it at the next {@link #getTerminalSize}.
   */
  synchronized void resized(TerminalSize now) {
    size = now;
  }

  @Override
  protected synchronized TerminalSize findTerminalSize() {
    return size;
  }

  /** Lanterna hides the cursor with every picture: a picture without a change would write. */
  @Override
  public synchronized void setCursorVisible(boolean visible) throws IOException {
    if (cursorVisible == null || cursorVisible != visible) {
      cursorVisible = visible;
      super.setCursorVisible(visible);
    }
  }

  /**
   * Lanterna's own splits what is outside of the basic plane into halves. Nothing painted is a
   * control character.
   */
  @Override
  public void putString(String string) throws IOException {
    writeToTerminal(string.getBytes(StandardCharsets.UTF_8));
  }
}

package flametop.term;

import com.googlecode.lanterna.TerminalSize;
import com.googlecode.lanterna.terminal.ansi.ANSITerminal;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;

/** Lanterna's terminal over our streams: knows its size from the device. */
final class FlameTerminal extends ANSITerminal {
  private TerminalSize size;

  FlameTerminal(InputStream input, FrameStream output, TerminalSize size) {
    super(input, output, StandardCharsets.UTF_8);
    getInputDecoder().addProfile(() -> List.of(new MousePattern()));
    this.size = size;
  }

  /** Takes over a new size. */
  synchronized void resized(TerminalSize now) {
    size = now;
  }

  @Override
  protected synchronized TerminalSize findTerminalSize() {
    return size;
  }

  /** Has the mouse reported, also while a button is down; or no more. */
  void mouse(boolean on) throws IOException {
    String modes = on ? "\033[?1000h\033[?1002h\033[?1006h" : "\033[?1006l\033[?1002l\033[?1000l";
    writeToTerminal(modes.getBytes(StandardCharsets.US_ASCII));
    flush();
  }

  /** Puts bytes into the clipboard of the terminal, if it lets programs do that. */
  void copy(byte[] text) throws IOException {
    // Ended by BEL: what the Linux console skips.
    String sequence = "\033]52;c;" + Base64.getEncoder().encodeToString(text) + "\007";
    writeToTerminal(sequence.getBytes(StandardCharsets.US_ASCII));
    flush();
  }
}

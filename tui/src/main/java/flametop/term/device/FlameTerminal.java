package flametop.term.device;

import com.googlecode.lanterna.TerminalSize;
import com.googlecode.lanterna.input.DefaultKeyDecodingProfile;
import com.googlecode.lanterna.input.InputDecoder;
import com.googlecode.lanterna.terminal.ansi.ANSITerminal;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;

/** Lanterna's terminal over our streams: knows its size from the device. */
public final class FlameTerminal extends ANSITerminal {
  private TerminalSize size;

  public FlameTerminal(InputStream input, FrameStream output, TerminalSize size) {
    super(input, output, StandardCharsets.UTF_8);
    // Of two that match, the one that was added later holds.
    InputDecoder decoder = getInputDecoder();
    decoder.addProfile(() -> List.of(new UnknownPattern()));
    decoder.addProfile(new DefaultKeyDecodingProfile());
    decoder.addProfile(() -> List.of(new MousePattern(), new ReportPattern()));
    this.size = size;
  }

  /** Takes over a new size. */
  public synchronized void resized(TerminalSize now) {
    size = now;
  }

  @Override
  protected synchronized TerminalSize findTerminalSize() {
    return size;
  }

  /** Nothing: what was written is sent as one, by who knows where it ends. */
  @Override
  public void flush() {}

  /** Has the mouse reported, also while a button is down; or no more. */
  public void mouse(boolean on) throws IOException {
    String modes = on ? "\033[?1000h\033[?1002h\033[?1006h" : "\033[?1006l\033[?1002l\033[?1000l";
    writeToTerminal(modes.getBytes(StandardCharsets.US_ASCII));
  }

  /** Has pasted text marked as such; or no more. */
  public void marksPastes(boolean on) throws IOException {
    writeToTerminal((on ? "\033[?2004h" : "\033[?2004l").getBytes(StandardCharsets.US_ASCII));
  }

  /** Asks for its status, behind all that was written. */
  public void ask() throws IOException {
    writeToTerminal(Echo.QUESTION.getBytes(StandardCharsets.US_ASCII));
  }

  /** Puts bytes into the clipboard of the terminal, if it lets programs do that. */
  public void copy(byte[] text) throws IOException {
    // Ended by BEL: what the Linux console skips.
    String sequence = "\033]52;c;" + Base64.getEncoder().encodeToString(text) + "\007";
    writeToTerminal(sequence.getBytes(StandardCharsets.US_ASCII));
  }
}

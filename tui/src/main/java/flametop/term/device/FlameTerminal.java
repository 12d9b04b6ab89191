package flametop.term.device;

import com.googlecode.lanterna.TerminalSize;
import com.googlecode.lanterna.input.BasicCharacterPattern;
import com.googlecode.lanterna.input.CharacterPattern;
import com.googlecode.lanterna.input.DefaultKeyDecodingProfile;
import com.googlecode.lanterna.input.InputDecoder;
import com.googlecode.lanterna.input.KeyStroke;
import com.googlecode.lanterna.input.KeyType;
import com.googlecode.lanterna.terminal.ansi.ANSITerminal;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;

/** Lanterna's terminal over our streams, with its size from the device. */
public final class FlameTerminal extends ANSITerminal {
  /** The answer to a request of status. */
  static final KeyStroke STATUS = new KeyStroke(KeyType.Unknown);

  /** Begins pasted text. */
  static final KeyStroke PASTE_BEGIN = new KeyStroke(KeyType.Unknown);

  /** Ends pasted text. */
  static final KeyStroke PASTE_END = new KeyStroke(KeyType.Unknown);

  private TerminalSize size;

  public FlameTerminal(InputStream input, FrameStream output, TerminalSize size) {
    super(input, output, StandardCharsets.UTF_8);
    // Of two matching patterns, the later one wins.
    InputDecoder decoder = getInputDecoder();
    decoder.addProfile(() -> List.of(new UnknownPattern()));
    decoder.addProfile(new DefaultKeyDecodingProfile());
    decoder.addProfile(
        () ->
            List.of(
                new MousePattern(),
                report("\033[0n", STATUS),
                report("\033[200~", PASTE_BEGIN),
                report("\033[201~", PASTE_END)));
    this.size = size;
  }

  private static CharacterPattern report(String sequence, KeyStroke stroke) {
    return new BasicCharacterPattern(stroke, sequence.toCharArray());
  }

  /** Takes over a new size. */
  public synchronized void resized(TerminalSize now) {
    size = now;
  }

  @Override
  protected synchronized TerminalSize findTerminalSize() {
    return size;
  }

  /** Does nothing: the writer of a picture knows its end, and sends it as one. */
  @Override
  public void flush() {}

  /** Switches reports of the mouse on, also with a button down; or off. */
  public void mouse(boolean on) throws IOException {
    String modes = on ? "\033[?1000h\033[?1002h\033[?1006h" : "\033[?1006l\033[?1002l\033[?1000l";
    writeToTerminal(modes.getBytes(StandardCharsets.US_ASCII));
  }

  /** Switches marks around pasted text on; or off. */
  public void marksPastes(boolean on) throws IOException {
    writeToTerminal((on ? "\033[?2004h" : "\033[?2004l").getBytes(StandardCharsets.US_ASCII));
  }

  /** Asks the terminal for its status, behind all written bytes. */
  public void ask() throws IOException {
    writeToTerminal(Echo.QUESTION.getBytes(StandardCharsets.US_ASCII));
  }

  /** Puts bytes into the clipboard of the terminal, if the terminal lets programs do that. */
  public void copy(byte[] text) throws IOException {
    // BEL ends the sequence, so that the Linux console skips it.
    String sequence = "\033]52;c;" + Base64.getEncoder().encodeToString(text) + "\007";
    writeToTerminal(sequence.getBytes(StandardCharsets.US_ASCII));
  }
}

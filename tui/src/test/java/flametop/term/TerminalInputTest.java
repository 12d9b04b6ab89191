package flametop.term;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.googlecode.lanterna.TerminalSize;
import com.googlecode.lanterna.input.KeyStroke;
import com.googlecode.lanterna.input.KeyType;
import flametop.view.Key;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

class TerminalInputTest {
  private final PipedOutputStream keyboard = new PipedOutputStream();
  private final FlameTerminal terminal = terminal();

  private FlameTerminal terminal() {
    try {
      // Long enough for a loaded machine; what is tested is that the pieces are joined.
      LingeringInput input = new LingeringInput(new PipedInputStream(keyboard), 2_000);
      return new FlameTerminal(
          input, new FrameStream(new ByteArrayOutputStream()), new TerminalSize(80, 24));
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private void send(String... pieces) {
    Thread sender =
        new Thread(
            () -> {
              try {
                for (String piece : pieces) {
                  keyboard.write(piece.getBytes(StandardCharsets.UTF_8));
                  keyboard.flush();
                  Thread.sleep(15);
                }
              } catch (IOException | InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            });
    sender.setDaemon(true);
    sender.start();
  }

  private Key read() throws IOException {
    List<Key> keys = KeyStrokes.toKeys(terminal.readInput());
    assertEquals(1, keys.size());
    return keys.get(0);
  }

  @Test
  void read_splitArrow_isOneKey() throws Exception {
    send("\033", "[", "A", "x");
    assertEquals(Key.of(Key.Kind.UP), read());
    assertEquals(Key.of('x'), read());
  }

  @Test
  void read_splitPageDown_isOneKey() throws Exception {
    send("\033[", "6", "~", "\033", "OP");
    assertEquals(Key.of(Key.Kind.PAGE_DOWN), read());
    assertEquals(Key.function(1), read());
  }

  @Test
  void read_escapeAlone_isEscape() throws Exception {
    send("\033");
    assertEquals(Key.of(Key.Kind.ESCAPE), read());
  }

  @Test
  void read_escapeAndALetterAtOnce_areTwoKeys() throws Exception {
    send("\033/");
    assertEquals(
        List.of(Key.of(Key.Kind.ESCAPE), Key.of('/')), KeyStrokes.toKeys(terminal.readInput()));
  }

  @Test
  void read_controlKeys_areKnown() throws Exception {
    send("\003\014\025\032\177\n");
    assertEquals(Key.ctrl('c'), read());
    assertEquals(Key.ctrl('l'), read());
    assertEquals(Key.ctrl('u'), read());
    KeyStroke suspend = terminal.readInput();
    assertTrue(KeyStrokes.isSuspend(suspend));
    assertEquals(Key.of(Key.Kind.BACKSPACE), read());
    assertEquals(Key.of(Key.Kind.ENTER), read());
  }

  @Test
  void read_charactersOutsideOfAscii_areCharacters() throws Exception {
    send("é漢");
    assertEquals(Key.of('é'), read());
    assertEquals(Key.of('漢'), read());
  }

  @Test
  void read_terminalGone_isEndOfFile() throws Exception {
    keyboard.close();
    assertEquals(KeyType.EOF, terminal.readInput().getKeyType());
  }
}

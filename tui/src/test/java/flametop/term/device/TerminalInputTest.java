package flametop.term.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.googlecode.lanterna.TerminalSize;
import com.googlecode.lanterna.input.KeyStroke;
import com.googlecode.lanterna.input.KeyType;
import com.googlecode.lanterna.input.MouseAction;
import flametop.view.base.Key;
import flametop.view.base.Mouse;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

class TerminalInputTest {
  /** Types. The thread outlives each test, since a pipe is broken once its writer has ended. */
  private static final ExecutorService HAND =
      Executors.newSingleThreadExecutor(
          typing -> {
            Thread thread = new Thread(typing, "hand");
            thread.setDaemon(true);
            return thread;
          });

  private final PipedOutputStream keyboard = new PipedOutputStream();

  // Long enough for a loaded machine; what is tested is that the pieces are joined.
  private final LingeringInput bytes = new LingeringInput(pipe(keyboard), 2_000);
  private final FlameTerminal terminal =
      new FlameTerminal(
          bytes, new FrameStream(new ByteArrayOutputStream()), new TerminalSize(80, 24));
  private final Echo echo = new Echo();
  private final TerminalInput input = new TerminalInput(terminal, bytes, echo);
  private final Told told = new Told();

  /** What was told, a line each. */
  private static final class Told implements TerminalInput.Listener {
    private final List<String> lines = new ArrayList<>();

    @Override
    public void pressed(Key key, boolean inText) {
      lines.add(key.name() + (inText ? " in text" : ""));
    }

    @Override
    public void pasted(String text) {
      lines.add("pasted " + text);
    }

    @Override
    public void moved(Mouse mouse) {
      lines.add(mouse.kind() + " " + mouse.x() + " " + mouse.y());
    }

    @Override
    public void suspended() {
      lines.add("suspended");
    }

    @Override
    public void gone() {
      lines.add("gone");
    }
  }

  private static PipedInputStream pipe(PipedOutputStream from) {
    try {
      return new PipedInputStream(from);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  /** What is told of so many strokes, all of which came then. */
  private List<String> take(int strokes, long nanos) throws IOException {
    told.lines.clear();
    for (int i = 0; i < strokes; i++) {
      assertTrue(input.take(terminal.readInput(), nanos, told));
    }
    return told.lines;
  }

  private void send(String... pieces) {
    Future<?> unused =
        HAND.submit(
            () -> {
              for (String piece : pieces) {
                keyboard.write(piece.getBytes(StandardCharsets.UTF_8));
                keyboard.flush();
                Thread.sleep(15);
              }
              return null;
            });
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

  private Mouse readMouse(MouseStrokes strokes, long nanos) throws IOException {
    return strokes.toMouse((MouseAction) terminal.readInput(), nanos);
  }

  @Test
  void read_mouse_isWhatWasDoneAndWhere() throws Exception {
    MouseStrokes strokes = new MouseStrokes();
    send("\033[<0;301;4M\033[<32;302;4M\033[<0;302;4m\033[<64;1;1M\033[<65;1;1M\033[<2;1;1Mx");
    assertEquals(new Mouse(Mouse.Kind.PRESS, 300, 3), readMouse(strokes, 0));
    assertEquals(new Mouse(Mouse.Kind.DRAG, 301, 3), readMouse(strokes, 0));
    assertEquals(new Mouse(Mouse.Kind.RELEASE, 301, 3), readMouse(strokes, 0));
    assertEquals(new Mouse(Mouse.Kind.WHEEL_UP, 0, 0), readMouse(strokes, 0));
    assertEquals(new Mouse(Mouse.Kind.WHEEL_DOWN, 0, 0), readMouse(strokes, 0));
    assertNull(readMouse(strokes, 0), "the right button");
    assertEquals(Key.of('x'), read());
  }

  @Test
  void read_mouseInPieces_isOneEvent() throws Exception {
    send("\033", "[", "<", "0", ";12", ";", "7", "M", "x");
    assertEquals(new Mouse(Mouse.Kind.PRESS, 11, 6), readMouse(new MouseStrokes(), 0));
    assertEquals(Key.of('x'), read());
  }

  @Test
  void toMouse_secondPressAtTheSameCell_isDoubleOnceAndOnlySoon() throws Exception {
    MouseStrokes strokes = new MouseStrokes();
    String press = "\033[<0;5;5M";
    send(press + press + press + press + "\033[<0;6;5M");
    long second = 1_000_000_000L;
    assertEquals(Mouse.Kind.PRESS, readMouse(strokes, 0).kind());
    assertEquals(Mouse.Kind.DOUBLE, readMouse(strokes, second / 10).kind());
    assertEquals(Mouse.Kind.PRESS, readMouse(strokes, second / 5).kind(), "a third begins anew");
    assertEquals(Mouse.Kind.PRESS, readMouse(strokes, second).kind(), "too late");
    assertEquals(Mouse.Kind.PRESS, readMouse(strokes, second).kind(), "elsewhere");
  }

  @Test
  void read_damagedMouse_swallowsNoKeyForGood() throws Exception {
    send("\033[<1;2;3;4;5Mq\033[<99999999999999999999999999999999999999Mq");
    for (int quits = 0; quits < 2; ) {
      for (Key key : KeyStrokes.toKeys(terminal.readInput())) {
        quits += key.equals(Key.of('q')) ? 1 : 0;
      }
    }
  }

  @Test
  void read_sequenceThatNobodyKnows_isNoKey() throws Exception {
    // Attributes of the device, focus, a key by its number, colours; then keys that are known.
    send("\033[?62;1;6c\033[I\033[97;5u\033[?2026;2$yx\033[[A\033[1;5C\033[<0;1;1M");
    for (int i = 0; i < 4; i++) {
      assertSame(UnknownPattern.STROKE, terminal.readInput());
    }
    assertEquals(Key.of('x'), read());
    assertEquals(Key.function(1), read());
    assertEquals(Key.of(Key.Kind.RIGHT), read());
    assertEquals(KeyType.MouseEvent, terminal.readInput().getKeyType());
  }

  @Test
  void read_sequenceWithoutEnd_isCutAndEndsWithItsFinalByte() throws Exception {
    PipedOutputStream typist = new PipedOutputStream();
    LingeringInput input = new LingeringInput(new PipedInputStream(typist, 100_000), 2_000);
    typist.write(("\033[" + "1".repeat(90_000) + "~x").getBytes(StandardCharsets.UTF_8));
    typist.close();
    String kept = new String(input.readAllBytes(), StandardCharsets.UTF_8);
    assertTrue(kept.matches("\033\\[1{1,100}~x"), kept);
  }

  @Test
  void read_reportsAndPasteMarks_areNoKeys() throws Exception {
    send("\033[0", "n\033[200~a", "\033[201~");
    assertSame(FlameTerminal.STATUS, terminal.readInput());
    assertSame(FlameTerminal.PASTE_BEGIN, terminal.readInput());
    assertEquals(Key.of('a'), read());
    assertSame(FlameTerminal.PASTE_END, terminal.readInput());
  }

  @Test
  void listen_keysPasteAndMouse_inTheirOrderUntilTheTerminalIsGone() throws Exception {
    keyboard.write(
        "q\033[200~ls\033[A\tx\ny\007\033[201~\032\033[<0;3;4M\033[<35;3;4M\033j"
            .getBytes(StandardCharsets.UTF_8));
    keyboard.close();
    input.listen(told);
    assertEquals(
        List.of("q", "pasted ls\tx\ny", "suspended", "PRESS 2 3", "esc", "j", "gone"), told.lines);
  }

  @Test
  void take_answerToAnEcho_isToldToItAlone() throws Exception {
    echo.restart();
    assertTrue(echo.sending(1, 0));
    send("\033[0n");
    assertEquals(List.of(), take(1, 5));
    assertTrue(echo.sending(2_000, 5), "it has answered, so it may be asked again");
  }

  @Test
  void take_pasteWithoutEnd_endsWithTheFirstKeyAfterAWhile() throws Exception {
    long second = 1_000_000_000L;
    send("\033[200~abc");
    assertEquals(List.of(), take(3, 0));
    assertEquals(List.of(), take(1, second));
    send("q");
    assertEquals(List.of("pasted abc", "q"), take(1, 2 * second + 1));
  }

  @Test
  void take_pasteWithoutEndThenAnother_areTwo() throws Exception {
    send("\033[200~a\033[200~b\033[201~\033[201~c");
    assertEquals(List.of("pasted a", "pasted b", "c"), take(7, 0));
  }

  @Test
  void take_longPaste_isCutAndItsEndIsFound() throws Exception {
    // Larger than a pipe.
    send("\033[200~", "x".repeat(600), "y".repeat(5_000), "\033[201~q");
    List<String> lines = take(5_603, 0);
    assertEquals("pasted " + "x".repeat(600) + "y".repeat(4_096 - 600), lines.get(0));
    assertEquals(List.of("q"), lines.subList(1, lines.size()));
  }

  @Test
  void take_terminalGoneAmidAPaste_tellsBoth() throws Exception {
    send("\033[200~a");
    take(2, 0);
    keyboard.close();
    assertFalse(input.take(terminal.readInput(), 0, told));
    assertEquals(List.of("pasted a", "gone"), told.lines);
  }

  @Test
  void isText_manyDifferentCharactersAtOnce_untilAHandTypes() throws Exception {
    PipedOutputStream typist = new PipedOutputStream();
    LingeringInput input = new LingeringInput(new PipedInputStream(typist), 2_000);
    byte[] read = new byte[100];
    for (String keys : new String[] {"q", "jjjjjjjjjjjjjj", "\033[<0;33;12M\033[<0;33;12m"}) {
      Thread.sleep(50);
      typist.write(keys.getBytes(StandardCharsets.UTF_8));
      assertEquals(keys.length(), input.read(read));
      assertFalse(input.isText(), keys);
    }
    typist.write("quit this now".getBytes(StandardCharsets.UTF_8));
    assertEquals(13, input.read(read));
    assertTrue(input.isText());
    Thread.sleep(50);
    // On a slow machine a key may be read together with an Escape before it.
    typist.write("\033q".getBytes(StandardCharsets.UTF_8));
    assertEquals(2, input.read(read));
    assertFalse(input.isText());
  }

  @Test
  void isText_answersOfTheTerminalBetweenKeysOfAHand_false() throws Exception {
    PipedOutputStream typist = new PipedOutputStream();
    LingeringInput input = new LingeringInput(new PipedInputStream(typist), 2_000);
    byte[] read = new byte[100];
    for (char key : "abcdefghijkl".toCharArray()) {
      for (String piece : new String[] {String.valueOf(key), "\033[0n"}) {
        typist.write(piece.getBytes(StandardCharsets.UTF_8));
        assertEquals(piece.length(), input.read(read));
        assertFalse(input.isText(), piece);
        Thread.sleep(20);
      }
    }
  }
}

package flametop.term;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.googlecode.lanterna.TerminalSize;
import com.googlecode.lanterna.TextCharacter;
import com.googlecode.lanterna.screen.TerminalScreen;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import org.junit.jupiter.api.Test;

class FlameTerminalTest {
  @Test
  void refresh_nothingChanged_writesNothing() throws Exception {
    ByteArrayOutputStream written = new ByteArrayOutputStream();
    FrameStream output = new FrameStream(written);
    TerminalScreen screen =
        new TerminalScreen(
            new FlameTerminal(InputStream.nullInputStream(), output, new TerminalSize(20, 4)));
    screen.setCursorPosition(null);
    screen.startScreen();
    screen.setCharacter(3, 1, TextCharacter.fromCharacter('x')[0]);
    screen.refresh();
    output.flush();
    assertTrue(output.drain(5_000));
    assertTrue(written.size() > 0);
    written.reset();
    screen.setCharacter(3, 1, TextCharacter.fromCharacter('x')[0]);
    screen.refresh();
    output.flush();
    assertTrue(output.drain(5_000));
    assertEquals(0, written.size());
    output.close();
  }
}

package flametop.term;

import com.googlecode.lanterna.screen.TerminalScreen;
import com.googlecode.lanterna.terminal.ansi.UnixTerminal;
import java.io.IOException;
import java.nio.charset.Charset;

/** What a Lanterna program of one word needs until it is seen, for scale: {@code bench/view}. */
public final class HelloScreen {
  private HelloScreen() {}

  public static void main(String[] args) throws IOException {
    UnixTerminal terminal = new UnixTerminal(System.in, System.out, Charset.defaultCharset());
    try (TerminalScreen screen = new TerminalScreen(terminal)) {
      screen.startScreen();
      screen.newTextGraphics().putString(0, 0, "hello");
      screen.refresh();
      screen.readInput();
    }
  }
}

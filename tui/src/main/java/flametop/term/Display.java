package flametop.term;

import com.googlecode.lanterna.TerminalSize;
import flametop.term.device.Echo;
import flametop.term.device.FlameTerminal;
import flametop.term.device.FrameStream;
import flametop.term.device.LingeringInput;
import flametop.term.device.Stty;
import flametop.term.device.TerminalInput;
import flametop.view.base.CellGrid;
import flametop.view.layout.Scene;
import flametop.view.screen.Painter;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The terminal while the screen is up. {@link #open} takes it; {@link #close} gives it back as it
 * was, also when the JVM must end.
 */
final class Display implements AutoCloseable {
  private static final Path DEVICE = Path.of("/dev/tty");
  private static final long LINGER_MILLIS = 200;
  private static final long LINGER_OVER_SSH_MILLIS = 250;

  /** How long leaving waits for a terminal that takes no bytes. */
  static final long LEAVE_MILLIS = 500;

  /** The same without hurry: bytes on their way over a slow line may arrive. */
  static final long LEAVE_PATIENTLY_MILLIS = 10_000;

  private final Stty stty = new Stty(DEVICE);
  private final String saved;
  private final FrameStream output;
  private final FlameTerminal terminal;
  private final CellWriter cells;
  private final Echo echo = new Echo();
  private final TerminalInput input;
  private final boolean mouse;
  private final Thread hook = new Thread(() -> leave(LEAVE_MILLIS), "terminal restore");
  private TerminalSize size = new TerminalSize(80, 24);
  private boolean whole = true;

  /** The picture on the terminal; null before the first one. */
  private @Nullable CellGrid painted;

  /** The picture before that one, to be painted over. */
  private @Nullable CellGrid spare;

  private boolean up;

  private Display(Theme theme, Map<String, String> environment, boolean remote, boolean mouse)
      throws IOException {
    this.mouse = mouse;
    FileOutputStream device;
    InputStream keys;
    try {
      device = new FileOutputStream(DEVICE.toFile());
      keys = new FileInputStream(DEVICE.toFile());
    } catch (IOException e) {
      throw new IOException(
          "no terminal here (" + DEVICE + ": " + reason(e) + "); use `flametop record`", e);
    }
    LingeringInput bytes =
        new LingeringInput(keys, remote ? LINGER_OVER_SSH_MILLIS : LINGER_MILLIS);
    output = new FrameStream(device);
    cells = new CellWriter(theme, environment, output);
    // The launcher asked already; one process more would take 15 ms.
    String known = System.getProperty("flametop.terminal.settings", "");
    saved = known.isEmpty() ? stty.save() : known;
    terminal = new FlameTerminal(bytes, output, size);
    input = new TerminalInput(terminal, bytes, echo);
  }

  /** Whether a terminal of this {@code TERM} cannot draw a screen. */
  static boolean isWithoutScreen(String term) {
    return term.isEmpty() || term.equals("dumb") || term.equals("unknown");
  }

  /**
   * Takes the terminal.
   *
   * @param environment as of {@link System#getenv()}
   * @param remote whether the terminal is at the other end of a network
   * @param mouse whether the mouse is taken too
   * @throws IOException a line for people, if there is no terminal or it cannot draw
   */
  static Display open(Theme theme, Map<String, String> environment, boolean remote, boolean mouse)
      throws IOException {
    String term = environment.getOrDefault("TERM", "");
    if (isWithoutScreen(term)) {
      throw new NoScreenException(
          "TERM="
              + term
              + ": this terminal cannot draw a screen; use `flametop record`, or set TERM (TERM=xterm-256color suits most)");
    }
    Display display = new Display(theme, environment, remote, mouse);
    Runtime.getRuntime().addShutdownHook(display.hook);
    display.enter();
    return display;
  }

  private static String reason(IOException e) {
    String text = String.valueOf(e.getMessage());
    int open = text.lastIndexOf('(');
    return open >= 0 && text.endsWith(")") ? text.substring(open + 1, text.length() - 1) : text;
  }

  /**
   * Takes the terminal (again): after {@link #open}, and when the process goes on after it was
   * stopped.
   */
  synchronized void enter() throws IOException {
    resized(stty.raw());
    if (!up) {
      up = true;
      terminal.enterPrivateMode();
      terminal.setCursorVisible(false);
      if (mouse) {
        terminal.mouse(true);
      }
      terminal.marksPastes(true);
      echo.restart();
      send();
    }
  }

  /**
   * Gives the terminal back; {@link #enter} takes it again.
   *
   * @param millis to wait for a terminal that is behind
   * @return whether the terminal took the whole reset
   */
  synchronized boolean leave(long millis) {
    if (!up) {
      return true;
    }
    up = false;
    boolean left = false;
    try {
      if (output.drain(millis)) {
        terminal.marksPastes(false);
        if (mouse) {
          terminal.mouse(false);
        }
        // Without an alternate screen, the picture is erased.
        terminal.resetColorAndSGR();
        terminal.clearScreen();
        terminal.setCursorPosition(0, 0);
        terminal.exitPrivateMode();
        output.flush();
        left = output.drain(millis);
        echo.await(millis);
      }
    } catch (IOException | IllegalStateException e) {
      // The terminal is gone; restore its settings all the same.
    }
    try {
      stty.restore(saved);
    } catch (IOException e) {
      // As above.
    }
    return left;
  }

  /** Sends the collected bytes, and the question of their arrival if it is due. */
  private void send() throws IOException {
    int bytes = output.collected();
    if (bytes > 0 && echo.sending(bytes, System.nanoTime())) {
      terminal.ask();
    }
    output.flush();
  }

  /** Asks the device for its size; the next picture is painted in whole. */
  synchronized void resized() throws IOException {
    resized(stty.size());
  }

  private void resized(TerminalSize now) {
    terminal.resized(now);
    size = now;
    whole = true;
  }

  /** The input of the terminal, for one thread. */
  TerminalInput input() {
    return input;
  }

  /** Makes the next picture be painted in whole. */
  synchronized void repaint() {
    whole = true;
  }

  synchronized int columns() {
    return size.getColumns();
  }

  synchronized int rows() {
    return size.getRows();
  }

  /** Whether all sent bytes have arrived. Nothing more is sent before. */
  synchronized boolean isReady() {
    return up && !output.isBusy() && !echo.isLate(System.nanoTime());
  }

  /** Paints a picture; does nothing and returns false while the picture before is on its way. */
  synchronized boolean paint(Scene scene) throws IOException {
    if (!isReady()) {
      return false;
    }
    CellGrid grid = Painter.paint(scene, spare);
    spare = null;
    if (size.getColumns() != grid.columns() || size.getRows() != grid.rows()) {
      return false;
    }
    cells.write(grid, whole ? null : painted);
    send();
    whole = false;
    spare = painted;
    painted = grid;
    return true;
  }

  /**
   * Puts a text into the clipboard of the terminal; does nothing and returns false if the terminal
   * is busy.
   */
  synchronized boolean copy(String text) throws IOException {
    if (!isReady()) {
      return false;
    }
    terminal.copy(text.getBytes(StandardCharsets.UTF_8));
    send();
    return true;
  }

  @Override
  public void close() {
    leave(LEAVE_MILLIS);
    output.close();
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // The JVM is ending: the hook runs already, and has nothing left to do.
    }
  }
}

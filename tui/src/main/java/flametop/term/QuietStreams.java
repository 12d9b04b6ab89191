package flametop.term;

import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/**
 * Keeps prints away from the terminal while the screen is up. Closing prints the last lines that
 * went to standard error.
 */
final class QuietStreams implements AutoCloseable {
  private static final int KEPT = 4096;

  private final PrintStream out = System.out;
  private final PrintStream err = System.err;
  private final ByteArrayOutputStream kept = new ByteArrayOutputStream();

  QuietStreams() {
    System.setOut(new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8));
    OutputStream bounded =
        new OutputStream() {
          @Override
          public synchronized void write(int b) {
            if (kept.size() < KEPT) {
              kept.write(b);
            }
          }
        };
    System.setErr(new PrintStream(bounded, true, StandardCharsets.UTF_8));
  }

  @Override
  public void close() {
    System.setOut(out);
    System.setErr(err);
    if (kept.size() > 0) {
      err.print(kept.toString(StandardCharsets.UTF_8));
      err.flush();
    }
  }
}

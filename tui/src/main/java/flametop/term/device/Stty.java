package flametop.term.device;

import com.googlecode.lanterna.TerminalSize;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The settings of a terminal device, through the {@link Helper}. */
public final class Stty {
  private static final Pattern SIZE = Pattern.compile("(\\d{1,5}) (\\d{1,5})");

  /** Rows beyond are not drawn: anybody can set any size. */
  private static final int MAX_CELLS = 500_000;

  private final File device;

  public Stty(Path device) {
    this.device = device.toFile();
  }

  /** The settings, in a form that {@link #restore} takes. */
  public String save() throws IOException {
    return run("save").strip();
  }

  /**
   * Switches echo, lines, signals by keys and flow control off: each key comes at once, as bytes.
   *
   * @return the size, as of {@link #size}
   */
  public TerminalSize raw() throws IOException {
    return size(run("raw"));
  }

  /** Restores settings. Does not wait for output that the device does not take. */
  public void restore(String saved) throws IOException {
    run("restore", saved);
  }

  /** The size; 80×24 if the device does not know it (a serial line). */
  public TerminalSize size() throws IOException {
    return size(run("size"));
  }

  private static TerminalSize size(String printed) {
    Matcher m = SIZE.matcher(printed);
    int rows = m.find() ? Integer.parseInt(m.group(1)) : 0;
    int columns = rows > 0 ? Integer.parseInt(m.group(2)) : 0;
    return rows > 0 && columns > 0
        ? new TerminalSize(columns, Math.max(1, Math.min(rows, MAX_CELLS / columns)))
        : new TerminalSize(80, 24);
  }

  private String run(String... arguments) throws IOException {
    List<String> command = Helper.command(List.of(arguments));
    Process process =
        new ProcessBuilder(command).redirectInput(device).redirectErrorStream(true).start();
    try {
      if (!process.waitFor(2, TimeUnit.SECONDS)) {
        process.destroyForcibly();
        throw new IOException(String.join(" ", command) + " does not end");
      }
      // The output fits into the pipe.
      String output =
          new String(process.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
      if (process.exitValue() != 0) {
        throw new IOException(String.join(" ", command) + " failed: " + output.strip());
      }
      return output;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted");
    }
  }
}

package flametop.term.device;

import com.googlecode.lanterna.TerminalSize;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The settings of a terminal device, through the program {@code stty} at a fixed path, never one
 * from PATH.
 */
public final class Stty {
  private static final Pattern SIZE = Pattern.compile("(\\d{1,5}) (\\d{1,5})");

  /** Rows beyond are not drawn: anybody can set any size. */
  private static final int MAX_CELLS = 500_000;

  private static final List<String> PLACES = List.of("/usr/bin/stty", "/bin/stty");

  private final String program;
  private final File device;

  public Stty(Path device) throws IOException {
    this.device = device.toFile();
    this.program =
        PLACES.stream()
            .filter(p -> Files.isExecutable(Path.of(p)))
            .findFirst()
            .orElseThrow(
                () ->
                    new IOException(
                        "stty is missing ("
                            + String.join(", ", PLACES)
                            + "): apt install coreutils"));
  }

  /** The settings, in a form that {@link #restore} takes. */
  public String save() throws IOException {
    return run("-g").strip();
  }

  /**
   * Switches echo, lines, signals by keys and flow control off: each key comes at once, as bytes.
   *
   * @return the size, as of {@link #size}
   */
  public TerminalSize raw() throws IOException {
    return size(
        run(
            "-drain", "-echo", "-icanon", "-isig", "-ixon", "-iexten", "min", "1", "time", "0",
            "size"));
  }

  /** Restores settings. Does not wait for output that the device does not take. */
  public void restore(String saved) throws IOException {
    run("-drain", saved);
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
    List<String> command = new ArrayList<>();
    command.add(program);
    command.addAll(List.of(arguments));
    Process process =
        new ProcessBuilder(command).redirectInput(device).redirectErrorStream(true).start();
    try {
      if (!process.waitFor(2, TimeUnit.SECONDS)) {
        process.destroyForcibly();
        throw new IOException(program + " " + String.join(" ", arguments) + " does not end");
      }
      // The output fits into the pipe.
      String output =
          new String(process.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
      if (process.exitValue() != 0) {
        throw new IOException(
            program + " " + String.join(" ", arguments) + " failed: " + output.strip());
      }
      return output;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted");
    }
  }
}

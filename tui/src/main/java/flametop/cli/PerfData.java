package flametop.cli;

import flametop.profile.file.StackInput;
import flametop.sampler.CleanText;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** Recordings of perf, as {@code perf script} prints them. */
final class PerfData {
  private static final int MAX_WORDS = 4_096;

  private PerfData() {}

  /** Whether a file is a recording of perf. */
  static boolean is(Path path) {
    return StackInput.begins(path, "PERFILE2");
  }

  /**
   * Starts {@code perf script}.
   *
   * @throws IOException with a line for people, if there is no perf
   */
  static StackInput open(Path path) throws IOException {
    String name = CleanText.clean(path.toString(), 1_024);
    ProcessBuilder perf =
        new ProcessBuilder("perf", "script", "--force", "-i", path.toAbsolutePath().toString())
            .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()));
    try {
      return StackInput.of(name, -1, new Output(perf.start()));
    } catch (IOException e) {
      throw new IOException(
          name
              + " is a recording of perf, and there is no perf on PATH (Debian: linux-perf); where"
              + " there is one: perf script -i FILE | flametop view -",
          e);
    }
  }

  /** What the program prints; its end is an error if the program fails. */
  private static final class Output extends FilterInputStream {
    private final Process process;
    private final byte[] words = new byte[MAX_WORDS];
    private int said;
    private final Thread listener = new Thread(this::listen, "perf");

    Output(Process process) {
      super(process.getInputStream());
      this.process = process;
      listener.setDaemon(true);
      listener.start();
    }

    /** Keeps the first words of stderr, and reads all of it so that the program goes on. */
    private void listen() {
      byte[] more = new byte[MAX_WORDS];
      try (InputStream err = process.getErrorStream()) {
        for (int count; (count = err.read(more)) >= 0; ) {
          synchronized (words) {
            int kept = Math.min(count, words.length - said);
            System.arraycopy(more, 0, words, said, kept);
            said += kept;
          }
        }
      } catch (IOException e) {
        // The program is gone.
      }
    }

    @Override
    public int read(byte[] into, int from, int room) throws IOException {
      int count = super.read(into, from, room);
      if (count < 0) {
        end();
      }
      return count;
    }

    private void end() throws IOException {
      try {
        if (process.waitFor(10, TimeUnit.SECONDS) && process.exitValue() != 0) {
          listener.join(1_000);
          String text;
          synchronized (words) {
            text = new String(words, 0, said, StandardCharsets.UTF_8).strip();
          }
          String last = text.substring(text.lastIndexOf('\n') + 1);
          throw new IOException("perf script failed: " + CleanText.clean(last, 300));
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    @Override
    public void close() throws IOException {
      process.destroy();
      super.close();
    }
  }
}

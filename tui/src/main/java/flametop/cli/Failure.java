package flametop.cli;

import flametop.sampler.CleanText;
import flametop.sampler.SamplerException;
import flametop.term.NoScreenException;
import flametop.term.ThemeException;
import java.io.IOException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;

/**
 * Why a command ends, for people.
 *
 * @param message one line
 */
record Failure(ExitCode code, String message) {
  private static final int MAX_MESSAGE = 2_000;

  /** Ends a command. */
  static final class Ends extends RuntimeException {
    private final transient Failure failure;

    Ends(ExitCode code, String message) {
      super(message);
      failure = new Failure(code, CleanText.clean(message, MAX_MESSAGE));
    }
  }

  /** Ends a command whose command line cannot be followed. */
  static Ends usage(String message) {
    return new Ends(ExitCode.USAGE, message);
  }

  /** Ends a command that finds no format in the suffix of a file. */
  static Ends noFormat(Path file, String formats) {
    return usage(
        "the suffix of "
            + CleanText.clean(file.toString(), 500)
            + " says no format; end it in one of "
            + formats
            + ", or give --format");
  }

  /**
   * The value of a future, which is waited for.
   *
   * @throws IOException the failure of the future, with a line for people
   */
  static <T> T got(Future<T> answer) throws IOException, InterruptedException {
    try {
      return answer.get();
    } catch (ExecutionException e) {
      throw e.getCause() instanceof IOException io && io.getMessage() != null
          ? io
          : new IOException(of(e).message(), e);
    }
  }

  /** The failure that an exception stands for. */
  static Failure of(Throwable thrown) {
    Throwable cause = thrown;
    while (cause.getCause() != null
        && (cause instanceof CompletionException || cause instanceof ExecutionException)) {
      cause = cause.getCause();
    }
    if (cause instanceof Ends ends) {
      return ends.failure;
    }
    if (cause instanceof SamplerException e) {
      return new Failure(ExitCode.of(e.kind()), String.valueOf(e.getMessage()));
    }
    if (cause instanceof OutOfMemoryError) {
      return new Failure(
          ExitCode.FAILED,
          "out of memory; a lower rate needs less (-F 9), a shorter history (the screen: --history 8), or a part of the file");
    }
    String text = CleanText.clean(String.valueOf(cause.getMessage()), MAX_MESSAGE);
    if (cause instanceof NoScreenException || cause instanceof ThemeException) {
      return new Failure(ExitCode.USAGE, text);
    }
    if (cause instanceof IOException && cause.getMessage() != null) {
      return new Failure(ExitCode.FAILED, text);
    }
    if (cause instanceof InvalidPathException e) {
      return new Failure(
          ExitCode.USAGE,
          CleanText.clean(e.getInput(), MAX_MESSAGE)
              + ": a name that this locale has no letters for; LC_ALL=C.UTF-8 has");
    }
    String refused = refused(cause);
    if (!refused.isEmpty()) {
      return new Failure(
          ExitCode.FAILED,
          "the system refused what this needs: "
              + refused
              + "; a container or a filter of system calls (seccomp) may forbid it");
    }
    StackTraceElement[] trace = cause.getStackTrace();
    String place =
        trace.length == 0 ? "" : " at " + trace[0].getFileName() + ":" + trace[0].getLineNumber();
    return new Failure(
        ExitCode.FAILED,
        "this should not happen: "
            + cause.getClass().getSimpleName()
            + " ("
            + text
            + ")"
            + place
            + "; please report it");
  }

  /**
   * The words of the system behind an exception of another sort; empty if the system is not the
   * cause.
   */
  private static String refused(Throwable of) {
    Throwable cause = of;
    // Causes may go round.
    for (int depth = 0; cause != null && depth < 16; depth++) {
      if (cause instanceof IOException && cause.getMessage() != null) {
        return CleanText.clean(cause.getMessage(), MAX_MESSAGE);
      }
      cause = cause.getCause();
    }
    return "";
  }
}

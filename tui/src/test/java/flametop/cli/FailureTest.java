package flametop.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryIteratorException;
import java.util.List;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;

/** Why a command ends, for people. */
class FailureTest {
  @Test
  void of_whatTheSystemRefused_saysThatAndAsksForNoReport() {
    IOException refused = new IOException("/x: Operation not permitted");
    for (Throwable thrown :
        List.of(
            new UncheckedIOException(refused),
            new DirectoryIteratorException(refused),
            new ExceptionInInitializerError(refused),
            new CompletionException(new IllegalStateException(refused)))) {
      Failure failure = Failure.of(thrown);
      assertEquals(ExitCode.FAILED, failure.code());
      assertEquals(
          "the system refused what this needs: /x: Operation not permitted;"
              + " a container or a filter of system calls (seccomp) may forbid it",
          failure.message());
    }
  }

  @Test
  void of_whatNobodyForesaw_asksForAReport() {
    IllegalStateException inner = new IllegalStateException("b");
    Throwable round = new IllegalStateException("a", inner);
    inner.initCause(round);
    assertTrue(Failure.of(round).message().startsWith("this should not happen: "));
  }
}

package flametop.term;

import java.util.concurrent.CompletableFuture;

/** The live screen: owns the terminal from the first paint to the last. */
public final class LiveScreen {
  private final ScreenOptions options;
  private final CompletableFuture<LiveSession> session;

  /**
   * @param session completes when sampling is open; the chrome is painted before. Its failure ends the screen.
   */
  public LiveScreen(ScreenOptions options, CompletableFuture<LiveSession> session) {
    this.options = options;
    this.session = session;
  }

  /**
   * Runs until the user quits or a signal ends it, and leaves the terminal as it was.
   *
   * @return exit code: 0, or 128 + the number of the signal
   * @throws Exception the cause, where the session or a snapshot failed, or the terminal is none; its message is a line for people
   */
  public int run() throws Exception {
    throw new UnsupportedOperationException(options.host() + session);
  }
}

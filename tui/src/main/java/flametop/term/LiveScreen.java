package flametop.term;

import flametop.profile.answer.Capability;
import flametop.profile.answer.Moment;
import flametop.sampler.Users;
import flametop.view.state.PaintOptions;
import flametop.view.state.ViewState;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/** The live screen: owns the terminal from the first paint to the last. */
public final class LiveScreen {
  private static final long LOCAL_REFRESH_NANOS = 250_000_000L;
  private static final long SSH_REFRESH_NANOS = 500_000_000L;

  private final ScreenOptions options;
  private final CompletableFuture<LiveSession> opening;
  private final Map<String, String> environment = UserEnvironment.get();

  /**
   * @param session completes when sampling is open; the chrome is painted before. A failure ends
   *     the screen.
   */
  public LiveScreen(ScreenOptions options, CompletableFuture<LiveSession> session) {
    this.options = options;
    this.opening = session;
  }

  /**
   * Runs until the user quits or a signal ends it, and leaves the terminal as it was.
   *
   * @return exit code: 0, or 128 + the number of the signal
   * @throws Exception the cause if the session or a snapshot failed, or if there is no terminal;
   *     the message is a line for people
   */
  public int run() throws Exception {
    Look look = options.look();
    Themes.Loaded loaded =
        new Themes(Look.themesFolder(), look.user()).load(look.theme(), look.place());
    boolean remote = Remote.isRemote(environment, Path.of("/proc"));
    PaintOptions paintOptions = paintOptions(loaded.notice());
    ViewState state = state(remote);
    QuietStreams quiet = new QuietStreams();
    ScreenLoop loop = null;
    int exitCode;
    try (Display display =
            Display.open(loaded.theme(), environment, remote, options.preferences().mouse());
        Signals signals = new Signals()) {
      loop =
          new ScreenLoop(
              options, environment, paintOptions, state, loaded.theme(), display, signals);
      exitCode = loop.run(opening);
      long patience = exitCode == 0 ? Display.LEAVE_PATIENTLY_MILLIS : Display.LEAVE_MILLIS;
      if (!display.leave(patience) && exitCode == 0) {
        // The launcher goes on trying to restore the terminal.
        exitCode = 128 + 1;
      }
    } finally {
      quiet.close();
      if (loop != null) {
        loop.close();
      }
    }
    loop.tell();
    loop.rethrow();
    return exitCode;
  }

  private PaintOptions paintOptions(String notice) {
    List<String> notices = new ArrayList<>(options.preferences().notices());
    if (!notice.isEmpty()) {
      notices.add(notice);
    }
    return new PaintOptions(
        options.host(),
        options.target(),
        options.origin(),
        options.look().ascii() || ColorMode.isAscii(environment),
        ColorMode.of(environment) == ColorMode.NONE,
        new Users()::name,
        options.preferences().keymap(),
        notices);
  }

  private ViewState state(boolean remote) {
    long refresh =
        options.refreshNanos() > 0
            ? options.refreshNanos()
            : remote ? SSH_REFRESH_NANOS : LOCAL_REFRESH_NANOS;
    ViewState state =
        ViewState.initial(
            options.states(), options.filter(), options.passHz(), options.cpuHz(), refresh);
    if (!options.origin().has(Capability.TIME)) {
      state = state.withMoment(Moment.ALL);
    }
    String term = environment.getOrDefault("TERM", "");
    return term.startsWith("vt")
        ? state.withMessage(
            "TERM=" + term + " has no colours; set TERM=xterm-256color if yours has")
        : state;
  }
}

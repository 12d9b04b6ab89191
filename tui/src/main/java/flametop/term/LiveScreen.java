package flametop.term;

import com.googlecode.lanterna.input.KeyStroke;
import com.googlecode.lanterna.input.KeyType;
import com.googlecode.lanterna.input.MouseAction;
import flametop.profile.Beside;
import flametop.profile.GraphQuery;
import flametop.profile.Page;
import flametop.profile.PageQuery;
import flametop.profile.ProcessRow;
import flametop.profile.Profile;
import flametop.profile.Sandwich;
import flametop.profile.Shape;
import flametop.profile.Snapshot;
import flametop.profile.SnapshotSource;
import flametop.profile.Source;
import flametop.profile.StateSet;
import flametop.sampler.Budget;
import flametop.sampler.Users;
import flametop.view.CellGrid;
import flametop.view.Effect;
import flametop.view.Key;
import flametop.view.Keymap;
import flametop.view.Keys;
import flametop.view.Mouse;
import flametop.view.Origin;
import flametop.view.PaintOptions;
import flametop.view.Painter;
import flametop.view.PickList;
import flametop.view.Scene;
import flametop.view.ViewState;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/** The live screen: owns the terminal from the first paint to the last. */
public final class LiveScreen {
  private static final long LOCAL_REFRESH_NANOS = 250_000_000L;
  private static final long SSH_REFRESH_NANOS = 500_000_000L;

  /** How often the profile is asked for a first tower, and how long at most. */
  private static final long FIRST_REFRESH_NANOS = 40_000_000L;

  private static final long FOREVER_NANOS = TimeUnit.DAYS.toNanos(10_000);

  private static final long FIRST_NANOS = 1_000_000_000L;

  /** How long a key waits for what it asks, so that it is answered by one picture and not two. */
  private static final long ANSWER_NANOS = 15_000_000L;

  /** How soon a picture is tried again that found the one before still on its way. */
  private static final long RETRY_NANOS = 20_000_000L;

  /** Sizes change in storms: one is looked at after so long without another, or so long in all. */
  private static final long RESIZE_PAUSE_NANOS = 50_000_000L;

  private static final long RESIZE_NANOS = 250_000_000L;

  /** A paste whose end was lost ends with the first key after so long. */
  private static final long PASTE_NANOS = 1_000_000_000L;

  private static final int MAX_PASTE = 4_096;

  /**
   * Keys are read no further ahead: the terminal's own buffer is bounded, and holds up the rest.
   */
  private static final int MAX_AHEAD = 4_096;

  private static final long AHEAD_MILLIS = 5;

  /** After this the terminal is restored past a screen that does not end when it is told to. */
  private static final long END_MILLIS = 2_000;

  private sealed interface Event {
    record Pressed(Key key, boolean inText) implements Event {}

    record Pasted(String text) implements Event {}

    record Moved(Mouse mouse) implements Event {}

    record Arrived(Snapshot snapshot, Page page) implements Event {}

    record Ready(LiveSession session) implements Event {}

    record Listed(PickList.Of of, List<ProcessRow> rows) implements Event {}

    record Sourced(Source source) implements Event {}

    record Recalled(List<String> searches) implements Event {}

    record Exported(String line, boolean failed) implements Event {}

    record Failed(Throwable cause) implements Event {}

    record Ended(int code) implements Event {}

    record Signalled(int number) implements Event {}

    record Resized() implements Event {}

    record Suspended() implements Event {}

    record Continued() implements Event {}

    record TerminalGone() implements Event {}
  }

  private final ScreenOptions options;
  private final CompletableFuture<LiveSession> opening;
  private final Map<String, String> environment;
  private final LinkedBlockingQueue<Event> events = new LinkedBlockingQueue<>();

  // All below is owned by the thread in run().
  private Theme theme;
  private Display display;
  private Signals signals;
  private PaintOptions paintOptions;
  private ViewState state;
  private LiveSession session;

  /** What the source was last told to show; null: nothing yet. */
  private Shape shape;

  private Snapshot snapshot;
  private Page page;
  private Budget budget;
  private Scene scene;
  private boolean asked;
  private boolean askAgain;
  private boolean stale = true;
  private long nextAsk;

  /** Until then nothing is painted while an answer is awaited. */
  private long answerBy = System.nanoTime();

  private int exitCode = -1;
  private Throwable failure;
  private String exported = "";

  /** When the size is looked at, and since when it changes; 0: it does not. */
  private long resizeAt;

  private long resizeSince;

  /**
   * @param session completes when sampling is open; the chrome is painted before. Its failure ends
   *     the screen.
   */
  public LiveScreen(ScreenOptions options, CompletableFuture<LiveSession> session) {
    this.options = options;
    this.opening = session;
    this.environment = UserEnvironment.get();
  }

  /**
   * Has what the first paint needs of the JDK initialized by another thread, which takes about as
   * long as to take the terminal does; then what the profile needs.
   *
   * @param live whether there will be a profile
   */
  public static void prepare(boolean live) {
    Thread thread =
        new Thread(
            () -> {
              String unused = String.format(Locale.ROOT, "%.1f", 1.0);
              Painter.paint(
                  Scene.of(
                      null,
                      ViewState.initial(StateSet.ALL, Shape.PLAIN, 1, 1, 1),
                      80,
                      24,
                      new PaintOptions(
                          "",
                          "",
                          Origin.LIVE,
                          false,
                          false,
                          Integer::toString,
                          Keymap.DEFAULT,
                          List.of())));
              if (live) {
                Profile.prepare();
              }
            },
            "prepare");
    thread.setDaemon(true);
    thread.start();
  }

  /**
   * Runs until the user quits or a signal ends it, and leaves the terminal as it was.
   *
   * @return exit code: 0, or 128 + the number of the signal
   * @throws Exception the cause, where the session or a snapshot failed, or the terminal is none;
   *     its message is a line for people
   */
  public int run() throws Exception {
    Look look = options.look();
    Themes.Loaded loaded = new Themes(look.themes(), look.user()).load(look.theme(), look.place());
    theme = loaded.theme();
    boolean ascii = look.ascii() || ColorMode.isAscii(environment);
    boolean plain = ColorMode.of(environment) == ColorMode.NONE;
    Users users = new Users();
    List<String> notices = new ArrayList<>(options.preferences().notices());
    if (!loaded.notice().isEmpty()) {
      notices.add(loaded.notice());
    }
    paintOptions =
        new PaintOptions(
            options.host(),
            options.target(),
            options.origin(),
            ascii,
            plain,
            users::name,
            options.preferences().keymap(),
            notices);
    boolean remote = Remote.isRemote(environment, Path.of("/proc"));
    long refresh =
        options.refreshNanos() > 0
            ? options.refreshNanos()
            : remote ? SSH_REFRESH_NANOS : LOCAL_REFRESH_NANOS;
    state =
        ViewState.initial(
            options.states(), options.filter(), options.passHz(), options.cpuHz(), refresh);
    if (options.origin() == Origin.FILE) {
      state = state.ofAll();
    }
    budget =
        new Budget(
            options.budget(),
            new Budget.Pace(refresh, true, options.passHz(), options.cpuHz()),
            options.kept());
    if (environment.getOrDefault("TERM", "").startsWith("vt")) {
      state =
          state.withMessage(
              "TERM="
                  + environment.get("TERM")
                  + " has no colours; set TERM=xterm-256color if yours has",
              false);
    }
    QuietStreams quiet = new QuietStreams();
    try (Display opened = Display.open(theme, environment, remote, options.preferences().mouse());
        Signals handlers = new Signals()) {
      display = opened;
      signals = handlers;
      handleSignals();
      Thread input = new Thread(this::readKeys, "input");
      input.setDaemon(true);
      input.start();
      tell(opening, Event.Ready::new, Event.Failed::new);
      Thread history =
          new Thread(
              () -> events.add(new Event.Recalled(options.preferences().history().texts())),
              "history");
      history.setDaemon(true);
      history.start();
      loop();
      long patience = exitCode == 0 ? Display.LEAVE_PATIENTLY_MILLIS : Display.LEAVE_MILLIS;
      if (!display.leave(patience) && exitCode == 0) {
        // The launcher goes on trying.
        exitCode = 128 + 1;
      }
    } finally {
      quiet.close();
    }
    if (!exported.isEmpty()) {
      System.out.println(exported);
    }
    if (failure != null) {
      throw failure instanceof Exception e ? e : new CompletionException(failure);
    }
    return exitCode;
  }

  private void handleSignals() {
    for (String name : new String[] {"TERM", "HUP", "INT", "QUIT"}) {
      signals.handle(name, this::endBySignal);
    }
    signals.handle("WINCH", n -> events.add(new Event.Resized()));
    signals.handle("TSTP", n -> events.add(new Event.Suspended()));
    signals.handle("CONT", n -> events.add(new Event.Continued()));
  }

  private void endBySignal(int number) {
    events.add(new Event.Signalled(number));
    Thread last =
        new Thread(
            () -> {
              try {
                Thread.sleep(END_MILLIS);
              } catch (InterruptedException e) {
                return;
              }
              // It may be at that already, and for long.
              Thread leave = new Thread(() -> display.leave(Display.LEAVE_MILLIS), "leave");
              leave.setDaemon(true);
              leave.start();
              try {
                leave.join(2 * Display.LEAVE_MILLIS);
              } catch (InterruptedException e) {
                // Nothing is left to wait for.
              }
              Runtime.getRuntime().halt(128 + number);
            },
            "last resort");
    last.setDaemon(true);
    last.start();
  }

  @SuppressWarnings("ReferenceEquality") // each report is one stroke
  private void readKeys() {
    MouseStrokes mouse = new MouseStrokes();
    StringBuilder pasted = null;
    long pastedAt = 0;
    try {
      while (true) {
        KeyStroke stroke = display.read();
        while (events.size() > MAX_AHEAD) {
          Thread.sleep(AHEAD_MILLIS);
        }
        if (stroke == ReportPattern.PASTE_BEGIN) {
          pasted = new StringBuilder();
          pastedAt = System.nanoTime();
          continue;
        }
        if (pasted != null) {
          boolean lost = System.nanoTime() - pastedAt > PASTE_NANOS;
          pastedAt = System.nanoTime();
          if (lost || stroke == ReportPattern.PASTE_END || stroke.getKeyType() == KeyType.EOF) {
            events.add(new Event.Pasted(pasted.toString()));
            pasted = null;
          } else if (pasted.length() < MAX_PASTE) {
            KeyStrokes.append(stroke, pasted);
          }
          if (!lost) {
            continue;
          }
        }
        if (stroke == ReportPattern.PASTE_END) {
          continue;
        }
        if (stroke.getKeyType() == KeyType.EOF) {
          events.add(new Event.TerminalGone());
          return;
        }
        if (stroke instanceof MouseAction action) {
          Mouse moved = mouse.toMouse(action, System.nanoTime());
          if (moved != null) {
            events.add(new Event.Moved(moved));
          }
        } else if (KeyStrokes.isSuspend(stroke)) {
          events.add(new Event.Suspended());
        } else {
          boolean inText = display.isInText();
          KeyStrokes.toKeys(stroke).forEach(key -> events.add(new Event.Pressed(key, inText)));
        }
      }
    } catch (IOException | RuntimeException | InterruptedException e) {
      events.add(new Event.TerminalGone());
    }
  }

  private void loop() throws IOException, InterruptedException {
    relayOut();
    paint();
    while (exitCode < 0 && failure == null) {
      long now = System.nanoTime();
      long wait =
          session == null || asked ? TimeUnit.SECONDS.toNanos(1) : Math.max(0, nextAsk - now);
      if (resizeAt != 0) {
        wait = Math.min(wait, Math.max(0, resizeAt - now));
      }
      if (stale) {
        wait = Math.min(wait, isAwaiting() ? Math.max(0, answerBy - now) : RETRY_NANOS);
      }
      Event event = events.poll(wait, TimeUnit.NANOSECONDS);
      while (event != null) {
        handle(event);
        event = exitCode < 0 && failure == null ? events.poll() : null;
      }
      if (exitCode < 0 && failure == null) {
        resize();
        ask();
        if (!isAwaiting()) {
          paint();
        }
      }
    }
  }

  /** Looks at the size once it stays; what is painted before would be in the way. */
  private void resize() throws IOException {
    if (resizeAt != 0 && System.nanoTime() - resizeAt >= 0) {
      resizeAt = 0;
      display.resized();
      askSoon();
      stale = true;
    }
  }

  private boolean isAwaiting() {
    return asked && System.nanoTime() - answerBy < 0;
  }

  private void handle(Event event) throws IOException, InterruptedException {
    if (event instanceof Event.Pressed e) {
      settle();
      take(Keys.press(scene, e.key(), e.inText()));
    } else if (event instanceof Event.Pasted e) {
      settle();
      take(Keys.paste(scene, e.text()));
    } else if (event instanceof Event.Moved e) {
      relayOut();
      take(Keys.mouse(scene, e.mouse()));
    } else if (event instanceof Event.Arrived e) {
      asked = false;
      boolean still = isStill(snapshot, e.snapshot(), e.page());
      snapshot = e.snapshot();
      page = e.page();
      if (still && !askAgain) {
        nextAsk = System.nanoTime() + FOREVER_NANOS;
      }
      keepToBudget();
      relayOut();
      long selected = state.selected();
      state = scene.settled();
      take(Keys.arrived(scene));
      if (state.selected() != selected) {
        // The picture is not of what is selected now.
        askSoon();
      }
      if (state.source() != null && session != null) {
        // Places that were asked for come one by one.
        apply(new Effect.Source());
      }
    } else if (event instanceof Event.Sourced e) {
      state = state.withAnswer(e.source());
      stale = true;
    } else if (event instanceof Event.Ready e) {
      session = e.session();
      reshape();
      if (session.end() != null) {
        tell(session.end(), Event.Ended::new, Event.Failed::new);
      }
      paintOptions =
          new PaintOptions(
              session.host(),
              session.target(),
              options.origin(),
              paintOptions.ascii(),
              paintOptions.plain(),
              paintOptions.users(),
              paintOptions.keymap(),
              paintOptions.notices());
      stale = true;
    } else if (event instanceof Event.Listed e) {
      take(Keys.listed(state, e.of(), e.rows()));
    } else if (event instanceof Event.Recalled e) {
      state = state.withSearches(e.searches());
    } else if (event instanceof Event.Exported e) {
      exported = e.failed() ? exported : e.line();
      state = state.withMessage(e.line(), e.failed());
      stale = true;
    } else if (event instanceof Event.Failed e) {
      failure = cause(e.cause());
    } else if (event instanceof Event.Ended e) {
      exitCode = e.code();
    } else if (event instanceof Event.Signalled e) {
      exitCode = 128 + e.number();
    } else if (event instanceof Event.Resized) {
      long now = System.nanoTime();
      resizeSince = resizeAt == 0 ? now : resizeSince;
      resizeAt = Math.min(now + RESIZE_PAUSE_NANOS, resizeSince + RESIZE_NANOS);
    } else if (event instanceof Event.Suspended) {
      suspend();
    } else if (event instanceof Event.Continued) {
      display.enter();
      stale = true;
    } else if (event instanceof Event.TerminalGone) {
      // What a terminal that hangs up would have sent.
      exitCode = 128 + 1;
    }
  }

  private void take(Keys.Step step) throws IOException {
    int columns = display.columns();
    boolean sameQuestion =
        step.state().view() == state.view()
            && Objects.equals(step.state().page(columns), state.page(columns))
            && isAnswered(step.state(), columns);
    long refreshNanos = state.refreshNanos();
    state = step.state();
    if (state.refreshNanos() != refreshNanos) {
      ask(new Budget.Pace(state.refreshNanos(), true, state.passHz(), state.cpuHz()));
    }
    for (Effect effect : step.effects()) {
      apply(effect);
    }
    reshape();
    if (!sameQuestion || !step.effects().isEmpty()) {
      askSoon();
      answerBy = System.nanoTime() + ANSWER_NANOS;
    }
    stale = true;
  }

  /** Whether what is here shows another state too. */
  private boolean isAnswered(ViewState next, int columns) {
    if (next.awaited() != null) {
      return false;
    }
    GraphQuery question = next.query(columns);
    GraphQuery before = state.query(columns);
    return question.equals(before) || question.isOfSameGraph(before) && scene.suffices(next);
  }

  /** The source takes the shape that the state has. */
  private void reshape() {
    if (session != null && !state.shape().equals(shape)) {
      shape = state.shape();
      session.source().shape(shape);
      askSoon();
    }
  }

  private void copy(String text) throws IOException {
    String term = environment.getOrDefault("TERM", "");
    boolean none = term.startsWith("vt") || term.startsWith("linux");
    String said =
        none
            ? "TERM=" + term + " has no clipboard: "
            : display.copy(text)
                ? "copied, if your terminal lets programs (OSC 52): "
                : "the terminal is busy; again: ";
    state = state.withMessage(said + text, none);
  }

  private void remember(String text) {
    Thread writer = new Thread(() -> options.preferences().history().add(text), "history");
    writer.setDaemon(true);
    writer.start();
  }

  private void apply(Effect effect) throws IOException {
    if (effect instanceof Effect.Quit) {
      exitCode = 0;
      return;
    }
    if (effect instanceof Effect.Repaint) {
      display.repaint();
      return;
    }
    if (effect instanceof Effect.Copy c) {
      copy(c.text());
      return;
    }
    if (effect instanceof Effect.Remember r) {
      remember(r.text());
      return;
    }
    if (session == null) {
      ViewState before = scene.settled();
      state = before.withMessage("not yet: sampling is still being opened", false);
      return;
    }
    SnapshotSource source = session.source();
    if (effect instanceof Effect.Freeze) {
      source.freeze();
    } else if (effect instanceof Effect.Thaw) {
      source.thaw();
    } else if (effect instanceof Effect.Range r) {
      source.range(r.from(), r.to());
    } else if (effect instanceof Effect.EndRange) {
      source.endRange();
    } else if (effect instanceof Effect.HoldBaseline) {
      source.holdBaseline();
    } else if (effect instanceof Effect.ReleaseBaseline) {
      source.releaseBaseline();
    } else if (effect instanceof Effect.Turn t) {
      source.turn(t.by());
      // Each file has a shape of its own.
      shape = null;
    } else if (effect instanceof Effect.Restart) {
      source.restart();
    } else if (effect instanceof Effect.Rates r) {
      if (session.rates() == null) {
        state =
            scene
                .settled()
                .withMessage("a replay keeps the rates that it was recorded with", false);
      } else {
        ask(new Budget.Pace(budget.now().refreshNanos(), true, r.passHz(), r.cpuHz()));
      }
    } else if (effect instanceof Effect.JvmMaps) {
      String text =
          session.jvmMaps() == null
              ? "a replay has the names that it was recorded with"
              : session.jvmMaps().getAsBoolean()
                  ? "JVMs are asked for maps of their compiled code; J stops that"
                  : "JVMs are asked no more";
      state = scene.settled().withMessage(text, false);
    } else if (effect instanceof Effect.Rows r) {
      CompletableFuture<List<ProcessRow>> rows =
          r.of() == PickList.Of.PROCESSES
              ? source.processes(state.windowNanos(), state.states())
              : source.comms(state.windowNanos(), state.states());
      tell(rows, list -> new Event.Listed(r.of(), list), Event.Failed::new);
    } else if (effect instanceof Effect.Source) {
      tell(
          source.source(state.windowNanos(), state.states(), state.selected()),
          Event.Sourced::new,
          Event.Failed::new);
    } else if (effect instanceof Effect.Export x) {
      if (session.exporter() == null) {
        state = state.withMessage("nothing can be exported here", true);
      } else {
        tell(
            session.exporter().export(x, screen(), theme),
            line -> new Event.Exported(line, false),
            e -> new Event.Exported(message(cause(e)), true));
      }
    }
  }

  /** What is on the screen but for the answer to the last key. */
  private CellGrid screen() {
    return Painter.paint(
        Scene.of(
            snapshot,
            page,
            state.withMessage("", false),
            display.columns(),
            display.rows(),
            paintOptions));
  }

  /** The pace that somebody wants. */
  private void ask(Budget.Pace wanted) {
    budget.ask(wanted);
    applyPace();
  }

  private void keepToBudget() {
    if (session.rates() != null
        && snapshot.cost().time() > 0
        && budget.spent(snapshot.cost().time(), snapshot.cost().nanos())) {
      applyPace();
    }
    state = state.withPace(budget.now(), budget.said());
  }

  private void applyPace() {
    Budget.Pace pace = budget.now();
    if (session != null && session.rates() != null) {
      session.rates().setRates(pace.passHz(), pace.cpuHz());
    }
    state = state.withPace(pace, budget.said());
  }

  private static String message(Throwable e) {
    return e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
  }

  private static Throwable cause(Throwable e) {
    return e instanceof CompletionException && e.getCause() != null ? e.getCause() : e;
  }

  private void askSoon() {
    nextAsk = System.nanoTime();
    askAgain = asked;
  }

  private void ask() {
    if (session == null || asked || !askAgain && System.nanoTime() - nextAsk < 0) {
      return;
    }
    asked = true;
    askAgain = false;
    boolean empty = snapshot == null || snapshot.runNanos() < FIRST_NANOS && snapshot.total() <= 0;
    long refresh = empty ? FIRST_REFRESH_NANOS : state.refreshNanos();
    nextAsk = System.nanoTime() + Math.min(refresh, state.refreshNanos());
    SnapshotSource source = session.source();
    CompletableFuture<Snapshot> picture = source.snapshot(state.query(display.columns()));
    PageQuery beside = state.page(display.columns());
    tell(
        beside == null
            ? picture.thenApply(graph -> new Event.Arrived(graph, null))
            : picture.thenCombine(source.page(beside), Event.Arrived::new),
        arrived -> arrived,
        Event.Failed::new);
  }

  /** Whether there is nothing to come: then only a key, or another size, asks for a picture. */
  @SuppressWarnings("ReferenceEquality") // what has not changed is not made anew
  private static boolean isStill(Snapshot before, Snapshot now, Page page) {
    if (page instanceof Beside two) {
      return isStill(before, now, two.own()) && isStill(null, two.snapshot(), two.page());
    }
    if (now.refolding() || page instanceof Sandwich sandwich && sandwich.refolding()) {
      return false;
    }
    return now.reading() != null
        ? now.reading().done()
        : now.ended()
            && before != null
            && now.graph() == before.graph()
            && now.selection() == before.selection();
  }

  /** What the future brings, value or failure, becomes an event of the loop. */
  private <T> void tell(
      CompletableFuture<T> future, Function<T, Event> value, Function<Throwable, Event> failure) {
    CompletableFuture<?> unused =
        future.whenComplete((v, e) -> events.add(e == null ? value.apply(v) : failure.apply(e)));
  }

  private void relayOut() {
    int columns = display.columns();
    int rows = display.rows();
    scene =
        scene == null
            ? Scene.of(snapshot, page, state, columns, rows, paintOptions)
            : scene.next(snapshot, page, state, columns, rows, paintOptions);
    stale = true;
  }

  /** Lays out what is shown now, unless that was done. */
  private void settle() {
    if (!scene.isOf(snapshot, page, state, display.columns(), display.rows(), paintOptions)) {
      relayOut();
    }
  }

  private void paint() throws IOException {
    if (!stale || resizeAt != 0 || !display.isReady()) {
      return;
    }
    settle();
    try {
      stale = !display.paint(scene);
    } catch (IOException e) {
      // What it cannot take, it is gone for.
      exitCode = 128 + 1;
    }
  }

  /**
   * Stops the whole job, as the key would where signals are not switched off, and goes on when the
   * shell says so.
   */
  private void suspend() throws IOException, InterruptedException {
    display.leave(Display.LEAVE_MILLIS);
    signals.byDefault("TSTP");
    // The launcher passes TSTP on to us, so it is stopped first; then what comes to it is dropped
    // when it goes on. Where the group cannot be stopped (no shell would let it go on) the kernel
    // drops the signal, and the screen is back at once.
    String launcher = System.getProperty("flametop.launcher.pid", "");
    String stop = launcher.isEmpty() ? "" : "kill -STOP " + launcher + "; ";
    Process kill = new ProcessBuilder("/bin/sh", "-c", stop + "kill -TSTP 0").start();
    kill.waitFor();
    Thread.sleep(50);
    if (!launcher.isEmpty()) {
      new ProcessBuilder("/bin/sh", "-c", "kill -CONT " + launcher).start().waitFor();
    }
    signals.handle("TSTP", n -> events.add(new Event.Suspended()));
    events.removeIf(Event.Suspended.class::isInstance);
    display.enter();
    stale = true;
  }
}

package flametop.term;

import flametop.profile.answer.GraphQuery;
import flametop.profile.answer.Page;
import flametop.profile.answer.PageQuery;
import flametop.profile.answer.Sandwich;
import flametop.profile.answer.Shape;
import flametop.profile.answer.Snapshot;
import flametop.profile.answer.SnapshotSource;
import flametop.profile.answer.SplitAnswer;
import flametop.sampler.Budget;
import flametop.sampler.Users;
import flametop.view.base.CellGrid;
import flametop.view.base.Origin;
import flametop.view.layout.Scene;
import flametop.view.screen.Keys;
import flametop.view.screen.Painter;
import flametop.view.screen.ScreenSource;
import flametop.view.state.Effect;
import flametop.view.state.PaintOptions;
import flametop.view.state.Step;
import flametop.view.state.ViewState;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** The live screen: owns the terminal from the first paint to the last. */
public final class LiveScreen {
  private static final long LOCAL_REFRESH_NANOS = 250_000_000L;
  private static final long SSH_REFRESH_NANOS = 500_000_000L;

  /** How often the profile is asked for the first tower, and for how long at most. */
  private static final long FIRST_REFRESH_NANOS = 40_000_000L;

  private static final long OPENING_NANOS = 1_000_000_000L;

  private static final long FIRST_NANOS = 1_000_000_000L;

  /** The pause before another try to paint, while the picture before is on its way. */
  private static final long RETRY_NANOS = 20_000_000L;

  /** How long the end waits until the latest search is kept: a disk may be slow. */
  private static final long REMEMBER_MILLIS = 300;

  private final ScreenOptions options;
  private final CompletableFuture<LiveSession> opening;
  private final Map<String, String> environment;
  private final ScreenEvents events = new ScreenEvents();

  // The thread in run() owns all fields below.
  private Theme theme;
  private Display display;
  private Signals signals;
  private PaintOptions paintOptions;
  private ViewState state;
  private LiveSession session;

  /** The source of the session. */
  private ScreenSource source;

  private Snapshot snapshot;
  private Page page;

  /** The shape of the snapshot. */
  private Shape shape;

  private Budget budget;
  private Scene scene;
  private boolean stale = true;
  private final Asking asking = new Asking(System.nanoTime());
  private final Resizing resizing = new Resizing();
  private final InputQueue input = new InputQueue();
  private int exitCode = -1;
  private Throwable failure;
  private String exported = "";

  /** Writes the latest search; null before there is one. */
  private Thread remembering;

  /**
   * @param session completes when sampling is open; the chrome is painted before. A failure ends
   *     the screen.
   */
  public LiveScreen(ScreenOptions options, CompletableFuture<LiveSession> session) {
    this.options = options;
    this.opening = session;
    this.environment = UserEnvironment.get();
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
                  + " has no colours; set TERM=xterm-256color if yours has");
    }
    QuietStreams quiet = new QuietStreams();
    try (Display opened = Display.open(theme, environment, remote, options.preferences().mouse());
        Signals handlers = new Signals()) {
      display = opened;
      signals = handlers;
      handleSignals();
      Thread listener = new Thread(() -> opened.input().listen(events), "input");
      listener.setDaemon(true);
      listener.start();
      events.tell(opening, ScreenEvent.Ready::new, ScreenEvent.Failed::new);
      Thread history =
          new Thread(
              () -> events.add(new ScreenEvent.Recalled(options.preferences().history().texts())),
              "history");
      history.setDaemon(true);
      history.start();
      loop();
      long patience = exitCode == 0 ? Display.LEAVE_PATIENTLY_MILLIS : Display.LEAVE_MILLIS;
      if (!display.leave(patience) && exitCode == 0) {
        // The launcher goes on trying to restore the terminal.
        exitCode = 128 + 1;
      }
    } finally {
      quiet.close();
      if (remembering != null) {
        remembering.join(REMEMBER_MILLIS);
      }
      if (session != null && session.exporter() != null) {
        session.exporter().abandon();
      }
    }
    if (state.exports() > 0) {
      System.err.println(
          "flametop: it was quit before an export was written; nothing is left of it");
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
    signals.handle("WINCH", n -> events.add(new ScreenEvent.Resized()));
    signals.handle("TSTP", n -> events.suspended());
    signals.handle("CONT", n -> events.add(new ScreenEvent.Continued()));
  }

  private void endBySignal(int number) {
    events.add(new ScreenEvent.Signalled(number));
    new LastResort(display, number).start();
  }

  private void loop() throws IOException, InterruptedException {
    relayOut();
    paint();
    while (exitCode < 0 && failure == null) {
      long now = System.nanoTime();
      long wait = session == null ? OPENING_NANOS : asking.untilDue(now);
      wait = Math.min(wait, resizing.untilOver(now));
      wait = Math.min(wait, input.untilDue(now));
      if (stale) {
        wait = Math.min(wait, asking.isAwaiting(now) ? asking.untilAnswer(now) : RETRY_NANOS);
      }
      ScreenEvent event = events.next(wait);
      while (event != null) {
        handle(event);
        act();
        event = exitCode < 0 && failure == null ? events.next() : null;
      }
      act();
      if (exitCode < 0 && failure == null) {
        resize();
        ask();
        if (!asking.isAwaiting(System.nanoTime())) {
          paint();
        }
      }
    }
  }

  /** Asks for the size once it stays: earlier pictures would be in the way. */
  private void resize() throws IOException {
    long now = System.nanoTime();
    if (resizing.isOver(now)) {
      display.resized();
      asking.soon(now);
      stale = true;
    }
  }

  /** Does the input of the user that is due. */
  private void act() throws IOException {
    while (exitCode < 0 && failure == null) {
      ScreenEvent.Input next = input.next(System.nanoTime(), this::isCaughtUp);
      if (next == null) {
        return;
      }
      if (next instanceof ScreenEvent.Pressed e) {
        settle();
        take(Keys.press(scene, e.key(), e.inText()));
      } else if (next instanceof ScreenEvent.Pasted e) {
        settle();
        take(Keys.paste(scene, e.text()));
      } else if (next instanceof ScreenEvent.Moved e) {
        relayOut();
        take(Keys.mouse(scene, e.mouse()));
      }
    }
  }

  /** Whether snapshot and page have the chosen view and shape, and no key waits for more. */
  private boolean isCaughtUp() {
    PageQuery wanted = state.page(display.columns());
    return session == null
        || !state.awaits()
            && state.shape().equals(shape)
            && (wanted == null || wanted.isAnsweredBy(page));
  }

  private void handle(ScreenEvent event) throws IOException, InterruptedException {
    if (event instanceof ScreenEvent.Input e) {
      input.add(e);
    } else if (event instanceof ScreenEvent.Arrived e) {
      asking.answered(System.nanoTime(), isStill(snapshot, e.snapshot(), e.page()));
      snapshot = e.snapshot();
      page = e.page();
      shape = snapshot.refolding() ? shape : e.shape();
      keepToBudget();
      relayOut();
      long selected = state.selected();
      state = scene.settled();
      take(Keys.arrived(scene));
      if (state.selected() != selected) {
        // The picture has another selection.
        asking.soon(System.nanoTime());
      }
      if (state.source() != null && session != null) {
        // Places in the source come one by one.
        apply(new Effect.Source());
      }
    } else if (event instanceof ScreenEvent.Ready e) {
      session = e.session();
      source = new ScreenSource(session.source());
      if (show()) {
        asking.soon(System.nanoTime());
      }
      if (session.end() != null) {
        events.tell(session.end(), ScreenEvent.Ended::new, ScreenEvent.Failed::new);
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
    } else if (event instanceof ScreenEvent.Answered e) {
      take(Keys.answered(state, e.answer()));
    } else if (event instanceof ScreenEvent.Recalled e) {
      state = state.withSearches(e.searches());
    } else if (event instanceof ScreenEvent.Exported e) {
      exported = e.failed() ? exported : e.line();
      ViewState left = state.withExports(state.exports() - 1);
      state = e.failed() ? left.withTrouble(e.line()) : left.withMessage(e.line());
      stale = true;
    } else if (event instanceof ScreenEvent.Failed e) {
      failure = cause(e.cause());
    } else if (event instanceof ScreenEvent.Ended e) {
      exitCode = e.code();
    } else if (event instanceof ScreenEvent.Signalled e) {
      exitCode = 128 + e.number();
    } else if (event instanceof ScreenEvent.Resized) {
      resizing.changed(System.nanoTime());
    } else if (event instanceof ScreenEvent.Suspended) {
      suspend();
    } else if (event instanceof ScreenEvent.Continued) {
      display.enter();
      stale = true;
    } else if (event instanceof ScreenEvent.TerminalGone) {
      // The exit code of HUP, which a hung-up terminal sends.
      exitCode = 128 + 1;
    }
  }

  private void take(Step step) throws IOException {
    int columns = display.columns();
    boolean sameQuestion =
        step.state().view() == state.view()
            && Objects.equals(step.state().page(columns), state.page(columns))
            && isAnswered(step.state(), columns);
    if (step.state().view() != state.view()
        || !step.state().shape().equals(state.shape())
        || step.state().awaits() && !state.awaits()) {
      input.awaitAnswer(System.nanoTime());
    }
    long refreshNanos = state.refreshNanos();
    state = step.state();
    if (state.refreshNanos() != refreshNanos) {
      ask(new Budget.Pace(state.refreshNanos(), true, state.passHz(), state.cpuHz()));
    }
    for (Effect effect : step.effects()) {
      apply(effect);
    }
    boolean shows = show();
    if (!sameQuestion || shows || !step.effects().isEmpty()) {
      asking.forKey(System.nanoTime());
    }
    stale = true;
  }

  /** Whether the snapshot also has all that another state shows. */
  private boolean isAnswered(ViewState next, int columns) {
    if (next.awaited() != null) {
      return false;
    }
    GraphQuery question = next.query(columns);
    GraphQuery before = state.query(columns);
    return question.equals(before) || question.isOfSameGraph(before) && scene.suffices(next);
  }

  /** The source shows what the state says; false if it does so already. */
  private boolean show() {
    return session != null && source.show(state);
  }

  private void copy(String text) throws IOException {
    String term = environment.getOrDefault("TERM", "");
    if (term.startsWith("vt") || term.startsWith("linux")) {
      state = state.withTrouble("TERM=" + term + " has no clipboard: " + text);
      return;
    }
    String said =
        display.copy(text)
            ? "copied, if your terminal lets programs (OSC 52): "
            : "the terminal is busy; again: ";
    state = state.withMessage(said + text);
  }

  private void remember(String text) {
    remembering = new Thread(() -> options.preferences().history().add(text), "history");
    remembering.setDaemon(true);
    remembering.start();
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
      state = before.withMessage("not yet: sampling is still being opened");
      return;
    }
    if (effect instanceof Effect.OfSource e) {
      source.apply(e);
    } else if (effect instanceof Effect.Question q) {
      ask(q);
    } else if (effect instanceof Effect.Rates r) {
      if (session.rates() == null) {
        state = scene.settled().withMessage("a replay keeps the rates that it was recorded with");
      } else {
        ask(new Budget.Pace(budget.now().refreshNanos(), true, r.passHz(), r.cpuHz()));
      }
    } else if (effect instanceof Effect.JvmMaps) {
      String text =
          session.jvmMaps() == null
              ? "a replay has the names that it was recorded with"
              : session.jvmMaps().getAsBoolean()
                  ? "JVMs are asked for maps of their compiled code; J stops that"
                  : "JVMs are no longer asked";
      state = scene.settled().withMessage(text);
    } else if (effect instanceof Effect.Export x) {
      if (session.exporter() == null) {
        state = state.withTrouble("nothing can be exported here");
      } else {
        CellGrid shown = screen();
        state = state.withExports(state.exports() + 1);
        events.tell(
            session.exporter().export(x, shown, theme),
            line -> new ScreenEvent.Exported(line, false),
            e -> new ScreenEvent.Exported(message(cause(e)), true));
      }
    }
  }

  private void ask(Effect.Question question) {
    events.tell(source.ask(question, state), ScreenEvent.Answered::new, ScreenEvent.Failed::new);
  }

  /** The screen without the answer to the last key. */
  private CellGrid screen() {
    return Painter.paint(
        Scene.of(
            snapshot,
            page,
            state.withoutMessage(),
            display.columns(),
            display.rows(),
            paintOptions));
  }

  /** Asks the budget for a pace that the user wants. */
  private void ask(Budget.Pace wanted) {
    budget.ask(wanted);
    applyPace();
  }

  private void keepToBudget() {
    if (session.rates() != null
        && snapshot.live().cost().time() > 0
        && budget.spent(snapshot.live().cost().time(), snapshot.live().cost().nanos())) {
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

  private void ask() {
    long now = System.nanoTime();
    if (session == null || !asking.isDue(now)) {
      return;
    }
    boolean empty = snapshot == null || snapshot.total() <= 0 && ageNanos(snapshot) < FIRST_NANOS;
    long refresh = empty ? FIRST_REFRESH_NANOS : state.refreshNanos();
    asking.asked(now, Math.min(refresh, state.refreshNanos()));
    SnapshotSource pictures = session.source();
    CompletableFuture<Snapshot> picture = pictures.snapshot(state.query(display.columns()));
    PageQuery beside = state.page(display.columns());
    CompletableFuture<Page> about =
        beside == null ? CompletableFuture.completedFuture(null) : pictures.page(beside);
    Shape asked = state.shape();
    events.tell(
        picture.thenCombine(about, (graph, p) -> new ScreenEvent.Arrived(graph, p, asked)),
        arrived -> arrived,
        ScreenEvent.Failed::new);
  }

  /** How long a source has run. */
  private static long ageNanos(Snapshot snapshot) {
    return snapshot.context() instanceof Snapshot.File file
        ? file.openNanos()
        : snapshot.live().time().runNanos();
  }

  /** Whether nothing will change: then only a key, or another size, asks for a picture. */
  @SuppressWarnings("ReferenceEquality") // an unchanged value is the same object
  private static boolean isStill(Snapshot before, Snapshot now, Page page) {
    if (page instanceof SplitAnswer two) {
      return isStill(before, now, two.own()) && isStill(null, two.snapshot(), two.page());
    }
    if (now.refolding() || page instanceof Sandwich sandwich && sandwich.refolding()) {
      return false;
    }
    return now.context() instanceof Snapshot.File file
        ? file.reading().done()
        : now.live().ended()
            && before != null
            && now.graph() == before.graph()
            && now.selection() == before.selection();
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

  /** Lays the current values out, unless the scene has them already. */
  private void settle() {
    if (!scene.isOf(snapshot, page, state, display.columns(), display.rows(), paintOptions)) {
      relayOut();
    }
  }

  private void paint() throws IOException {
    if (!stale || resizing.isUnderWay() || !display.isReady()) {
      return;
    }
    settle();
    try {
      stale = !display.paint(scene);
    } catch (IOException e) {
      // A terminal that fails to take bytes is gone.
      exitCode = 128 + 1;
    }
  }

  private void suspend() throws IOException, InterruptedException {
    display.leave(Display.LEAVE_MILLIS);
    Job.stop(signals);
    signals.handle("TSTP", n -> events.suspended());
    events.drop(ScreenEvent.Suspended.class);
    display.enter();
    stale = true;
  }
}

package flametop.term;

import flametop.profile.answer.GraphQuery;
import flametop.profile.answer.Page;
import flametop.profile.answer.PageQuery;
import flametop.profile.answer.Sandwich;
import flametop.profile.answer.Shape;
import flametop.profile.answer.Snapshot;
import flametop.profile.answer.SplitAnswer;
import flametop.sampler.Budget;
import flametop.view.base.CellGrid;
import flametop.view.layout.Scene;
import flametop.view.screen.Keys;
import flametop.view.screen.Painter;
import flametop.view.state.Effect;
import flametop.view.state.PaintOptions;
import flametop.view.state.Questions;
import flametop.view.state.Step;
import flametop.view.state.Typed;
import flametop.view.state.ViewState;
import java.io.IOException;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * The life of a screen while the terminal is taken: one event after the other, and a picture after
 * them. One thread owns it.
 */
final class ScreenLoop {
  /** How often the profile is asked for the first tower, and for how long at most. */
  private static final long FIRST_REFRESH_NANOS = 40_000_000L;

  private static final long OPENING_NANOS = 1_000_000_000L;

  private static final long FIRST_NANOS = 1_000_000_000L;

  /** The pause before another try to paint, while the picture before is on its way. */
  private static final long RETRY_NANOS = 20_000_000L;

  /** How long the end waits until the latest search is kept: a disk may be slow. */
  private static final long REMEMBER_MILLIS = 300;

  /** How long the screen may take to end after a signal. */
  private static final long LAST_RESORT_MILLIS = 2_000;

  private final ScreenEvents events = new ScreenEvents();
  private final Map<String, String> environment;
  private final SearchHistory history;
  private final Theme theme;
  private final Display display;
  private final Signals signals;
  private final Budget budget;
  private final PaintOptions paintOptions;
  private ViewState state;
  private Scene scene;

  /** The source of the pictures; null while it is being opened. */
  private @Nullable LiveSession session;

  private Snapshot snapshot = Snapshot.OPENING;
  private @Nullable Page page;

  /** The shape of the snapshot; null before the first one. */
  private @Nullable Shape shape;

  private boolean stale = true;
  private final Asking asking = new Asking(System.nanoTime());
  private final Resizing resizing = new Resizing();
  private final InputQueue input = new InputQueue();
  private int exitCode = -1;
  private @Nullable Throwable failure;
  private String exported = "";

  /** Writes the latest search; null before there is one. */
  private @Nullable Thread remembering;

  ScreenLoop(
      ScreenOptions options,
      Map<String, String> environment,
      PaintOptions paintOptions,
      ViewState state,
      Theme theme,
      Display display,
      Signals signals) {
    this.environment = environment;
    this.paintOptions = paintOptions;
    this.state = state;
    this.theme = theme;
    this.display = display;
    this.signals = signals;
    history = options.preferences().history();
    budget = new Budget(options.budget(), state.pace(), options.kept());
    scene = Scene.of(snapshot, state, display.columns(), display.rows(), paintOptions);
  }

  /**
   * Runs until the user quits, a signal ends the screen, or its source fails.
   *
   * @return the exit code; negative after a failure
   */
  int run(CompletableFuture<LiveSession> opening) throws IOException, InterruptedException {
    handleSignals();
    start("input", () -> display.input().listen(events));
    events.tell(opening, ScreenEvent.Ready::new, ScreenEvent.Failed::new);
    start("history", () -> events.add(new ScreenEvent.Recalled(history.texts())));
    loop();
    return exitCode;
  }

  private static Thread start(String name, Runnable does) {
    Thread thread = new Thread(does, name);
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  /**
   * Waits a short while for exports that are still being written, and leaves nothing half written.
   */
  void close() throws InterruptedException {
    if (remembering != null) {
      remembering.join(REMEMBER_MILLIS);
    }
    if (session != null) {
      session.exporter().abandon();
    }
  }

  /** Says in the terminal what was exported and what was not. */
  void tell() {
    if (state.exports() > 0) {
      System.err.println(
          "flametop: it was quit before an export was written; nothing is left of it");
    }
    if (!exported.isEmpty()) {
      System.out.println(exported);
    }
  }

  /** Throws what the source failed with, if it failed. */
  void rethrow() throws Exception {
    if (failure != null) {
      throw failure instanceof Exception e ? e : new CompletionException(failure);
    }
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
    start("last resort", () -> lastResort(number));
  }

  /** Ends the JVM if the screen does not end in time, with the terminal restored if possible. */
  private void lastResort(int signal) {
    try {
      Thread.sleep(LAST_RESORT_MILLIS);
      // The screen may be restoring it already, and for long.
      start("leave", () -> display.leave(Display.LEAVE_MILLIS)).join(2 * Display.LEAVE_MILLIS);
      Runtime.getRuntime().halt(128 + signal);
    } catch (InterruptedException e) {
      // Nobody interrupts it.
    }
  }

  private void loop() throws IOException, InterruptedException {
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
    PageQuery wanted = Questions.page(state, display.columns());
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
      if (state.source() != null) {
        // Places in the source come one by one.
        apply(new Effect.Source());
      }
    } else if (event instanceof ScreenEvent.Ready e) {
      begin(e.session());
    } else if (event instanceof ScreenEvent.Answered e) {
      take(Keys.answered(state, e.answer()));
    } else if (event instanceof ScreenEvent.Recalled e) {
      state = state.withTyped(Typed.SEARCH, e.searches());
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

  /** The source is open. */
  private void begin(LiveSession opened) {
    session = opened;
    if (show()) {
      asking.soon(System.nanoTime());
    }
    events.tell(opened.end(), ScreenEvent.Ended::new, ScreenEvent.Failed::new);
    stale = true;
  }

  private void take(Step step) throws IOException {
    int columns = display.columns();
    boolean sameQuestion =
        step.state().view() == state.view()
            && Objects.equals(Questions.page(step.state(), columns), Questions.page(state, columns))
            && isAnswered(step.state(), columns);
    if (step.state().view() != state.view()
        || !step.state().shape().equals(state.shape())
        || step.state().awaits() && !state.awaits()) {
      input.awaitAnswer(System.nanoTime());
    }
    long refreshNanos = state.pace().refreshNanos();
    state = step.state();
    Budget.Pace pace = state.pace();
    if (pace.refreshNanos() != refreshNanos) {
      ask(new Budget.Pace(pace.refreshNanos(), true, pace.passHz(), pace.cpuHz()));
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
    GraphQuery question = Questions.picture(next, columns);
    GraphQuery before = Questions.picture(state, columns);
    return question.equals(before) || question.isOfSameGraph(before) && scene.suffices(next);
  }

  /** The source shows what the state says; false if it does so already. */
  private boolean show() {
    return session != null && session.source().show(state);
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

  private void apply(Effect effect) throws IOException {
    if (effect instanceof Effect.Quit) {
      exitCode = 0;
    } else if (effect instanceof Effect.Repaint) {
      display.repaint();
    } else if (effect instanceof Effect.Copy c) {
      copy(c.text());
    } else if (effect instanceof Effect.Remember r) {
      remembering = start("history", () -> history.add(r.text()));
    } else if (session == null) {
      state = scene.settled().withMessage("not yet: sampling is still being opened");
    } else {
      apply(effect, session);
    }
  }

  private void apply(Effect effect, LiveSession to) {
    if (effect instanceof Effect.OfSource e) {
      to.source().apply(e);
    } else if (effect instanceof Effect.Question q) {
      events.tell(to.source().ask(q, state), ScreenEvent.Answered::new, ScreenEvent.Failed::new);
    } else if (effect instanceof Effect.OfEvents e) {
      e.on(Objects.requireNonNull(to.events()));
    } else if (effect instanceof Effect.ListSources l) {
      events.tell(
          Objects.requireNonNull(to.events()).list(l.text()).thenApply(Effect.Answer.Sources::new),
          ScreenEvent.Answered::new,
          ScreenEvent.Failed::new);
    } else if (effect instanceof Effect.Rates r) {
      if (to.rates() == null) {
        state = scene.settled().withMessage("a replay keeps the rates that it was recorded with");
      } else {
        ask(new Budget.Pace(budget.now().refreshNanos(), true, r.passHz(), r.cpuHz()));
      }
    } else if (effect instanceof Effect.Export x) {
      CellGrid shown = screen();
      state = state.withExports(state.exports() + 1);
      events.tell(
          to.exporter().export(x, shown, theme),
          line -> new ScreenEvent.Exported(line, false),
          e -> new ScreenEvent.Exported(message(cause(e)), true));
    }
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
    if (session != null
        && session.rates() != null
        && snapshot.live().cost().time() > 0
        && budget.spent(snapshot.live().cost().time(), snapshot.live().cost().nanos())) {
      applyPace();
    }
    state = state.withPace(budget.now(), budget.said());
  }

  private void applyPace() {
    Budget.Pace pace = budget.now();
    LiveSession.Rates rates = session == null ? null : session.rates();
    if (rates != null) {
      rates.set(pace.passHz(), pace.cpuHz());
    }
    state = state.withPace(pace, budget.said());
  }

  private static String message(Throwable e) {
    return Objects.requireNonNullElse(e.getMessage(), e.getClass().getSimpleName());
  }

  private static Throwable cause(Throwable e) {
    return e instanceof CompletionException ? Objects.requireNonNullElse(e.getCause(), e) : e;
  }

  private void ask() {
    long now = System.nanoTime();
    if (session == null || !asking.isDue(now)) {
      return;
    }
    boolean empty = snapshot.total() <= 0 && ageNanos(snapshot) < FIRST_NANOS;
    long refresh = state.pace().refreshNanos();
    asking.asked(now, empty ? Math.min(FIRST_REFRESH_NANOS, refresh) : refresh);
    CompletableFuture<Snapshot> picture =
        session.source().snapshot(Questions.picture(state, display.columns()));
    PageQuery beside = Questions.page(state, display.columns());
    Shape asked = state.shape();
    CompletableFuture<ScreenEvent> both =
        beside == null
            ? picture.thenApply(graph -> new ScreenEvent.Arrived(graph, null, asked))
            : picture.thenCombine(
                session.source().page(beside),
                (graph, about) -> new ScreenEvent.Arrived(graph, about, asked));
    events.tell(both, arrived -> arrived, ScreenEvent.Failed::new);
  }

  /** How long a source has run. */
  private static long ageNanos(Snapshot snapshot) {
    if (snapshot.isOpening()) {
      return 0;
    }
    return snapshot.context() instanceof Snapshot.File file
        ? file.openNanos()
        : snapshot.live().time().runNanos();
  }

  /** Whether nothing will change: then only a key, or another size, asks for a picture. */
  @SuppressWarnings("ReferenceEquality") // an unchanged value is the same object
  private static boolean isStill(Snapshot before, Snapshot now, @Nullable Page page) {
    if (page instanceof SplitAnswer two) {
      return isStill(before, now, two.own())
          && isStill(Snapshot.OPENING, two.snapshot(), two.page());
    }
    if (now.refolding() || page instanceof Sandwich sandwich && sandwich.refolding()) {
      return false;
    }
    return now.context() instanceof Snapshot.File file
        ? file.reading().done()
        : now.live().ended()
            && now.graph() == before.graph()
            && now.selection() == before.selection();
  }

  private void relayOut() {
    int columns = display.columns();
    int rows = display.rows();
    scene = scene.next(snapshot, page, state, columns, rows, paintOptions);
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
    signals.stopJob();
    signals.handle("TSTP", n -> events.suspended());
    events.drop(ScreenEvent.Suspended.class);
    display.enter();
    stale = true;
  }
}

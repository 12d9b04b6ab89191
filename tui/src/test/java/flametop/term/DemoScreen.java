package flametop.term;

import flametop.profile.answer.GraphQuery;
import flametop.profile.answer.Page;
import flametop.profile.answer.PageQuery;
import flametop.profile.answer.Snapshot;
import flametop.view.screen.Machine;
import flametop.view.screen.ScreenSource;
import flametop.view.state.Keymap;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/**
 * Runs the live screen over a machine made by hand, in a real terminal: for the tests in tmux, and
 * for looking at a theme.
 */
public final class DemoScreen {
  private DemoScreen() {}

  /** Its pictures come a while after they were asked for. */
  private static final class SlowMachine extends Machine {
    private final Executor later = CompletableFuture.delayedExecutor(300, TimeUnit.MILLISECONDS);

    @Override
    public CompletableFuture<Snapshot> snapshot(GraphQuery query) {
      return CompletableFuture.supplyAsync(() -> super.snapshot(query).join(), later);
    }

    @Override
    public CompletableFuture<Page> page(PageQuery query) {
      return CompletableFuture.supplyAsync(() -> super.page(query).join(), later);
    }
  }

  public static void main(String[] arguments) throws Exception {
    CompletableFuture<LiveSession> session = new CompletableFuture<>();
    Thread opening =
        new Thread(
            () -> {
              try {
                Thread.sleep(700);
                // `after FILE`: opens when the file is there
                while (arguments.length > 1 && !Files.exists(Path.of(arguments[1]))) {
                  Thread.sleep(20);
                }
              } catch (InterruptedException e) {
                return;
              }
              if (arguments.length > 0 && arguments[0].equals("fail")) {
                session.completeExceptionally(new java.io.IOException("BPF refused: run as root"));
              } else {
                boolean slow = arguments.length > 0 && arguments[0].equals("slow");
                Machine machine = slow ? new SlowMachine() : new Machine();
                session.complete(
                    new LiveSession(
                        new ScreenSource(machine),
                        (pass, cpu) -> {},
                        null,
                        (what, screen, theme) ->
                            CompletableFuture.completedFuture(
                                "wrote flametop.folded: 84 stacks, 5.2 KiB"),
                        new CompletableFuture<>()));
              }
            });
    opening.start();
    LiveScreen screen =
        new LiveScreen(
            new ScreenOptions(
                flametop.view.base.Origin.LIVE,
                "web-1",
                "all tasks",
                flametop.profile.answer.Shape.PLAIN,
                flametop.profile.answer.StateSet.BUSY,
                19,
                99,
                0,
                Double.POSITIVE_INFINITY,
                new flametop.sampler.Budget.Kept(false, false, false),
                new Look(Look.DEFAULT_THEME, "", UserFiles.NONE, false),
                new ScreenOptions.Preferences(Keymap.DEFAULT, true, List.of(), SearchHistory.NONE)),
            session);
    try {
      System.exit(screen.run());
    } catch (Exception e) {
      System.err.println("flametop: " + e.getMessage());
      System.exit(1);
    }
  }
}

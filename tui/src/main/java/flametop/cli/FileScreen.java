package flametop.cli;

import flametop.export.ComparedStacks;
import flametop.export.FoldedStacks;
import flametop.export.OutputFile;
import flametop.profile.ComparedStack;
import flametop.profile.StackFiles;
import flametop.profile.StateSet;
import flametop.profile.TaskFilter;
import flametop.sampler.Budget;
import flametop.sampler.CleanText;
import flametop.term.LiveScreen;
import flametop.term.LiveSession;
import flametop.term.ScreenOptions;
import flametop.view.Origin;
import java.io.IOException;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;

/** The screen with stacks of files instead of this machine. */
final class FileScreen {
  private FileScreen() {}

  /**
   * Shows them until the user quits.
   *
   * @param what for the header, before the first picture
   * @return exit code
   */
  static int show(StackFiles files, String what, String theme) throws Exception {
    if (!Terminals.isStdout()) {
      throw new Failure.Ends(ExitCode.USAGE, "stdout is no terminal, and the screen needs one");
    }
    String name = CleanText.clean(what, 1_024);
    ScreenOptions options =
        new ScreenOptions(
            Origin.FILE,
            "",
            name,
            TaskFilter.NONE,
            StateSet.ALL,
            0,
            0,
            0,
            Double.POSITIVE_INFINITY,
            new Budget.Kept(true, true, true),
            theme,
            ScreenOptions.themesFolder());
    LiveSession session =
        new LiveSession(
            "",
            name,
            files,
            null,
            null,
            (window, states, zoom) -> files.shown().folded(zoom, stacks -> export(stacks)));
    return new LiveScreen(options, CompletableFuture.completedFuture(session)).run();
  }

  private static String export(Iterable<ComparedStack> stacks) throws IOException {
    String time =
        LocalDateTime.now(ZoneId.systemDefault())
            .format(DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss", Locale.ROOT));
    try (OutputFile file = OutputFile.create(Path.of("flametop-view-" + time + ".folded"), false)) {
      FoldedStacks.Written written = ComparedStacks.writeNow(file.stream(), stacks);
      long bytes = file.commit();
      return String.format(
          Locale.ROOT,
          "%s: %,d stacks, %,d kB",
          CleanText.clean(file.path().toString(), 1_024),
          written.stacks(),
          (bytes + 999) / 1_000);
    }
  }
}

package flametop.cli;

import flametop.cli.settings.LookOptions;
import flametop.cli.settings.Settings;
import flametop.export.Provenance;
import flametop.export.StackExport;
import flametop.profile.answer.FoldedStack;
import flametop.profile.answer.Function;
import flametop.profile.answer.Shape;
import flametop.profile.answer.Snapshot;
import flametop.profile.answer.StateSet;
import flametop.profile.file.StackFiles;
import flametop.profile.tree.HeldStacks;
import flametop.sampler.Budget;
import flametop.sampler.CleanText;
import flametop.term.LiveScreen;
import flametop.term.LiveSession;
import flametop.term.Look;
import flametop.term.ScreenOptions;
import flametop.term.UserFiles;
import flametop.view.base.Origin;
import flametop.view.screen.ScreenSource;
import flametop.view.state.Effect;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/** The screen with stacks of files instead of this machine. */
final class FileScreen implements ScreenExporter.Shown {
  private static final int MAX_NAME = 1_024;

  private final StackFiles files;

  private FileScreen(StackFiles files) {
    this.files = files;
  }

  /**
   * Shows them until the user quits.
   *
   * @param what for the header, before the first picture
   * @return exit code
   */
  static int show(StackFiles files, String what, LookOptions options) throws Exception {
    if (!Terminals.isStdout()) {
      throw Failure.usage("stdout is no terminal, and the screen needs one");
    }
    String name = CleanText.clean(what, MAX_NAME);
    UserFiles user = UserFiles.of(System.getenv());
    Settings settings = new Settings(user);
    Look look = options.look(user, settings);
    ScreenOptions screen =
        new ScreenOptions(
            Origin.FILE,
            "",
            name,
            Shape.PLAIN,
            StateSet.ALL,
            0,
            0,
            0,
            Double.POSITIVE_INFINITY,
            new Budget.Kept(true, true, true),
            look,
            options.preferences(settings));
    LiveSession session =
        new LiveSession(
            new ScreenSource(files),
            null,
            null,
            new ScreenExporter(new FileScreen(files)),
            new CompletableFuture<>());
    return new LiveScreen(screen, CompletableFuture.completedFuture(session)).run();
  }

  @Override
  public CompletableFuture<StackExport> stacks(Effect.Export what) {
    return files
        .shown()
        .reading()
        .thenCombineAsync(
            files.held(what.zoom()), (reading, stacks) -> export(reading, stacks, what.through()));
  }

  @Override
  public CompletableFuture<Provenance> provenance(Effect.Export what) {
    return files.shown().reading().thenApply(reading -> provenance(reading, facts(reading)));
  }

  /**
   * The stacks of now as an export.
   *
   * @param through takes only stacks with this function; null: all
   */
  static StackExport export(
      Snapshot.Reading reading, HeldStacks stacks, @Nullable Function through) {
    List<Provenance.Fact> facts = facts(reading);
    Shape shape = stacks.shape();
    if (through != null) {
      shape = shape.plus(new Shape.Through(through, false));
    }
    if (!shape.steps().isEmpty()) {
      facts.add(new Provenance.Fact("filter", shape.toString()));
    }
    if (!stacks.zoom().isEmpty()) {
      facts.add(new Provenance.Fact("below", String.join(" > ", stacks.zoom())));
    }
    if (stacks.compared()) {
      facts.add(new Provenance.Fact("counts", "of what is now, not of what it is compared with"));
    }
    // Not the stacks that are only in the file with which they are compared.
    Iterable<FoldedStack> now =
        () ->
            StreamSupport.stream(stacks.spliterator(), false)
                .filter(stack -> stack.value() > 0)
                .filter(stack -> through == null || stack.passesThrough(through))
                .iterator();
    long total =
        through == null
            ? stacks.total()
            : StreamSupport.stream(now.spliterator(), false).mapToLong(FoldedStack::value).sum();
    return new StackExport(
        provenance(reading, facts), reading.measure(), now, total, stacks.decimals(), true);
  }

  @Override
  public String nothing() {
    return "no stack is shown";
  }

  private static Provenance provenance(Snapshot.Reading reading, List<Provenance.Fact> facts) {
    String host = shortName(reading.name());
    return new Provenance(Main.Version.text(), host, 0, 0, 0, false, List.copyOf(facts));
  }

  private static List<Provenance.Fact> facts(Snapshot.Reading reading) {
    List<Provenance.Fact> facts = new ArrayList<>();
    facts.add(new Provenance.Fact("program", Main.Version.text()));
    facts.add(new Provenance.Fact("file", reading.name()));
    if (!reading.done()) {
      facts.add(
          new Provenance.Fact(
              "read",
              String.format(Locale.ROOT, "%,d lines of stacks so far, not all", reading.stacks())));
    }
    return facts;
  }

  /** The name of the file on the screen, without folders and suffixes. */
  private static String shortName(String name) {
    int arrow = name.lastIndexOf(" → ");
    String now = arrow < 0 ? name : name.substring(arrow + 3);
    String last = now.substring(now.lastIndexOf('/') + 1);
    int dot = last.indexOf('.', 1);
    return dot < 0 ? last : last.substring(0, dot);
  }
}

package flametop.cli;

import flametop.export.Provenance;
import flametop.export.StackExport;
import flametop.profile.answer.Extract;
import flametop.profile.answer.FoldedStack;
import flametop.profile.answer.GraphQuery;
import flametop.profile.answer.Shape;
import flametop.profile.answer.StateSet;
import flametop.profile.file.StackInput;
import flametop.profile.live.Profile;
import flametop.profile.tree.Options;
import flametop.sampler.CleanText;
import flametop.sampler.ReplaySource;
import flametop.sampler.Sampler;
import flametop.sampler.StreamMonitor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;

/** The stacks of a recorded stream, the same that {@code record --replay} writes. */
final class ReplayedStacks implements StackInput.Replay {
  private final ReplaySource source;

  private ReplayedStacks(ReplaySource source) {
    this.source = source;
  }

  /**
   * Refuses stdin where it is given twice.
   *
   * @return whether it is given
   */
  static boolean agreeOnStdin(List<Path> paths) {
    long stdin = paths.stream().filter(path -> path.toString().equals("-")).count();
    if (stdin > 1) {
      throw Failure.usage("- is given twice, and there is one stdin");
    }
    return stdin > 0;
  }

  /**
   * Opens a file of stacks or of a profile, a recorded stream, or a recording of perf.
   *
   * @throws IOException with a line for people, if it cannot be read
   */
  static StackInput open(Path path) throws IOException {
    if (PerfData.is(path)) {
      return PerfData.open(path);
    }
    if (!StackInput.isStream(path)) {
      return StackInput.open(path);
    }
    ReplaySource source = ReplaySource.open(path, 0);
    String name = CleanText.clean(path.toString(), 1_024);
    return new StackInput(name, Files.size(path), new ReplayedStacks(source), source::bytes);
  }

  @Override
  public void read(Consumer<FoldedStack> to) throws IOException {
    StreamMonitor monitor = new StreamMonitor(source, false);
    Options options = new Options(Shape.PLAIN, Options.DEFAULT_HISTORY_BYTES, false);
    try (Profile profile = new Profile(source.facts(), options, monitor);
        Sampler sampler = new Sampler(source, 1, 0, monitor.before(profile))) {
      sampler.start();
      monitor.ended().join();
      StateSet states = source.facts().wholeHost() ? StateSet.BUSY : StateSet.ALL;
      Extract extract = profile.extract(states, GraphQuery.ROOT, false).get();
      StackExport export =
          StackExport.of(
              Provenance.of(Main.Version.text(), source.facts(), extract.scope(), states),
              extract.measure(),
              extract.stacks());
      export.stacks().forEach(to);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    } catch (ExecutionException | CompletionException e) {
      throw new IOException(Failure.of(e).message(), e);
    }
    if (source.damaged()) {
      throw new IOException("the recording is damaged");
    }
  }

  @Override
  public void close() {
    source.close();
  }
}

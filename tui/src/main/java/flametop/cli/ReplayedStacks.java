package flametop.cli;

import flametop.export.Provenance;
import flametop.export.StackExport;
import flametop.export.StackFormat;
import flametop.export.Unit;
import flametop.profile.answer.Extract;
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
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

/**
 * A recorded stream as the folded stacks that {@code record --replay} makes of it. The first read
 * waits until all of it is replayed.
 */
final class ReplayedStacks extends InputStream {
  private final ReplaySource source;

  /** Null until it is replayed. */
  private InputStream folded;

  private ReplayedStacks(ReplaySource source) {
    this.source = source;
  }

  /**
   * Opens a file of folded stacks, or of a recorded stream.
   *
   * @throws IOException with a line for people, if it cannot be read
   */
  static StackInput open(Path path) throws IOException {
    if (!StackInput.isStream(path)) {
      return StackInput.open(path);
    }
    ReplaySource source = ReplaySource.open(path, 0);
    String name = CleanText.clean(path.toString(), 1_024);
    return StackInput.of(name, Files.size(path), new ReplayedStacks(source), source::bytes);
  }

  private InputStream replayed() throws IOException {
    StreamMonitor monitor = new StreamMonitor(source, false);
    Options options = new Options(Shape.PLAIN, Options.DEFAULT_HISTORY_BYTES, false);
    try (Profile profile = new Profile(source.facts(), options, monitor);
        Sampler sampler = new Sampler(source, 1, 0, monitor)) {
      monitor.passOnTo(profile);
      sampler.start();
      monitor.ended().join();
      StateSet states = source.facts().wholeHost() ? StateSet.BUSY : StateSet.ALL;
      Extract extract = profile.extract(Long.MAX_VALUE, states, GraphQuery.ROOT, false).get();
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      long unused =
          StackFormat.FOLDED.write(
              StackExport.of(
                  Provenance.of(Main.Version.text(), source.facts(), extract.scope(), states),
                  Unit.US,
                  extract.stacks()),
              out);
      return new ByteArrayInputStream(out.toByteArray());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    } catch (ExecutionException | CompletionException e) {
      throw new IOException(Failure.of(e).message(), e);
    }
  }

  @Override
  public int read(byte[] into, int from, int room) throws IOException {
    if (folded == null) {
      folded = replayed();
    }
    int count = folded.read(into, from, room);
    if (count < 0 && source.damaged()) {
      throw new IOException("the recording is damaged");
    }
    return count;
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
  }

  @Override
  public void close() {
    source.close();
  }
}

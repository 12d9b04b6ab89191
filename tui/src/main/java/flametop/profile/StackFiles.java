package flametop.profile;

import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Several files of stacks of which one is shown. Each is read when it is first turned to. */
public final class StackFiles implements SnapshotSource, AutoCloseable {
  private final List<StackInput> inputs;
  private final StackFile[] files;
  private volatile StackFile shown;
  private int at;

  /** Begins to read the first. */
  public StackFiles(List<StackInput> inputs) {
    this.inputs = List.copyOf(inputs);
    files = new StackFile[inputs.size()];
    turn(0);
  }

  /** One that is being read already. */
  public StackFiles(StackFile file) {
    inputs = List.of();
    files = new StackFile[] {file};
    shown = file;
  }

  @Override
  public synchronized void turn(int by) {
    at = Math.floorMod(at + by, files.length);
    if (files[at] == null) {
      files[at] = new StackFile(inputs.get(at), at + 1, files.length);
    }
    shown = files[at];
  }

  /** The one that is shown. */
  public StackFile shown() {
    return shown;
  }

  @Override
  public CompletableFuture<Snapshot> snapshot(GraphQuery query) {
    return shown.snapshot(query);
  }

  @Override
  public CompletableFuture<List<ProcessRow>> processes(long windowNanos, StateSet states) {
    return shown.processes(windowNanos, states);
  }

  @Override
  public CompletableFuture<List<ProcessRow>> comms(long windowNanos, StateSet states) {
    return shown.comms(windowNanos, states);
  }

  @Override
  public CompletableFuture<Page> page(PageQuery query) {
    return shown.page(query);
  }

  @Override
  public CompletableFuture<Source> source(long windowNanos, StateSet states, long node) {
    return shown.source(windowNanos, states, node);
  }

  @Override
  public void shape(Shape shape) {
    shown.shape(shape);
  }

  @Override
  public void freeze() {
    shown.freeze();
  }

  @Override
  public void thaw() {
    shown.thaw();
  }

  @Override
  public void restart() {
    shown.restart();
  }

  @Override
  public synchronized void close() {
    for (StackFile file : files) {
      if (file != null) {
        file.close();
      }
    }
    inputs.forEach(StackInput::close);
  }
}

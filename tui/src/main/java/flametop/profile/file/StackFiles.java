package flametop.profile.file;

import flametop.profile.answer.FileSource;
import flametop.profile.answer.GraphQuery;
import flametop.profile.answer.Page;
import flametop.profile.answer.PageQuery;
import flametop.profile.answer.ProcessRow;
import flametop.profile.answer.SandwichQuery;
import flametop.profile.answer.Shape;
import flametop.profile.answer.Snapshot;
import flametop.profile.answer.SplitAnswer;
import flametop.profile.answer.StateSet;
import flametop.profile.tree.HeldStacks;
import flametop.profile.tree.NodePath;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Several files of stacks, of which one is shown, or two beside each other. A file is read when it
 * is first shown. A question may name a node of another file: the node of the same path is meant.
 */
public final class StackFiles implements FileSource, AutoCloseable {
  /** Opens a file by its path; why it cannot is a line for people. */
  @FunctionalInterface
  public interface Opener {
    StackInput open(Path path) throws IOException;
  }

  private final List<StackInput> inputs;

  /** Where the inputs come from; empty if they cannot be read again. */
  private final List<Path> paths;

  private final Opener opener;
  private final StackFile.Choice choice;
  private final StackFile[] files;
  private volatile StackFile shown;
  private int at;

  /** The file that was shown with another sample type before; null if none was. */
  private @Nullable StackFile left;

  /** Begins to read the first file; the choice holds for each. */
  public StackFiles(List<StackInput> inputs, StackFile.Choice choice) {
    this(inputs, List.of(), path -> inputs.get(0), choice);
  }

  private StackFiles(
      List<StackInput> inputs, List<Path> paths, Opener opener, StackFile.Choice choice) {
    this.choice = choice;
    this.paths = paths;
    this.opener = opener;
    this.inputs = new ArrayList<>(inputs);
    files = new StackFile[inputs.size()];
    turn(0);
  }

  /**
   * Opens all files, and begins to read the first. Those that are no pipes can be read again for
   * another sample type.
   *
   * @param choice holds for each file
   * @throws IOException with a line for people, if one cannot be opened
   */
  public static StackFiles open(List<Path> paths, Opener opener, StackFile.Choice choice)
      throws IOException {
    return new StackFiles(inputs(paths, opener), List.copyOf(paths), opener, choice);
  }

  /**
   * Opens all files, and reads none yet.
   *
   * @throws IOException with a line for people, if one cannot be opened
   */
  public static List<StackInput> inputs(List<Path> paths, Opener opener) throws IOException {
    List<StackInput> inputs = new ArrayList<>();
    for (Path path : paths) {
      inputs.add(opener.open(path));
    }
    return inputs;
  }

  /** One file, which is being read already. */
  public StackFiles(StackFile file) {
    inputs = List.of();
    paths = List.of();
    opener = path -> StackInput.open(path);
    choice = StackFile.Choice.NONE;
    files = new StackFile[] {file};
    shown = file;
  }

  @Override
  public synchronized void turn(int by) {
    at = Math.floorMod(at + by, files.length);
    shown = file(at);
  }

  private synchronized StackFile file(int index) {
    if (files[index] == null) {
      files[index] = file(index, choice.sampleType());
    }
    return files[index];
  }

  private StackFile file(int index, String sampleType) {
    boolean again = index < paths.size() && Files.isRegularFile(paths.get(index));
    return new StackFile(
        inputs.get(index),
        index + 1,
        files.length,
        new StackFile.Choice(choice.comm(), sampleType, again, null));
  }

  @Override
  public synchronized void sampleType(String name) {
    if (at >= paths.size()) {
      return;
    }
    try {
      inputs.set(at, opener.open(paths.get(at)));
    } catch (IOException e) {
      inputs.set(at, StackInput.failed(inputs.get(at).name(), e));
    }
    if (left != null) {
      left.close();
    }
    // Questions may be under way to it.
    left = files[at];
    left.stop();
    files[at] = file(at, name);
    shown = files[at];
  }

  /** The file that is shown. */
  public StackFile shown() {
    return shown;
  }

  /** The stacks of the shown file, below a node. */
  public CompletableFuture<HeldStacks> held(long zoom) {
    StackFile of = shown;
    return paths(of, zoom).thenCompose(paths -> of.held(zoom, paths));
  }

  @Override
  public CompletableFuture<Snapshot> snapshot(GraphQuery query) {
    return snapshot(shown, query);
  }

  private CompletableFuture<Snapshot> snapshot(StackFile of, GraphQuery query) {
    return paths(of, query.zoom(), query.selected())
        .thenCompose(paths -> of.snapshot(query, paths));
  }

  private CompletableFuture<@Nullable Page> page(StackFile of, @Nullable PageQuery query) {
    if (query == null) {
      return CompletableFuture.completedFuture(null);
    }
    long[] nodes =
        query instanceof SandwichQuery q
            ? new long[] {q.callers(), q.callees(), q.selected()}
            : new long[0];
    return paths(of, nodes).thenCompose(paths -> of.page(query, paths));
  }

  /** The paths of those nodes that are not of this file, by which this file finds them. */
  private synchronized CompletableFuture<List<NodePath>> paths(StackFile of, long... nodes) {
    for (StackFile file : files) {
      for (long node : nodes) {
        if (file != null && file != of && node != GraphQuery.ROOT && file.owns(node)) {
          return file.paths(nodes);
        }
      }
    }
    return CompletableFuture.completedFuture(List.of());
  }

  private CompletableFuture<Page> beside(StackFile of, SplitAnswer.Query query) {
    StackFile other = file(query.file() - 1);
    other.shape(query.shape());
    CompletableFuture<Page> own = page(of, query.page());
    CompletableFuture<Page> others = page(other, query.page());
    return snapshot(other, query.graph())
        .thenCompose(
            snapshot -> own.thenCombine(others, (page, b) -> new SplitAnswer(page, snapshot, b)));
  }

  @Override
  public CompletableFuture<List<ProcessRow>> rows(ProcessRow.By by, StateSet states) {
    return shown.rows(by, states);
  }

  @Override
  public CompletableFuture<Page> page(PageQuery query) {
    return query instanceof SplitAnswer.Query q ? beside(shown, q) : page(shown, query);
  }

  @Override
  public void shape(Shape shape) {
    shown.shape(shape);
  }

  @Override
  public synchronized void close() {
    for (StackFile file : files) {
      if (file != null) {
        file.close();
      }
    }
    if (left != null) {
      left.close();
    }
    inputs.forEach(StackInput::close);
  }
}

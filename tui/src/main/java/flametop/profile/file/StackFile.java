package flametop.profile.file;

import flametop.profile.answer.GraphQuery;
import flametop.profile.answer.Measure;
import flametop.profile.answer.Page;
import flametop.profile.answer.PageQuery;
import flametop.profile.answer.ProcessRow;
import flametop.profile.answer.RootOrder;
import flametop.profile.answer.Sandwich;
import flametop.profile.answer.SandwichQuery;
import flametop.profile.answer.Shape;
import flametop.profile.answer.Snapshot;
import flametop.profile.answer.SnapshotSource;
import flametop.profile.answer.StateSet;
import flametop.profile.answer.TopQuery;
import flametop.profile.answer.TopReport;
import flametop.profile.format.SampleLog;
import flametop.profile.tree.Graph;
import flametop.profile.tree.GraphPicture;
import flametop.profile.tree.Graphs;
import flametop.profile.tree.HeldStacks;
import flametop.profile.tree.NodePath;
import flametop.profile.tree.Noise;
import flametop.profile.tree.Paths;
import flametop.profile.tree.Worker;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A file of folded stacks, or two files that are compared, which answer the questions of the
 * screen. An answer has the stacks that were read by then.
 *
 * <p>One thread reads and unpacks, another folds and answers. Questions and pieces of the file
 * stand in one queue, so the tree needs no lock, and a question waits for a few pieces at most.
 */
public final class StackFile implements SnapshotSource, AutoCloseable {
  private final List<StackInput> inputs;
  private final int number;
  private final int files;

  private final Choice choice;
  private final long opened = System.nanoTime();
  private final Worker worker;
  private volatile boolean closed;

  /** Which of the inputs is being read. */
  private volatile int reads;

  // Owned by the folding thread.
  private final FileStore store;
  private final StackNames names;
  private final StackTree tree;
  private final List<StackLines> lines = new ArrayList<>();

  /** Why each input is not read to its end; null if it is. */
  private final @Nullable String[] troubles;

  /** Completes once nothing more is read, for whatever reason. */
  private final CompletableFuture<@Nullable Void> ended = new CompletableFuture<>();

  private final Graphs<FileFold> graphs;

  /** The shape that is asked for, without the states. */
  private Shape wanted = Shape.PLAIN;

  private StateSet states = StateSet.ALL;

  /** Whether anybody asked for a picture: else nothing is folded while the files are read. */
  private boolean isWatched;

  /** {@link #looks} of the tree that the graphs show. */
  private int looks;

  private boolean done;

  /**
   * Begins to read a file; if its lines have two numbers, the first is what the second is compared
   * with.
   *
   * @param number of it among {@code files}, from 1
   */
  public StackFile(StackInput input, int number, int files, Choice choice) {
    this(List.of(input), false, number, files, choice);
  }

  /** Begins to read two files of which the second is compared with the first. */
  public static StackFile compared(StackInput before, StackInput now, Choice choice) {
    return new StackFile(List.of(before, now), true, 1, 1, choice);
  }

  /** Begins to read files whose stacks are added up. */
  public static StackFile added(List<StackInput> inputs, Choice choice) {
    return new StackFile(inputs, false, 1, 1, choice);
  }

  private StackFile(List<StackInput> inputs, boolean two, int number, int files, Choice choice) {
    this.choice = choice;
    this.inputs = inputs;
    this.number = number;
    this.files = files;
    troubles = new String[inputs.size()];
    store = new FileStore(number, files);
    names = store.names();
    tree = store.whole();
    tree.ask(choice.comm);
    graphs = new Graphs<>(store, Shape.PLAIN);
    if (two) {
      tree.compare();
      lines.add(new StackLines(names, tree, StackTree.BEFORE, false));
    }
    while (lines.size() < inputs.size()) {
      lines.add(new StackLines(names, tree, StackTree.NOW, inputs.size() == 1));
    }
    looks = looks();
    worker =
        new Worker(
            "file",
            this::isDue,
            this::slice,
            t -> t instanceof RuntimeException || t instanceof OutOfMemoryError,
            () -> ended.complete(null));
    Thread reader = new Thread(this::read, "read");
    reader.setDaemon(true);
    reader.start();
  }

  private Graph<FileFold> graph() {
    return graphs.graph();
  }

  /**
   * What a user says of files that the files may not say.
   *
   * @param comm whether the outermost frames are comms; null: as the files say
   * @param sampleType the type of values to show of a profile that has several; empty: what the
   *     profile prefers
   * @param rereads whether the file can be read again, for another type
   * @param samples takes what the graph of a profile does not show; null: nobody wants that
   */
  public record Choice(
      @Nullable Boolean comm, String sampleType, boolean rereads, @Nullable SampleLog samples) {
    /** Nothing is said. */
    public static final Choice NONE = new Choice(null, "");

    public Choice(@Nullable Boolean comm, String sampleType) {
      this(comm, sampleType, false, null);
    }

    /** Only this is said: whether the outermost frames are comms. */
    public static Choice comm(boolean is) {
      return new Choice(is, "");
    }
  }

  // The reading thread.

  private void read() {
    StackReader reader = new StackReader(worker::enqueue, () -> closed);
    try {
      for (int i = 0; i < inputs.size(); i++) {
        int at = i;
        StackInput input = inputs.get(i);
        StackLines of = lines.get(i);
        reads = i;
        try (input) {
          reader.read(
              input,
              of,
              new ProfileStacks(
                  names,
                  tree,
                  of.column,
                  of.tally(),
                  choice.sampleType,
                  worker::enqueue,
                  () -> closed,
                  choice.samples));
          if (!closed && input.hasShrunk()) {
            worker.enqueue(() -> troubles[at] = "it became shorter while it was read");
          }
        } catch (IOException e) {
          worker.enqueue(() -> troubles[at] = StackInput.reason(e));
        }
      }
      worker.enqueue(this::end);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException | Error e) {
      worker.fail(e);
    }
  }

  // The folding thread.

  private boolean isDue() {
    if (isWatched) {
      look();
    }
    return isWatched && graphs.isDue();
  }

  /** Somebody looks at the graphs, which are kept up to date from now on. */
  private void look() {
    isWatched = true;
    if (looks != looks()) {
      looks = looks();
      graph().restart(Shape.PLAIN);
      graphs.endSandwich();
    }
  }

  /** Another number whenever a plain graph has other outermost frames than before. */
  private int looks() {
    return 2 * tree.flips() + (names.owners().areDetailed() ? 1 : 0);
  }

  private void slice() {
    boolean unused = graphs.slice(System.nanoTime() + Worker.SLICE_NANOS);
  }

  private void end() {
    done = true;
    tree.trim();
    // Reading leaves garbage, and nothing is made from now on that would have it collected.
    System.gc();
    ended.complete(null);
  }

  @Override
  public CompletableFuture<Snapshot> snapshot(GraphQuery query) {
    return worker.request(() -> picture(query));
  }

  /** The same where nodes may be of another file, which have these paths there. */
  CompletableFuture<Snapshot> snapshot(GraphQuery query, List<NodePath> strangers) {
    return worker.request(
        () -> picture(query.at(own(query.zoom(), strangers), own(query.selected(), strangers))));
  }

  /** The paths of those nodes that are of this file, by which another file finds them. */
  CompletableFuture<List<NodePath>> paths(long... numbers) {
    return worker.request(
        () -> {
          List<NodePath> paths = new ArrayList<>(numbers.length);
          for (long number : numbers) {
            for (NodePath.Of of : NodePath.Of.values()) {
              Graph<FileFold> graph = graphs.of(of);
              Paths in = graph == null ? null : graph.pathsOf(number);
              if (number != GraphQuery.ROOT && in != null) {
                paths.add(store.path(in, number, of));
              }
            }
          }
          return paths;
        });
  }

  /** Whether a node of one of the files is of this file. */
  boolean owns(long node) {
    return node == GraphQuery.ROOT || (int) (node >>> 32) % files == number % files;
  }

  /** The node of this file with the path of a stranger; the number itself if it is none. */
  private long own(long number, List<NodePath> strangers) {
    for (NodePath path : strangers) {
      Graph<FileFold> in = graphs.of(path.graph());
      if (path.number() == number && in != null) {
        in.shown().refresh(System.nanoTime());
        return store.find(path, in.shown().tree());
      }
    }
    return number;
  }

  /** Waits until all is read; then {@link #held} has all stacks. */
  public CompletableFuture<Snapshot.Reading> whole() {
    return ended.thenCompose(none -> worker.request(this::progress));
  }

  private Snapshot picture(GraphQuery query) {
    states(query.states());
    graphs.endUnasked();
    graph().shown().refresh(System.nanoTime());
    GraphPicture picture = graph().picture(query);
    return new Snapshot(
        picture.slice(),
        picture.total(),
        picture.selection(),
        picture.search(),
        graph().shown().tree().shape().reversed(),
        graph().isRefolding(),
        new Snapshot.File(progress(), System.nanoTime() - opened),
        notices());
  }

  private Sandwich picture(SandwichQuery asked, List<NodePath> strangers) {
    states(asked.states());
    graphs.ask(asked);
    SandwichQuery query =
        asked.at(
            own(asked.callers(), strangers),
            own(asked.callees(), strangers),
            own(asked.selected(), strangers));
    return graphs.sandwich(query, 0);
  }

  /** How far the files are read. */
  public CompletableFuture<Snapshot.Reading> reading() {
    return worker.request(this::progress);
  }

  private Snapshot.Reading progress() {
    long bytes = 0;
    long size = 0;
    for (StackInput input : inputs) {
      bytes += input.bytes();
      size = size < 0 || input.size() < 0 ? -1 : size + input.size();
    }
    StackTally now = lines.get(lines.size() - 1).tally();
    String between = tree.hasBaseline() ? " → " : " + ";
    return new Snapshot.Reading(
        inputs.stream().map(StackInput::name).collect(Collectors.joining(between)),
        number,
        files,
        bytes,
        size,
        done,
        Measure.of(now.unit().isEmpty() ? "samples" : now.unit(), graph().shown().nodes().parts()),
        lines.stream().mapToLong(of -> of.tally().stacks()).sum(),
        done ? "" : inputs.get(reads).waits(),
        folded(),
        tree.isComm(),
        choice.comm == null ? tree.saidComm() : choice.comm,
        names.owners().says(choice.rereads && now.measures().size() > 1),
        now.measures().size() > 1 ? now.measures() : List.of(),
        now.measure());
  }

  private double folded() {
    return graph().isRefolding()
        ? graph().share()
        : graphs.isSandwichBehind()
            ? graphs.halves().stream().mapToDouble(Graph::share).average().orElse(1)
            : 1;
  }

  /** The lines for people about stacks that were left out of the files. */
  public CompletableFuture<List<String>> complaints() {
    return worker.request(this::notices);
  }

  private List<String> notices() {
    FileNotices notices = new FileNotices(names, inputs.size() > 1, done);
    for (int i = 0; i < lines.size(); i++) {
      notices.add(inputs.get(i), lines.get(i), troubles[i], isWatched && choice.rereads);
    }
    graphs.all().forEach(of -> notices.refused(of.refused()));
    return notices.lines();
  }

  @Override
  public CompletableFuture<List<ProcessRow>> rows(ProcessRow.By by, StateSet states) {
    return worker.request(
        () ->
            by == ProcessRow.By.SAMPLE_TYPE
                ? OwnerRows.ofTypes(lines.get(lines.size() - 1).tally().measures())
                : OwnerRows.of(tree, names, by));
  }

  /**
   * All stacks take this shape. {@link Shape.Comms} means the outermost frame.
   *
   * @throws IllegalArgumentException for a step that folded stacks do not {@linkplain #knows know}
   */
  @Override
  public void shape(Shape shape) {
    for (Shape.Step step : shape.steps()) {
      if (!knows(step)) {
        throw new IllegalArgumentException("folded stacks do not know: " + step.text());
      }
    }
    worker.enqueue(
        () -> {
          Shape.Comm asked = shape.last(Shape.Comm.class);
          tree.ask(asked == null ? choice.comm : Boolean.valueOf(asked.is()));
          look();
          wanted = shape.without(Shape.Comm.class);
          graph().shape(inStates());
        });
  }

  /** The shape that is asked for, of the stacks in the states that are asked for. */
  private Shape inStates() {
    boolean all = states.equals(StateSet.ALL);
    boolean tells = names.owners().haveStates();
    return all || !tells ? wanted : wanted.plus(new Shape.States(states));
  }

  private void states(StateSet asked) {
    look();
    if (!asked.equals(states)) {
      states = asked;
      graph().shape(inStates());
    }
  }

  /** Whether folded stacks know what a step asks for: they have no CPUs, states, users, ids. */
  public static boolean knows(Shape.Step step) {
    return step instanceof Shape.Group g
        ? g.by() != RootOrder.CPU && g.by() != RootOrder.ANCESTOR
        : !(step instanceof Shape.Ancestors
            || step instanceof Shape.Kinds
            || step instanceof Shape.Users
            || step instanceof Shape.Cpus);
  }

  /** Answers with a {@code TopReport} or a {@link Sandwich}; folded stacks have no other page. */
  @Override
  public CompletableFuture<Page> page(PageQuery query) {
    return page(query, List.of());
  }

  /** The same where nodes may be of another file, which have these paths there. */
  CompletableFuture<Page> page(PageQuery query, List<NodePath> strangers) {
    return worker.request(
        () -> {
          if (query instanceof TopQuery q) {
            return functions(q);
          }
          if (query instanceof SandwichQuery q) {
            return picture(q, strangers);
          }
          throw new UnsupportedOperationException("folded stacks have no page for " + query);
        });
  }

  /**
   * The functions; null while the graph is still the one of callers, in which a function's own part
   * is not below the function.
   */
  private @Nullable TopReport functions(TopQuery query) {
    states(query.states());
    FileFold shown = graph().shown();
    shown.refresh(System.nanoTime());
    return shown.tree().shape().reversed() ? null : graph().top(query, Noise.NONE);
  }

  /**
   * The stacks below a node, with both numbers of each where files are compared. The answer comes
   * once the graph has its shape.
   */
  public CompletableFuture<HeldStacks> held(long zoom) {
    return held(zoom, List.of());
  }

  /** The same where the node may be of another file, in which the node has this path. */
  CompletableFuture<HeldStacks> held(long zoom, List<NodePath> strangers) {
    // Asks again and again, so that other questions are answered meanwhile.
    return worker
        .request(() -> heldNow(zoom, strangers))
        .thenCompose(
            stacks ->
                stacks == null ? held(zoom, strangers) : CompletableFuture.completedFuture(stacks));
  }

  /** The stacks below a node; null until the graph has its shape. */
  private @Nullable HeldStacks heldNow(long zoom, List<NodePath> strangers) {
    if (zoom == GraphQuery.ROOT && inStates().equals(Shape.PLAIN)) {
      // Here each stack says whose it is.
      return tree.held(0, names, Shape.PLAIN, List.of());
    }
    look();
    FileFold shown = graph().shown();
    return graph().hasNext() || !shown.isMade()
        ? null
        : shown.held(graph().resolve(own(zoom, strangers)));
  }

  /**
   * The use of the stacks that were read.
   *
   * @param counts each file has a number that is more than 0
   * @param whole each could be read to its end
   * @param oneUnit all count in the same unit, as far as they say one
   * @param before sum of all stacks, with the decimals of {@link HeldStacks}
   * @param now like {@code before}
   */
  public record Use(boolean counts, boolean whole, boolean oneUnit, long before, long now) {}

  /** The types of values of the files, the one that is shown first; none of folded stacks. */
  public CompletableFuture<List<String>> sampleTypes() {
    return worker.request(
        () -> lines.stream().flatMap(of -> of.tally().chosenFirst().stream()).distinct().toList());
  }

  /** What the stacks that were read are good for. */
  public CompletableFuture<Use> use() {
    return worker.request(
        () ->
            new Use(
                lines.stream().allMatch(of -> of.tally().counts()),
                Stream.of(troubles).allMatch(Objects::isNull),
                lines.stream().map(of -> of.tally().unit()).distinct().count() < 2,
                tree.total(StackTree.BEFORE),
                tree.total(StackTree.NOW)));
  }

  /** Reads no more; questions are answered all the same. */
  void stop() {
    closed = true;
  }

  @Override
  public void close() {
    closed = true;
    worker.close();
    ended.complete(null);
    for (StackInput input : inputs) {
      input.close();
    }
  }
}

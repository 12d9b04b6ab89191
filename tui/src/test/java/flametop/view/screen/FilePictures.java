package flametop.view.screen;

import flametop.Copy;
import flametop.profile.answer.Function;
import flametop.profile.answer.GraphSlice;
import flametop.profile.answer.Measure;
import flametop.profile.answer.Moment;
import flametop.profile.answer.NodeKind;
import flametop.profile.answer.Page;
import flametop.profile.answer.PageQuery;
import flametop.profile.answer.ProcessRow;
import flametop.profile.answer.Sandwich;
import flametop.profile.answer.Shape;
import flametop.profile.answer.Snapshot;
import flametop.profile.answer.StateSet;
import flametop.profile.file.StackFile;
import flametop.profile.file.StackInput;
import flametop.view.base.Origin;
import flametop.view.base.View;
import flametop.view.layout.Scene;
import flametop.view.screen.Pictures.Frame;
import flametop.view.state.Keymap;
import flametop.view.state.PaintOptions;
import flametop.view.state.PickList;
import flametop.view.state.Questions;
import flametop.view.state.Split;
import flametop.view.state.ViewState;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Frames of files of folded stacks, as they are read. */
public final class FilePictures {
  private static final Path BEFORE = Path.of("src/test/resources/flametop/stacks/before.folded");
  private static final Path NOW = Path.of("src/test/resources/flametop/stacks/now.folded");

  private static final Path OWNERS = Path.of("src/test/resources/flametop/stacks/two.perf");

  private FilePictures() {}

  static List<Frame> golden() {
    List<Frame> frames = new ArrayList<>();
    try (StackFile one = new StackFile(StackInput.open(NOW), 2, 3, StackFile.Choice.comm(true));
        StackFile two =
            StackFile.compared(
                StackInput.open(BEFORE), StackInput.open(NOW), StackFile.Choice.comm(true))) {
      for (int[] size : new int[][] {{40, 10}, {80, 24}, {200, 60}}) {
        String of = "-" + size[0] + "x" + size[1];
        frames.add(frame("file" + of, one, "deflate|Brotli", size, false));
        frames.add(frame("diff" + of, two, "com.shop.Price.of", size, false));
        frames.add(view("file-callers" + of, one, View.CALLERS, size, false));
        frames.add(view("file-sandwich" + of, one, View.SANDWICH, size, false));
        frames.add(view("file-top" + of, one, View.TOP, size, false));
      }
      frames.add(frame("diff-gone-120x30", two, "deflate", new int[] {120, 30}, false));
      frames.add(frame("diff-plain-80x24", two, "com.shop.Price.of", new int[] {80, 24}, true));
      int[] usual = {80, 24};
      frames.add(view("diff-sandwich-80x24", two, View.SANDWICH, usual, false));
      frames.add(view("diff-top-80x24", two, View.TOP, usual, false));
      frames.add(view("file-top-plain-80x24", one, View.TOP, usual, true));
      ViewState help = state(View.TOP).withHelp(true);
      frames.add(new Frame("file-top-help-80x24", scene(one, help, usual, false)));
      frames.add(new Frame("file-help-80x24", scene(one, state().withHelp(true), usual, false)));
      PickList outermost =
          PickList.open(PickList.Of.COMMS)
              .withRows(one.rows(ProcessRow.By.COMM, StateSet.ALL).get())
              .moved(1);
      for (int[] size : new int[][] {{40, 10}, {80, 24}}) {
        Scene scene = scene(one, state().withPick(outermost), size, false);
        frames.add(new Frame("file-pick-" + size[0] + "x" + size[1], scene));
      }
      Scene opening = Scene.of(Snapshot.OPENING, state(), 80, 24, options(false));
      frames.add(new Frame("file-opening-80x24", opening));
      frames.add(turning(one));
      owners(frames);
      frames.add(waiting());
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
    return frames;
  }

  /** A profile that says processes and threads, and has two types of values. */
  private static void owners(List<Frame> frames) throws Exception {
    StackFile.Choice choice = new StackFile.Choice(null, "", true, null);
    try (StackFile file = new StackFile(StackInput.open(OWNERS), 1, 1, choice)) {
      file.whole().get();
      PickList processes =
          PickList.open(PickList.Of.PROCESSES)
              .withRows(file.rows(ProcessRow.By.PROCESS, StateSet.ALL).get());
      PickList types =
          PickList.open(PickList.Of.SAMPLE_TYPES)
              .withRows(file.rows(ProcessRow.By.SAMPLE_TYPE, StateSet.ALL).get());
      Map<String, ViewState> states =
          Map.of(
              "", state(),
              "-pid", state().withPick(processes.moved(1)),
              "-sample-type", state().withPick(types.moved(1)),
              "-help", state().withHelp(true));
      for (String name : states.keySet()) {
        Scene scene = scene(file, states.get(name), new int[] {80, 24}, false);
        frames.add(new Frame("file-owners" + name + "-80x24", scene));
      }
    }
  }

  private static Frame turning(StackFile file) throws Exception {
    Snapshot of = snapshot(file, state(), 80);
    Snapshot.Reading read =
        Copy.of(
            reading("now.folded"),
            "bytes",
            9,
            "size",
            9,
            "done",
            true,
            "stacks",
            12,
            "folded",
            0.43);
    Snapshot snapshot = with(of, read);
    ViewState state = state().withView(View.CALLERS);
    return Pictures.frame("file-turning-80x24", snapshot, state, options(false));
  }

  private static Frame waiting() throws Exception {
    try (StackFile empty =
        new StackFile(StackInput.open(Path.of("/dev/null")), 1, 1, StackFile.Choice.comm(true))) {
      String waits = "waiting for a writer of stacks.fifo";
      Snapshot.Reading reading = Copy.of(reading("stacks.fifo"), "waits", waits);
      Snapshot snapshot = with(snapshot(empty, state(), 80), reading);
      return Pictures.frame("file-waiting-80x24", snapshot, state(), options(false));
    }
  }

  /** Nothing is read of a pipe. */
  private static Snapshot.Reading reading(String name) {
    return new Snapshot.Reading(
        name, 1, 1, 0, -1, false, Measure.SAMPLES, 0, "", 1, true, true, Set.of(), List.of(), 0);
  }

  private static Snapshot with(Snapshot s, Snapshot.Reading reading) {
    return Copy.of(s, "context", new Snapshot.File(reading, 0), "notices", List.of());
  }

  /** A file and two that are compared, named so. */
  static List<Frame> inEveryView(int columns, int rows, boolean plain) {
    int[] size = {columns, rows};
    try (StackFile one = new StackFile(StackInput.open(NOW), 2, 3, StackFile.Choice.comm(true));
        StackFile two =
            StackFile.compared(
                StackInput.open(BEFORE), StackInput.open(NOW), StackFile.Choice.comm(true))) {
      List<Frame> frames = new ArrayList<>();
      if (columns >= Split.MIN_COLUMNS) {
        frames.add(SplitPictures.graph("split", size, plain));
      }
      frames.addAll(
          List.of(
              frame("file", one, "deflate|Brotli", size, plain),
              frame("diff", two, "com.shop.Price.of", size, plain),
              view("file-callers", one, View.CALLERS, size, plain),
              view("file-sandwich", one, View.SANDWICH, size, plain),
              view("file-top", one, View.TOP, size, plain),
              view("diff-sandwich", two, View.SANDWICH, size, plain),
              view("diff-top", two, View.TOP, size, plain)));
      return frames;
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  private static Frame frame(
      String name, StackFile file, String selected, int[] size, boolean plain) throws Exception {
    return new Frame(name, scene(file, selected, size, plain));
  }

  /** A file with a frame selected. */
  public static Scene scene(int columns, int rows) {
    try (StackFile file = new StackFile(StackInput.open(NOW), 2, 3, StackFile.Choice.comm(true))) {
      return scene(file, "deflate|Brotli", new int[] {columns, rows}, false);
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  private static Scene scene(StackFile file, String selected, int[] size, boolean plain)
      throws Exception {
    ViewState state = state();
    GraphSlice all = snapshot(file, state, size[0]).graph();
    int index = 0;
    while (!all.name()[index].matches(".*(" + selected + ").*")) {
      index++;
    }
    List<Long> trail = new ArrayList<>();
    for (int i = index; i >= 0; i = all.parent()[i]) {
      trail.add(0, all.node()[i]);
    }
    return scene(file, state.withSelected(all.node()[index], trail), size, plain);
  }

  /** One that is not the graph; the sandwich is of the loop of nginx. */
  private static Frame view(String name, StackFile file, View view, int[] size, boolean plain)
      throws Exception {
    return new Frame(name, scene(file, state(view), size, plain));
  }

  private static ViewState state(View view) {
    Function loop = new Function(NodeKind.USER, "", "ngx_process_events");
    return view == View.SANDWICH ? state().withSandwich(loop) : state().withView(view);
  }

  /** What comes once the file has taken the shape that the state asks for. */
  static Scene scene(StackFile file, ViewState state, int[] size, boolean plain) throws Exception {
    file.whole().get();
    file.shape(state.shape());
    PageQuery query = Questions.page(state, size[0]);
    Snapshot snapshot;
    Page page;
    do {
      page = query == null ? null : file.page(query).get();
      snapshot = file.snapshot(Questions.picture(state, size[0])).get();
    } while (snapshot.refolding() || page instanceof Sandwich s && s.refolding());
    return Scene.of(snapshot, page, state, size[0], size[1], options(plain));
  }

  static ViewState state() {
    return ViewState.initial(StateSet.ALL, Shape.PLAIN, 0, 0, 250_000_000L).withMoment(Moment.ALL);
  }

  static PaintOptions options(boolean plain) {
    return new PaintOptions(
        "",
        NOW.toString(),
        Origin.FILE,
        false,
        plain,
        Integer::toString,
        Keymap.DEFAULT,
        List.of());
  }

  private static Snapshot snapshot(StackFile file, ViewState state, int columns) throws Exception {
    file.whole().get();
    file.shape(state.shape());
    return file.snapshot(Questions.picture(state, columns)).get();
  }
}

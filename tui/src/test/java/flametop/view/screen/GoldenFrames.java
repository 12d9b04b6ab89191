package flametop.view.screen;

import static flametop.view.screen.Pictures.READ_QUERY;
import static flametop.view.screen.Pictures.SECOND;
import static flametop.view.screen.Pictures.frame;
import static flametop.view.screen.Pictures.frozen;
import static flametop.view.screen.Pictures.options;
import static flametop.view.screen.Pictures.selecting;
import static flametop.view.screen.Pictures.size;
import static flametop.view.screen.Pictures.snapshot;
import static flametop.view.screen.Pictures.state;

import flametop.profile.answer.CpuReport;
import flametop.profile.answer.CpuRow;
import flametop.profile.answer.GraphQuery;
import flametop.profile.answer.Page;
import flametop.profile.answer.QualityReport;
import flametop.profile.answer.Shape;
import flametop.profile.answer.Snapshot;
import flametop.profile.answer.StateSet;
import flametop.profile.answer.TimeRange;
import flametop.sampler.Budget;
import flametop.view.base.Colouring;
import flametop.view.base.Key;
import flametop.view.base.Prompt;
import flametop.view.base.View;
import flametop.view.keys.PickKeys;
import flametop.view.layout.Geometry;
import flametop.view.layout.Scene;
import flametop.view.screen.Pictures.Frame;
import flametop.view.state.FormatList;
import flametop.view.state.PaintOptions;
import flametop.view.state.PickList;
import flametop.view.state.Search;
import flametop.view.state.TimeChoice;
import flametop.view.state.ViewState;
import flametop.view.state.Zoom;
import flametop.view.table.CpusTable;
import flametop.view.table.QualityTable;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** The golden frames of the screen: sizes and moments. */
public final class GoldenFrames {
  private GoldenFrames() {}

  private static List<Frame> golden;

  private static List<Frame> paintGolden() {
    List<Frame> frames = new ArrayList<>();
    Tree server = Trees.server();
    ViewState selected = selecting(state(), server, READ_QUERY);
    for (String size : List.of("40x10", "80x24", "120x30", "160x40", "200x60")) {
      frames.add(frame("normal-" + size, server, selected));
    }
    Tree spinners = Trees.spinners();
    for (String size : new String[] {"40x10", "80x24", "120x40", "200x60"}) {
      frames.add(frame("queued-" + size, spinners, state()));
    }
    ViewState inner = selecting(state(), spinners, "spinner", "main", "work");
    frames.add(frame("queued-selected-80x24", spinners, inner));
    frames.add(frame("queued-by-state-80x24", spinners, inner.withColouring(Colouring.STATE)));
    for (boolean plain : new boolean[] {false, true}) {
      String name = plain ? "queued-plain-80x24" : "queued-ascii-80x24";
      Snapshot snapshot = snapshot(spinners, inner, 80);
      frames.add(frame(name, snapshot, inner, options(!plain, plain)));
    }
    Tree guesses = Trees.guesses();
    ViewState guess = selecting(state(), guesses, "java", "os::javaTimeNanos");
    for (String size : new String[] {"40x10", "80x24", "120x40"}) {
      frames.add(frame("guessed-" + size, guesses, state()));
    }
    frames.add(frame("guessed-selected-80x24", guesses, guess));
    for (boolean plain : new boolean[] {false, true}) {
      String name = plain ? "guessed-plain-80x24" : "guessed-ascii-80x24";
      Snapshot snapshot = snapshot(guesses, state(), 80);
      frames.add(frame(name, snapshot, state(), options(!plain, plain)));
    }
    frames.add(frame("opening-80x24", Snapshot.OPENING, state()));
    frames.add(frame("too-small-39x12", server, selected));
    frames.add(
        frame("frozen-80x24", server, frozen(selected).withMessage("frozen; space goes on")));
    frames.add(frame("flame-80x24", server, selected.flipped()));
    frames.add(frame("idle-80x24", Trees.idle(), state()));
    Tree quiet = new Tree();
    quiet.stack(20, "sshd", "main", "do_authenticated2", "__poll");
    frames.add(frame("almost-idle-80x24", quiet, state()));
    frames.add(frame("long-names-160x40", Trees.longNames(), state()));
    frames.add(frame("long-names-80x24", Trees.longNames(), state()));
    frames.add(frame("long-names-40x10", Trees.longNames(), state()));
    ViewState byState = selected.withStates(StateSet.ALL).withColouring(Colouring.STATE);
    frames.add(frame("by-state-120x30", server, byState));
    frames.add(frame("by-state-80x24", server, byState));
    frames.add(frame("hostile-80x24", Trees.hostile(), state()));
    frames.add(frame("search-120x30", server, selected.withSearch(Search.of("^process", true))));
    frames.add(frame("search-kept-80x24", server, selected.withSearch(Search.of("tcp_", false))));
    frames.add(frame("search-invalid-80x24", server, selected.withSearch(Search.of("a(b", true))));
    ViewState exporting = selected.withFormats(FormatList.CLOSED.opened(View.GRAPH).moved(1));
    for (String size : List.of("40x10", "80x24", "120x30")) {
      frames.add(frame("export-" + size, server, exporting));
    }
    FormatList typed = FormatList.CLOSED.opened(View.GRAPH).withPrompt(Prompt.of("screen"));
    frames.add(frame("export-typed-80x24", server, selected.withFormats(typed)));
    ViewState picking =
        selected.withPick(
            PickList.open(PickList.Of.PROCESSES).withRows(Reports.processes()).moved(2));
    frames.add(frame("pick-120x30", server, picking));
    ViewState groups =
        selected.withPick(PickList.open(PickList.Of.CGROUPS).withRows(Reports.cgroups()));
    frames.add(frame("pick-cgroup-80x24", server, groups));
    frames.add(frame("pick-cgroup-40x10", server, groups));
    PickList list = picking.pick();
    ViewState narrowed = picking.withPick(list.withPrompt(Prompt.of("postg")));
    frames.add(frame("pick-typed-80x24", server, narrowed));
    PickList unmatched = list.withPrompt(Prompt.of("zzz"));
    ViewState nothing = PickKeys.narrowed(selected, unmatched).state();
    frames.add(frame("pick-unmatched-80x24", server, nothing));
    frames.add(frame("help-80x24", server, selected.withHelp(true)));
    frames.add(frame("help-40x10", server, selected.withHelp(true)));
    frames.add(frame("help-last-80x24", server, selected.withHelpPage(1)));
    frames.add(frame("help-colours-80x24", server, selected.withHelpPage(2)));
    ViewState sourced = selected.withSource(Reports.source(selected.selected()));
    frames.add(frame("source-120x30", server, sourced));
    frames.add(frame("source-80x24", server, sourced));
    frames.add(frame("source-40x10", server, sourced));
    frames.add(frame("source-opening-80x24", server, selected.withSource(ViewState.NO_SOURCE)));
    ViewState zoomed = selected.zoomedTo(new Zoom(selected.selected(), null));
    frames.add(frame("zoomed-120x30", server, zoomed));
    Geometry boxes = Scene.of(snapshot(server, state(), 80), state(), 80, 24, options()).geometry;
    int run = 1;
    while (!boxes.isRun(run)) {
      run++;
    }
    ViewState opened = state().zoomedTo(new Zoom(GraphQuery.ROOT, boxes.siblings(run)));
    frames.add(frame("opened-run-80x24", server, opened));
    Tree deep = Trees.deep(90);
    String[] path = new String[40];
    path[0] = "python3";
    for (int i = 1; i < path.length; i++) {
      path[i] = "visit_" + i;
    }
    frames.add(frame("deep-80x24", deep, selecting(state(), deep, path)));
    frames.add(frame("deep-top-80x24", deep, state()));
    List<String> notice =
        List.of(
            "CPU clock refused (perf_event_paranoid=4): sysctl kernel.perf_event_paranoid=1; on-CPU stacks come from the passes");
    Snapshot noticed = snapshot(server, selected, 120, Reports.cpus(2), notice);
    frames.add(frame("notice-120x30", noticed, selected));
    Snapshot some = snapshot(server, selected, 160, Reports.cpus(12), List.of());
    frames.add(frame("cpus-12-160x40", some, selected));
    Snapshot many = snapshot(server, selected, 120, Reports.cpus(96), List.of());
    frames.add(frame("cpus-96-120x30", many, selected));
    cpuFrames(frames, server, selected);
    ViewState quality = state().withView(View.QUALITY);
    QualityTable table = QualityTable.TABLE;
    QualityReport.Row java = Reports.quality().processes().get(1);
    String mark = java.pid() + "/" + java.name();
    ViewState second = table.with(quality, table.place(quality).withMarked(mark, 1));
    ViewState modules = table.with(quality, table.place(quality).withNextKind(3));
    ViewState runtimes = table.with(modules, table.place(modules).withNextKind(3));
    ViewState frugal =
        quality.withPace(
            new Budget.Pace(2 * SECOND, false, 4, 24),
            "budget 5%: picture 2 s, passes 19→4, clock 99→24");
    frames.add(page("quality-80x24", second, Reports.quality()));
    frames.add(page("quality-200x60", second, Reports.quality()));
    frames.add(page("quality-modules-80x24", modules, Reports.quality()));
    frames.add(page("quality-modules-200x60", modules, Reports.quality()));
    frames.add(page("quality-runtimes-40x10", runtimes, Reports.quality()));
    frames.add(page("quality-runtimes-80x24", runtimes, Reports.quality()));
    frames.add(page("quality-runtimes-200x60", runtimes, Reports.quality()));
    frames.add(page("quality-runtimes-help-80x24", runtimes.withHelp(true), Reports.quality()));
    frames.add(page("quality-budget-80x24", frugal, Reports.quality()));
    frames.add(page("quality-budget-200x60", frugal, Reports.quality()));
    frames.add(page("quality-40x10", second, Reports.quality()));
    frames.add(page("quality-help-80x24", quality.withHelp(true), Reports.quality()));
    frames.add(frame("budget-80x24", server, frugal.withView(View.GRAPH)));
    PaintOptions ascii = options(/* ascii= */ true, /* plain= */ true);
    frames.add(frame("ascii-80x24", snapshot(server, selected, 80), selected, ascii));
    frames.add(
        frame("ascii-hostile-80x24", snapshot(Trees.hostile(), state(), 80), state(), ascii));
    PaintOptions coloured = options(/* ascii= */ true, /* plain= */ false);
    frames.add(frame("ascii-colours-80x24", snapshot(server, selected, 80), selected, coloured));
    PaintOptions plain = options(/* ascii= */ false, /* plain= */ true);
    frames.add(frame("plain-80x24", snapshot(server, selected, 80), selected, plain));
    frames.addAll(FilePictures.golden());
    frames.addAll(SplitPictures.golden());
    frames.addAll(TimePictures.golden());
    frames.addAll(HeatPictures.golden());
    frames.addAll(SandwichPictures.golden());
    frames.addAll(ShapePictures.golden());
    frames.addAll(TablePictures.golden());
    frames.addAll(EventPictures.golden());
    return frames;
  }

  private static void cpuFrames(List<Frame> frames, Tree server, ViewState selected) {
    ViewState cpus = state().withView(View.CPUS);
    ViewState idle = state().withView(View.IDLE);
    Scene opening = Scene.of(Snapshot.OPENING, Reports.bare(), cpus, 80, 24, options());
    ViewState sorted = Keys.press(opening, Key.of('s')).state().withoutMessage();
    ViewState marked =
        CpusTable.TABLE
            .with(sorted, CpusTable.TABLE.place(sorted).withMarked(5, 0))
            .withShape(Shape.of(new Shape.Cpus(Set.of(3, 5), false)));
    CpuReport many = new CpuReport(Reports.crowd(16), "", "", "");
    ViewState ranged =
        TimePictures.choosing(selected, new TimeRange(3_880 * SECOND, 3_930 * SECOND))
            .withTime(new TimeChoice(true, 3_900 * SECOND, null, null, false));
    for (String size : List.of("80x24", "200x60")) {
      for (int count : new int[] {2, 16, 128, 512}) {
        frames.add(panel("panel-" + count + "-" + size, selected, count, options()));
      }
      frames.add(page("cpus-view-" + size, cpus, many));
      frames.add(page("cpus-view-marked-" + size, marked, many));
      frames.add(page("cpus-view-bare-" + size, cpus, Reports.bare()));
      frames.add(page("idle-view-" + size, idle, many));
      frames.add(page("idle-view-bare-" + size, idle, Reports.bare()));
      frames.add(frame("time-" + size, server, ranged));
    }
    frames.add(page("cpus-view-40x10", marked, many));
    frames.add(page("idle-view-40x10", idle, many));
    frames.add(panel("panel-16-40x10", selected, 16, options()));
    frames.add(panel("panel-512-40x10", selected, 512, options()));
    PaintOptions plain = options(/* ascii= */ true, /* plain= */ true);
    frames.add(panel("panel-512-ascii-80x24", selected, 512, plain));
    frames.add(page("cpus-help-80x24", cpus.withHelp(true), many));
    frames.add(page("idle-help-80x24", idle.withHelp(true), many));
  }

  /** The server with so many CPUs. */
  private static Frame panel(String name, ViewState state, int cpus, PaintOptions options) {
    List<CpuRow> rows = Reports.crowd(cpus);
    Snapshot snapshot = snapshot(Trees.server(), state, size(name)[0], rows, List.of());
    return frame(name, snapshot, state, options);
  }

  /** A table. */
  private static Frame page(String name, ViewState state, Page page) {
    int[] size = size(name);
    List<CpuRow> cpus = page instanceof CpuReport report ? report.cpus() : Reports.cpus(2);
    Snapshot snapshot = snapshot(Trees.server(), state, size[0], cpus, List.of());
    return new Frame(name, Scene.of(snapshot, page, state, size[0], size[1], options()));
  }

  /** The golden set: sizes and moments. Painted once: many tests go through it. */
  public static synchronized List<Frame> golden() {
    if (golden == null) {
      golden = List.copyOf(paintGolden());
    }
    return golden;
  }
}

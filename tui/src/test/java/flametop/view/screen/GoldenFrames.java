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
import flametop.view.state.TablePlace;
import flametop.view.state.TimeChoice;
import flametop.view.state.ViewState;
import flametop.view.state.Zoom;
import flametop.view.table.CpusTable;
import flametop.view.table.QualityTable;
import java.util.ArrayList;
import java.util.Comparator;
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
    int[][] sizes = {{40, 10}, {80, 24}, {120, 30}, {160, 40}, {200, 60}};
    for (int[] size : sizes) {
      frames.add(frame("normal-" + size[0] + "x" + size[1], server, selected));
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
    for (int[] size : new int[][] {{40, 10}, {80, 24}, {120, 30}}) {
      ViewState exporting = selected.withFormats(FormatList.CLOSED.opened(View.GRAPH).moved(1));
      frames.add(frame("export-" + size[0] + "x" + size[1], server, exporting));
    }
    frames.add(
        frame(
            "export-typed-80x24",
            server,
            selected.withFormats(
                FormatList.CLOSED.opened(View.GRAPH).withPrompt(Prompt.of("screen")))));
    ViewState picking =
        selected.withPick(
            PickList.open(PickList.Of.PROCESSES).withRows(Reports.processes()).moved(2));
    frames.add(frame("pick-120x30", server, picking));
    ViewState groups =
        selected.withPick(PickList.open(PickList.Of.CGROUPS).withRows(Reports.cgroups()));
    frames.add(frame("pick-cgroup-80x24", server, groups));
    frames.add(frame("pick-cgroup-40x10", server, groups));
    frames.add(
        frame(
            "pick-typed-80x24",
            server,
            picking.withPick(picking.pick().withPrompt(Prompt.of("postg")))));
    frames.add(
        frame(
            "pick-unmatched-80x24",
            server,
            PickKeys.narrowed(selected, picking.pick().withPrompt(Prompt.of("zzz"))).state()));
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
    frames.add(
        frame("notice-120x30", snapshot(server, selected, 120, Reports.cpus(2), notice), selected));
    frames.add(
        frame(
            "cpus-12-160x40",
            snapshot(server, selected, 160, Reports.cpus(12), List.of()),
            selected));
    frames.add(
        frame(
            "cpus-96-120x30",
            snapshot(server, selected, 120, Reports.cpus(96), List.of()),
            selected));
    cpuFrames(frames, server, selected);
    ViewState quality = state().withView(View.QUALITY);
    QualityTable table = QualityTable.TABLE;
    ViewState second =
        table.with(
            quality,
            table
                .place(quality)
                .withMarked(
                    Reports.quality().processes().get(1).pid()
                        + "/"
                        + Reports.quality().processes().get(1).name(),
                    1));
    ViewState modules = table.with(quality, table.place(quality).withNextKind(3));
    ViewState runtimes = table.with(modules, table.place(modules).withNextKind(3));
    ViewState frugal =
        quality.withPace(
            new Budget.Pace(2 * SECOND, false, 4, 24),
            "budget 5%: picture 2 s, passes 19→4, clock 99→24");
    frames.add(quality("quality-80x24", second));
    frames.add(quality("quality-200x60", second));
    frames.add(quality("quality-modules-80x24", modules));
    frames.add(quality("quality-modules-200x60", modules));
    frames.add(quality("quality-runtimes-40x10", runtimes));
    frames.add(quality("quality-runtimes-80x24", runtimes));
    frames.add(quality("quality-runtimes-200x60", runtimes));
    frames.add(quality("quality-runtimes-help-80x24", runtimes.withHelp(true)));
    frames.add(quality("quality-budget-80x24", frugal));
    frames.add(quality("quality-budget-200x60", frugal));
    frames.add(quality("quality-40x10", second));
    frames.add(quality("quality-help-80x24", quality.withHelp(true)));
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
    int[][] sizes = {{80, 24}, {200, 60}};
    TablePlace<Integer, Comparator<CpuRow>> first = CpusTable.TABLE.place(state());
    TablePlace<Integer, Comparator<CpuRow>> chosen =
        CpusTable.TABLE
            .place(
                Keys.press(
                        Scene.of(
                            Snapshot.OPENING,
                            Reports.bare(),
                            state().withView(View.CPUS),
                            80,
                            24,
                            options()),
                        Key.of('s'))
                    .state())
            .withMarked(5, 0);
    Shape marked = Shape.of(new Shape.Cpus(Set.of(3, 5), false));
    for (int[] size : sizes) {
      String of = "-" + size[0] + "x" + size[1];
      for (int count : new int[] {2, 16, 128, 512}) {
        Snapshot snapshot = snapshot(server, selected, size[0], Reports.crowd(count), List.of());
        frames.add(frame("panel-" + count + of, snapshot, selected));
      }
      CpuReport many = new CpuReport(Reports.crowd(16), "", "", "");
      frames.add(page("cpus-view" + of, View.CPUS, first, many, size));
      frames.add(page("cpus-view-marked" + of, View.CPUS, chosen, marked, many, size, false));
      frames.add(page("cpus-view-bare" + of, View.CPUS, first, Reports.bare(), size));
      frames.add(page("idle-view" + of, View.IDLE, first, many, size));
      frames.add(page("idle-view-bare" + of, View.IDLE, first, Reports.bare(), size));
      ViewState ranged =
          TimePictures.choosing(selected, new TimeRange(3_880 * SECOND, 3_930 * SECOND))
              .withTime(new TimeChoice(true, 3_900 * SECOND, null, null, false));
      frames.add(frame("time" + of, server, ranged));
    }
    int[] small = {40, 10};
    CpuReport many = new CpuReport(Reports.crowd(16), "", "", "");
    frames.add(page("cpus-view-40x10", View.CPUS, chosen, marked, many, small, false));
    frames.add(page("idle-view-40x10", View.IDLE, first, many, small));
    for (int count : new int[] {16, 512}) {
      Snapshot snapshot = snapshot(server, selected, 40, Reports.crowd(count), List.of());
      frames.add(frame("panel-" + count + "-40x10", snapshot, selected));
    }
    PaintOptions plain = options(/* ascii= */ true, /* plain= */ true);
    Snapshot snapshot = snapshot(server, selected, 80, Reports.crowd(512), List.of());
    frames.add(frame("panel-512-ascii-80x24", snapshot, selected, plain));
    frames.add(page("cpus-help-80x24", View.CPUS, first, many, new int[] {80, 24}, true));
    frames.add(page("idle-help-80x24", View.IDLE, first, many, new int[] {80, 24}, true));
  }

  private static Frame page(
      String name,
      View view,
      TablePlace<Integer, Comparator<CpuRow>> table,
      CpuReport report,
      int[] size) {
    return page(name, view, table, report, size, false);
  }

  private static Frame page(
      String name,
      View view,
      TablePlace<Integer, Comparator<CpuRow>> table,
      CpuReport report,
      int[] size,
      boolean help) {
    return page(name, view, table, Shape.PLAIN, report, size, help);
  }

  private static Frame page(
      String name,
      View view,
      TablePlace<Integer, Comparator<CpuRow>> table,
      Shape shape,
      CpuReport report,
      int[] size,
      boolean help) {
    ViewState state =
        CpusTable.TABLE.with(state().withView(view), table).withShape(shape).withHelp(help);
    Snapshot snapshot = snapshot(Trees.server(), state, size[0], report.cpus(), List.of());
    return new Frame(
        name, Painter.paint(Scene.of(snapshot, report, state, size[0], size[1], options())));
  }

  /** The golden set: sizes and moments. Painted once: many tests go through it. */
  public static synchronized List<Frame> golden() {
    if (golden == null) {
      golden = List.copyOf(paintGolden());
    }
    return golden;
  }

  private static Frame quality(String name, ViewState state) {
    int[] size = size(name);
    Snapshot snapshot = snapshot(Trees.server(), state, size[0]);
    return new Frame(
        name,
        Painter.paint(Scene.of(snapshot, Reports.quality(), state, size[0], size[1], options())));
  }
}

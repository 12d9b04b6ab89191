package flametop.view.paint;

import flametop.profile.answer.Capability;
import flametop.profile.answer.ProcessRow;
import flametop.sampler.State;
import flametop.view.base.CellGrid;
import flametop.view.base.CgroupName;
import flametop.view.base.Paint;
import flametop.view.base.Role;
import flametop.view.base.Units;
import flametop.view.layout.ListBox;
import flametop.view.layout.Scene;
import flametop.view.state.PickList;
import flametop.view.state.PickRow;
import java.util.List;
import java.util.Locale;

/** Paints an open pick list over the view. */
public final class PickPainter {

  /** Cells for the name of a row without a process. */
  private static final int NAME = 8;

  private static final int SHARE = Paint.of(Role.PROCESS, 8);

  private PickPainter() {}

  public static void paint(Scene scene, PickList pick, CellGrid grid) {
    ListBox box = ListBox.ofPick(scene, pick);
    PickList.Of of = pick.of();
    List<PickRow> rows = pick.matching();
    ListPainter.paint(box, grid, of.label(), pick.prompt())
        .atTheEnd(count(pick, rows.size()), Paint.DIM);
    boolean ofTasks = of.isOfTasks() && !scene.options.origin().has(Capability.FILES);
    if (ofTasks) {
      heads(ListPainter.words(box, grid, box.top + 1, ListPainter.BACKGROUND), box.width, of);
    }
    for (int entry = box.first(); entry < box.end(); entry++) {
      boolean marked = entry == pick.index();
      Words words = ListPainter.entry(box, grid, entry, marked);
      if (entry == 0) {
        words.write(of.all(), marked ? Paint.INK : Paint.TEXT, marked ? CellGrid.BOLD : 0);
        continue;
      }
      PickRow row = rows.get(entry - 1);
      ProcessRow process = row.process();
      if (ofTasks && process != null) {
        row(scene, words, box.width, of, process, marked);
      } else {
        plain(scene, words, of, row, marked);
      }
    }
  }

  private static String count(PickList pick, int rows) {
    boolean byShare = pick.of() != PickList.Of.STATES && pick.of() != PickList.Of.SAMPLE_TYPES;
    return pick.isListing()
        ? "listing…"
        : !pick.prompt().isEmpty()
            ? rows + " of " + pick.rows().size()
            : rows + (byShare ? " by share" : "");
  }

  /** Paints a row without a process, or a row of a file, which knows no tasks. */
  private static void plain(Scene scene, Words words, PickList.Of of, PickRow row, boolean marked) {
    int text = marked ? Paint.INK : Paint.TEXT;
    if (!Double.isNaN(row.share())) {
      words.bar(8, row.share(), SHARE, scene.options).skip(1);
      words.field(6, Units.percentField(row.share()), text, 0).skip(1);
    }
    if (of == PickList.Of.PROCESSES) {
      words.write(String.format(Locale.ROOT, "%7d", row.id()), text).skip(1);
    }
    if (row.about().isEmpty()) {
      words.write(row.name(), text, CellGrid.BOLD);
    } else {
      words.field(NAME, row.name(), text, CellGrid.BOLD).skip(1);
      words.write(row.about(), marked ? Paint.INK : Paint.DIM);
    }
  }

  /** Paints the titles of the columns of {@link #row}. */
  private static void heads(Words words, int width, PickList.Of of) {
    boolean processes = of == PickList.Of.PROCESSES;
    words.skip(width >= 76 ? 9 : 0).field(7, " share", Paint.DIM, 0);
    if (width >= 60) {
      words.field(23, "tasks now", Paint.DIM, 0);
    }
    words.field(processes ? 8 : 6, processes ? "    pid" : "procs", Paint.DIM, 0);
    if (width >= 50 && processes) {
      words.field(10, "user", Paint.DIM, 0);
    }
    if (of == PickList.Of.CGROUPS) {
      words.write(of.label(), Paint.DIM);
    } else {
      words.field(17, "comm", Paint.DIM, 0).field(7, "command", Paint.DIM, 0);
    }
  }

  private static void row(
      Scene scene, Words words, int width, PickList.Of of, ProcessRow row, boolean marked) {
    int text = marked ? Paint.INK : Paint.TEXT;
    int quiet = marked ? Paint.INK : Paint.DIM;
    double share = row.total() <= 0 ? 0 : (double) row.weight() / row.total();
    if (width >= 76) {
      words.bar(8, share, SHARE, scene.options).skip(1);
    }
    words.field(6, Units.percentField(share), text, marked ? CellGrid.BOLD : 0).skip(1);
    if (width >= 60) {
      words.field(22, states(row.tasksByState()), quiet, 0).skip(1);
    }
    boolean processes = of == PickList.Of.PROCESSES;
    String number =
        processes
            ? String.format(Locale.ROOT, "%7d", row.pid())
            : String.format(Locale.ROOT, "%4d×", row.processes());
    words.write(number, text).skip(1);
    if (width >= 50 && processes) {
      words.field(9, scene.options.users().apply(row.uid()), quiet, 0).skip(1);
    }
    if (of == PickList.Of.CGROUPS) {
      words.write(CgroupName.ofPath(row.comm(), words.room()), text, CellGrid.BOLD);
      return;
    }
    words.field(16, row.comm(), text, CellGrid.BOLD).skip(1);
    words.write((row.alive() ? "" : "(gone) ") + row.commandLine(), quiet);
  }

  /** {@code run 2 q 0 d 0 s 12}, in fixed columns. */
  private static String states(int[] tasks) {
    return String.format(
        Locale.ROOT,
        "run%3d q%3d d%3d s%4d",
        of(tasks, State.RUN),
        of(tasks, State.QUEUED),
        of(tasks, State.DISK),
        of(tasks, State.SLEEP));
  }

  private static int of(int[] tasks, State state) {
    return state.ordinal() < tasks.length ? tasks[state.ordinal()] : 0;
  }
}

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

  private PickPainter() {}

  public static void paint(Scene scene, PickList pick, CellGrid grid) {
    ListBox box = ListBox.ofPick(scene, pick);
    int at = ListPainter.paint(box, grid, pick.of().label(), pick.prompt());
    int x = box.x;
    int width = box.width;
    int top = box.top;
    List<PickRow> rows = pick.matching();
    String count =
        pick.isListing()
            ? "listing…"
            : pick.prompt().isEmpty()
                ? rows.size()
                    + (pick.of() == PickList.Of.STATES || pick.of() == PickList.Of.SAMPLE_TYPES
                        ? ""
                        : " by share")
                : rows.size() + " of " + pick.rows().size();
    int countX = x + width - 1 - count.length();
    if (countX > at) {
      grid.text(countX, top, count.length(), count, Paint.DIM, ListPainter.BACKGROUND, 0);
    }

    boolean ofTasks = pick.of().isOfTasks() && !scene.options.origin().has(Capability.FILES);
    if (ofTasks) {
      heads(grid, x, top + 1, width, pick.of());
    }
    for (int entry = box.first(); entry < box.end(); entry++) {
      boolean marked = entry == pick.index();
      int y = box.row(entry);
      int bg = marked ? Paint.SELECTED_ROW : ListPainter.BACKGROUND;
      if (marked) {
        grid.fill(x, y, width, bg);
      }
      if (entry == 0) {
        int fg = marked ? Paint.INK : Paint.TEXT;
        grid.text(x + 1, y, width - 2, pick.of().all(), fg, bg, marked ? CellGrid.BOLD : 0);
      } else {
        PickRow row = rows.get(entry - 1);
        ProcessRow process = row.process();
        if (ofTasks && process != null) {
          row(scene, grid, x, y, width, pick.of(), process, bg, marked);
        } else {
          plain(scene, pick.of(), grid, x, y, width, row, bg, marked);
        }
      }
    }
  }

  /** Paints a row without a process, or a row of a file, which knows no tasks. */
  private static void plain(
      Scene scene,
      PickList.Of of,
      CellGrid grid,
      int x,
      int y,
      int width,
      PickRow row,
      int bg,
      boolean marked) {
    int text = Paint.of(marked ? Role.INK : Role.TEXT);
    int end = x + width - 1;
    int at = x + 1;
    if (!Double.isNaN(row.share())) {
      Bar.paint(
          grid,
          at,
          y,
          8,
          new double[] {row.share()},
          new int[] {Paint.of(Role.PROCESS, 8)},
          bg,
          scene.options);
      at += 9;
      at += grid.text(at, y, 6, Units.percentField(row.share()), text, bg, 0) + 1;
    }
    if (of == PickList.Of.PROCESSES) {
      String pid = String.format(Locale.ROOT, "%7d", row.id());
      at += grid.text(at, y, Math.max(0, end - at), pid, text, bg, 0) + 1;
    }
    int name = row.about().isEmpty() ? Math.max(0, end - at) : NAME;
    grid.text(at, y, name, row.name(), text, bg, CellGrid.BOLD);
    at += name + 1;
    int quiet = Paint.of(marked ? Role.INK : Role.DIM);
    grid.text(at, y, Math.max(0, end - at), row.about(), quiet, bg, 0);
  }

  /** Paints the titles of the columns of {@link #row}. */
  private static void heads(CellGrid grid, int x, int y, int width, PickList.Of of) {
    boolean processes = of == PickList.Of.PROCESSES;
    int end = x + width - 1;
    int at = x + 1 + (width >= 76 ? 9 : 0);
    at += head(grid, at, y, end, " share", 7);
    if (width >= 60) {
      at += head(grid, at, y, end, "tasks now", 23);
    }
    at += processes ? head(grid, at, y, end, "    pid", 8) : head(grid, at, y, end, "procs", 6);
    if (width >= 50 && processes) {
      at += head(grid, at, y, end, "user", 10);
    }
    if (of == PickList.Of.CGROUPS) {
      head(grid, at, y, end, of.label(), end - at);
      return;
    }
    at += head(grid, at, y, end, "comm", 17);
    head(grid, at, y, end, "command", 7);
  }

  private static int head(CellGrid grid, int x, int y, int end, String text, int width) {
    grid.text(x, y, Math.min(width, end - x), text, Paint.DIM, ListPainter.BACKGROUND, 0);
    return width;
  }

  private static void row(
      Scene scene,
      CellGrid grid,
      int x,
      int y,
      int width,
      PickList.Of of,
      ProcessRow row,
      int bg,
      boolean marked) {
    int text = Paint.of(marked ? Role.INK : Role.TEXT);
    int quiet = Paint.of(marked ? Role.INK : Role.DIM);
    int end = x + width - 1;
    double share = row.total() <= 0 ? 0 : (double) row.weight() / row.total();
    int at = x + 1;
    if (width >= 76) {
      Bar.paint(
          grid,
          at,
          y,
          8,
          new double[] {share},
          new int[] {Paint.of(Role.PROCESS, 8)},
          bg,
          scene.options);
      at += 9;
    }
    at += grid.text(at, y, 6, Units.percentField(share), text, bg, marked ? CellGrid.BOLD : 0) + 1;
    if (width >= 60) {
      at += grid.text(at, y, 22, states(row.tasksByState()), quiet, bg, 0) + 1;
    }
    boolean processes = of == PickList.Of.PROCESSES;
    String number =
        processes
            ? String.format(Locale.ROOT, "%7d", row.pid())
            : String.format(Locale.ROOT, "%4d×", row.processes());
    at += grid.text(at, y, number.length(), number, text, bg, 0) + 1;
    if (width >= 50 && processes) {
      String user = scene.options.users().apply(row.uid());
      grid.text(at, y, 9, user, quiet, bg, 0);
      at += 10;
    }
    if (of == PickList.Of.CGROUPS) {
      String path = CgroupName.ofPath(row.comm(), end - at);
      grid.text(at, y, Math.max(0, end - at), path, text, bg, CellGrid.BOLD);
      return;
    }
    int name = Math.max(0, Math.min(16, end - at));
    grid.text(at, y, name, row.comm(), text, bg, CellGrid.BOLD);
    at += 17;
    String command = row.alive() ? row.commandLine() : "(gone) " + row.commandLine();
    if (at < end) {
      grid.text(at, y, end - at, command, quiet, bg, 0);
    }
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

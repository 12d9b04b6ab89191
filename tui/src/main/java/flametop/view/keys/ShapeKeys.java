package flametop.view.keys;

import flametop.profile.answer.NodeKind;
import flametop.profile.answer.RootOrder;
import flametop.profile.answer.Selection;
import flametop.profile.answer.Shape;
import flametop.profile.answer.Shape.Filter;
import flametop.sampler.State;
import flametop.view.base.Action;
import flametop.view.base.Mouse;
import flametop.view.base.StepText;
import flametop.view.base.Zone;
import flametop.view.layout.Breadcrumb;
import flametop.view.layout.Scene;
import flametop.view.state.Search;
import flametop.view.state.Shaping;
import flametop.view.state.Step;
import flametop.view.state.ViewState;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The keys that change the shape of a graph, live or of a file. */
public final class ShapeKeys {
  private static final RootOrder[] ORDERS = RootOrder.values();

  private ShapeKeys() {}

  /**
   * Does an action that changes the shape.
   *
   * @return null for another action
   */
  static @Nullable Step act(Scene scene, ViewState s, Action action) {
    return switch (action) {
      case KEEP, DROP -> narrow(scene, s, action);
      case MERGE ->
          toggled(
              s,
              new Shape.Merge(),
              "recursion merged: no function calls itself",
              "recursion as it is");
      case COLLAPSE -> collapse(scene, s, action);
      case FOLD_RUNTIMES -> runtimes(s);
      case SHOW_SLEEPERS -> sleepers(s);
      case GROUP -> group(s, next(s.chosenShape().group()));
      case THREADS -> threads(s);
      case UNDO -> undo(s);
      case REDO -> redo(s);
      default -> null;
    };
  }

  /** A click on a step of the breadcrumb goes back to it; null beside the steps. */
  static @Nullable Step mouse(Scene scene, ViewState s, Mouse mouse) {
    return mouse.isPress() && mouse.y() == scene.crumbRow
        ? crumbAt(scene, s, mouse.x(), mouse.y())
        : null;
  }

  /** Does a click on the breadcrumb in row {@code y}; null beside its steps. */
  public static @Nullable Step crumbAt(Scene scene, ViewState s, int x, int y) {
    Integer step = Zone.at(Breadcrumb.of(scene, y).zones(), x, y);
    if (step == null) {
      return null;
    }
    String text = StepText.of(s.chosenShape().steps().get(step), StepText.IN_WORDS);
    Shape first = s.chosenShape().first(step + 1);
    return first.equals(s.chosenShape())
        ? Step.answer(s, "this is the last step")
        : to(s, first, "back to " + text);
  }

  /** Shows only stacks that a filter admits, or all others. */
  public static Step narrowed(ViewState s, Filter filter, boolean out) {
    return narrowed(s, filter, out, said(s, filter, out));
  }

  /** The same with another answer. */
  static Step narrowed(ViewState s, Filter filter, boolean out, String said) {
    return s.chosenShape().steps().contains(filter.with(out))
        ? Step.answer(s, "this filter is set already; u undoes")
        : to(s, s.chosenShape().plus(filter.with(out)), said);
  }

  /**
   * Shows only stacks that a filter admits; the filter replaces an older one of its sort.
   *
   * @param then the state that shows it
   * @param said the answer
   */
  public static Step only(ViewState s, ViewState then, Filter filter, String said) {
    Shape next = s.chosenShape().with(filter);
    return next.equals(s.chosenShape())
        ? Step.answer(then, "shown already")
        : Step.answer(then.withShape(next).unzoomed(), said);
  }

  /** The answer to a filter. */
  public static String said(ViewState s, Filter filter, boolean out) {
    String what = StepText.of(filter.with(false), StepText.IN_WORDS);
    String rest =
        filter instanceof Shape.Cpus
            ? "; time off the CPU belongs to none, and is left out"
            : s.moment().isAll() ? "" : ", its past too";
    return (out ? "without " : "only ") + what + rest;
  }

  /** Gives the graph another shape; silent if the shape is the same. */
  static Step to(ViewState s, Shape next, String said) {
    return Step.answer(s.withShape(next), next.equals(s.chosenShape()) ? "" : said);
  }

  private static Step narrow(Scene scene, ViewState s, Action action) {
    boolean out = action == Action.DROP;
    Step none = none(scene, s);
    if (none != null) {
      return none;
    }
    Shape.Matching matching = matching(scene, s);
    if (matching != null) {
      ViewState next = narrowed(s, matching, out).state();
      return Step.to(
          next.chosenShape().equals(s.chosenShape())
              ? next
              : next.withSearch(null).withZooms(List.of()));
    }
    Selection selection = selection(scene, s);
    if (selection == null) {
      return Step.to(s.awaiting(action));
    }
    Filter filter = selection.filter();
    if (filter == null) {
      return Step.answer(
          s,
          selection.kind() == NodeKind.ROOT
              ? "the root holds everything; select a process or a frame first"
              : "no filter tells this frame from the rest");
    }
    ViewState next = narrowed(s, filter, out).state();
    // Kept stacks are shown whole. After a removal the zoom stays on the rest.
    return Step.to(
        out || next.chosenShape().equals(s.chosenShape()) ? next : next.withZooms(List.of()));
  }

  /** The answer without a single selected box; null with one. */
  private static @Nullable Step none(Scene scene, ViewState s) {
    if (scene.selectedBox < 0) {
      return Step.answer(s, "nothing is selected yet");
    }
    if (s.place().run() && scene.geometry.isRun(scene.selectedBox)) {
      return Step.answer(s, "frames too thin to draw have no name; enter opens them");
    }
    return null;
  }

  /** The filter for matches of the search, if the selected frame is a match; else null. */
  private static Shape.@Nullable Matching matching(Scene scene, ViewState s) {
    Search search = s.search();
    Pattern pattern = Search.patternOf(search);
    if (search == null || pattern == null || scene.geometry.isRun(scene.selectedBox)) {
      return null;
    }
    int index = scene.geometry.node(scene.selectedBox);
    return scene.geometry.slice().matched()[index] && scene.geometry.slice().kind()[index].isFrame()
        ? new Shape.Matching(search.text(), pattern.flags(), false)
        : null;
  }

  /** The selection in full; null until it has come. */
  private static @Nullable Selection selection(Scene scene, ViewState s) {
    Selection selection = scene.selection();
    return selection.node() == s.selected() ? selection : null;
  }

  /** Does the action that waited for the selection, if the selection has come; else null. */
  public static @Nullable Step arrived(Scene scene, ViewState s) {
    Action action = s.awaited();
    return action == null || scene.selectedBox < 0 || selection(scene, s) == null
        ? null
        : action == Action.SANDWICH
            ? SandwichKeys.choose(scene, s.awaiting(null))
            : act(scene, s.awaiting(null), action);
  }

  /** Adds a step, or takes the step back. */
  private static Step toggled(ViewState s, Shape.Step step, String on, String off) {
    Shape now = s.chosenShape();
    return now.steps().contains(step) ? to(s, now.minus(step), off) : to(s, now.plus(step), on);
  }

  /** Folds the frames of runtimes into the functions that call them, or stops that. */
  public static Step runtimes(ViewState s) {
    return toggled(
        s,
        new Shape.FoldRuntimes(),
        "runtimes folded: their time is their callers'",
        "runtimes as they are");
  }

  /** Shows the stacks of idle threads, or folds these stacks again. */
  public static Step sleepers(ViewState s) {
    String unseen = s.states().contains(State.SLEEP) ? "" : "; o shows those that sleep";
    return toggled(
        s, new Shape.ShowIdle(), "idle threads shown" + unseen, "idle threads folded" + unseen);
  }

  private static Step collapse(Scene scene, ViewState s, Action action) {
    Step none = none(scene, s);
    if (none != null) {
      return none;
    }
    Selection selection = selection(scene, s);
    if (selection == null) {
      return Step.to(s.awaiting(action));
    }
    String module = selection.module();
    if (module.isEmpty()) {
      String text =
          selection.kind().isFrame()
              ? "the module of this frame is not known"
              : "only frames have a module; select one first";
      return Step.answer(s, text);
    }
    Shape.Collapse collapse = new Shape.Collapse(module);
    if (!s.chosenShape().steps().contains(collapse)) {
      return to(s, s.chosenShape().plus(collapse), module + " as one frame; M opens it again");
    }
    Shape opened = s.chosenShape().minus(collapse);
    for (Shape.Step step : s.chosenShape().steps()) {
      // Steps about the one frame mean nothing without it.
      if (step instanceof Shape.Through t
          && t.function().module().equals(module)
          && t.function().name().equals(collapse.text())) {
        opened = opened.minus(step);
      }
    }
    return to(s, opened, "the frames of " + module);
  }

  private static RootOrder next(RootOrder order) {
    return ORDERS[(order.ordinal() + 1) % ORDERS.length];
  }

  private static Step threads(ViewState s) {
    Shape ungrouped = s.chosenShape().as(s.base(), Shape.Group.class);
    if (s.chosenShape().group() != RootOrder.THREAD) {
      return group(s, RootOrder.THREAD);
    }
    return ungrouped.group() == RootOrder.THREAD
        ? group(s, RootOrder.SERVICE)
        : to(s, ungrouped, new Shape.Group(ungrouped.group()).text());
  }

  private static Step group(ViewState s, RootOrder order) {
    String text =
        order == RootOrder.CPU
            ? "by CPU: time on a CPU only; what waits or sleeps belongs to none"
            : new Shape.Group(order).text();
    return group(s, order, text);
  }

  /** Changes the group above the frames. */
  static Step group(ViewState s, RootOrder order, String text) {
    Shape.Group group = new Shape.Group(order);
    Shape ungrouped = s.chosenShape().without(Shape.Group.class);
    return to(s, ungrouped.group() == order ? ungrouped : ungrouped.plus(group), text);
  }

  static Step undo(ViewState s) {
    Shaping undone = s.shaping().undone();
    if (undone == null) {
      return Step.answer(s, "nothing to undo");
    }
    String text = "undone: " + Shaping.change(undone.now(), s.chosenShape());
    return Step.answer(s.withShaping(undone), text);
  }

  static Step redo(ViewState s) {
    Shaping redone = s.shaping().redone();
    if (redone == null) {
      return Step.answer(s, "nothing was undone");
    }
    String text = "again: " + Shaping.change(s.chosenShape(), redone.now());
    return Step.answer(s.withShaping(redone), text);
  }
}

package flametop.view;

import flametop.profile.ProcessRow;
import flametop.profile.Shape;
import java.util.Set;

/** What the keys do while a pick list is open. */
final class PickKeys {
  private PickKeys() {}

  static Keys.Step press(ViewState s, Key key) {
    PickList pick = s.pick();
    switch (key.kind()) {
      case ESCAPE -> {
        return Keys.Step.to(s.withPick(null));
      }
      case UP -> {
        return Keys.Step.to(s.withPick(pick.moved(-1)));
      }
      case DOWN -> {
        return Keys.Step.to(s.withPick(pick.moved(1)));
      }
      case PAGE_UP -> {
        return Keys.Step.to(s.withPick(pick.moved(-10)));
      }
      case PAGE_DOWN -> {
        return Keys.Step.to(s.withPick(pick.moved(10)));
      }
      case ENTER -> {
        return picked(s, pick);
      }
      default -> {
        boolean older = key.equals(Key.ctrl('p'));
        if (older || key.equals(Key.ctrl('n'))) {
          Prompt line = pick.prompt().recalled(s.picks(), older ? 1 : -1);
          return line == null
              ? Keys.Step.to(s.withMessage(older ? "nothing older" : "nothing later", false))
              : narrowed(s, pick.withPrompt(line));
        }
        Prompt edited = pick.prompt().edited(key);
        return edited == null
            ? Keys.nothing(s, key)
            : edited == pick.prompt()
                ? Keys.Step.to(s.withMessage(edited.refusal(key), false))
                : narrowed(s, pick.withPrompt(edited));
      }
    }
  }

  static Keys.Step narrowed(ViewState s, PickList pick) {
    boolean none = pick.rows() != null && pick.matching().isEmpty();
    return Keys.Step.to(s.withPick(pick).withMessage(none ? "no match" : "", false));
  }

  /** A click marks a row, a second picks it; the wheel moves. */
  static Keys.Step mouse(Scene scene, ViewState s, Mouse mouse) {
    PickList pick = s.pick();
    if (mouse.wheel() != 0) {
      return Keys.Step.to(s.withPick(pick.moved(mouse.wheel())));
    }
    if (!mouse.isPress()) {
      return Keys.Step.to(s);
    }
    int entry = PickPainter.entryAt(scene, mouse.y());
    if (entry == PickPainter.OUTSIDE) {
      return Keys.Step.to(s.withPick(null));
    }
    if (entry < 0) {
      return Keys.Step.to(s);
    }
    ViewState marked = s.withPick(pick.moved(entry - pick.index()));
    return mouse.kind() == Mouse.Kind.DOUBLE
        ? picked(marked, marked.pick())
        : Keys.Step.to(marked.withMessage("enter, or a second click, picks it", false));
  }

  static Keys.Step picked(ViewState s, PickList pick) {
    if (pick.rows() == null) {
      return Keys.Step.to(
          s.withPick(pick.withChosen(true))
              .withMessage("the list is still being made; then the first match is picked", false));
    }
    if (!pick.typed().isEmpty() && pick.matching().isEmpty()) {
      return Keys.Step.to(s.withMessage("no match", false));
    }
    boolean processes = pick.of() == PickList.Of.PROCESSES;
    ProcessRow row = pick.marked();
    Shape now = s.filter();
    Shape next;
    String text;
    if (row == null) {
      next = now.as(s.base(), processes ? Shape.Processes.class : Shape.Comms.class);
      text = processes ? "all processes" : "all comms";
    } else if (processes) {
      next = now.with(new Shape.Processes(Set.of(row.pid()), false));
      text = "only pid " + row.pid() + " " + row.comm() + ", its past too";
    } else {
      next = now.with(new Shape.Comms(Set.of(row.comm()), false));
      text = "only comm " + row.comm() + ", its past too";
    }
    ViewState closed = s.withPick(null);
    if (!pick.prompt().isEmpty()) {
      closed = closed.withPicks(Prompt.remember(s.picks(), pick.typed()));
    }
    if (next.equals(now)) {
      return Keys.Step.to(closed.withMessage("shown already", false));
    }
    return Keys.Step.to(closed.withFilter(next).withMessage(text, false), new Effect.Filter(next));
  }
}

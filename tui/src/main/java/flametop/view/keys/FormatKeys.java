package flametop.view.keys;

import flametop.profile.answer.Function;
import flametop.profile.answer.GraphQuery;
import flametop.view.base.ExportFormat;
import flametop.view.base.Key;
import flametop.view.base.Mouse;
import flametop.view.base.Prompt;
import flametop.view.base.View;
import flametop.view.base.Zone;
import flametop.view.layout.ListBox;
import flametop.view.layout.Scene;
import flametop.view.state.Effect;
import flametop.view.state.FormatList;
import flametop.view.state.Rows;
import flametop.view.state.Step;
import flametop.view.state.ViewState;
import java.util.List;

/** The keys of the list of export formats. */
public final class FormatKeys {
  private FormatKeys() {}

  @SuppressWarnings("ReferenceEquality") // an unchanged value is the same object
  public static Step press(ViewState s, Key key) {
    FormatList list = s.formats();
    int by = Rows.by(key, ExportFormat.values().length);
    if (by != 0) {
      return Step.to(s.withFormats(list.moved(by)));
    }
    Prompt prompt = list.prompt();
    return switch (key.kind()) {
      case ESCAPE -> Step.to(s.withFormats(list.closed()));
      case ENTER -> chosen(s, list);
      default -> {
        Prompt edited = prompt.edited(key);
        if (edited == null) {
          yield Step.answer(s, key.name() + " does nothing in this list");
        }
        FormatList narrowed = list.withPrompt(edited);
        String said =
            edited == prompt
                ? prompt.refusal(key)
                : narrowed.matching().isEmpty() ? "no match" : "";
        yield Step.answer(s.withFormats(narrowed), said);
      }
    };
  }

  /** A click marks a format, a second click chooses it, a click beside the list closes the list. */
  public static Step mouse(Scene scene, ViewState s, Mouse mouse) {
    FormatList list = s.formats();
    if (mouse.wheel() != 0) {
      return Step.to(s.withFormats(list.moved(mouse.wheel())));
    }
    if (!mouse.isPress()) {
      return Step.to(s);
    }
    Integer format = Zone.at(ListBox.ofFormats(scene).entries(), mouse.x(), mouse.y());
    if (format == null) {
      return Step.to(s.withFormats(list.closed()));
    }
    FormatList marked = list.moved(format - list.index());
    return mouse.kind() == Mouse.Kind.DOUBLE ? chosen(s, marked) : Step.to(s.withFormats(marked));
  }

  private static Step chosen(ViewState s, FormatList list) {
    List<ExportFormat> formats = list.matching();
    if (formats.isEmpty()) {
      return Step.answer(s, "no match");
    }
    ExportFormat format = formats.get(list.index());
    boolean sandwich = s.view() == View.SANDWICH;
    Function through = sandwich ? s.sandwich().function() : null;
    if (sandwich && through == null && !format.isPicture()) {
      return Step.answer(
          s.withFormats(list.closed()), "no function is chosen: the graph exports all stacks");
    }
    return Step.to(
        s.withFormats(list.chosen(format)).withMessage("exporting…"),
        new Effect.Export(format, s.states(), sandwich ? GraphQuery.ROOT : s.zoom(), through));
  }
}

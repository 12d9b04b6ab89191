package flametop.view.keys;

import flametop.view.base.Key;
import flametop.view.base.Prompt;
import flametop.view.state.Step;
import flametop.view.state.Typed;
import flametop.view.state.ViewState;
import java.util.function.Function;

/** The keys of a line that is typed, the same wherever a line is typed. */
final class PromptKeys {
  private PromptKeys() {}

  /**
   * Applies a key that edits the line.
   *
   * @param then the step with another line
   */
  @SuppressWarnings("ReferenceEquality") // an unchanged value is the same object
  static Step edited(ViewState s, Prompt prompt, Key key, Function<Prompt, Step> then) {
    Prompt edited = prompt.edited(key);
    return edited == null
        ? Step.nothing(s, key)
        : edited == prompt ? Step.answer(s, prompt.refusal(key)) : then.apply(edited);
  }

  /** The same, where ctrl-p and ctrl-n bring older lines back. */
  static Step pressed(
      ViewState s, Prompt prompt, Typed past, Key key, Function<Prompt, Step> then) {
    boolean older = key.equals(Key.ctrl('p'));
    if (!older && !key.equals(Key.ctrl('n'))) {
      return edited(s, prompt, key, then);
    }
    Prompt line = prompt.recalled(s.typed(past), older ? 1 : -1);
    return line == null
        ? Step.answer(s, older ? "nothing older" : "nothing later")
        : then.apply(line);
  }
}

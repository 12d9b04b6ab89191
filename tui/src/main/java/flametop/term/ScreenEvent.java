package flametop.term;

import flametop.profile.answer.Page;
import flametop.profile.answer.Shape;
import flametop.profile.answer.Snapshot;
import flametop.view.base.Key;
import flametop.view.base.Mouse;
import flametop.view.state.Effect;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The events that drive the {@link LiveScreen}. */
sealed interface ScreenEvent {
  /** An input of the user. */
  sealed interface Input extends ScreenEvent {}

  record Pressed(Key key, boolean inText) implements Input {}

  record Pasted(String text) implements Input {}

  record Moved(Mouse mouse) implements Input {}

  /**
   * A picture.
   *
   * @param shape of the question
   */
  record Arrived(Snapshot snapshot, @Nullable Page page, Shape shape) implements ScreenEvent {}

  record Ready(LiveSession session) implements ScreenEvent {}

  record Answered(Effect.Answer answer) implements ScreenEvent {}

  record Recalled(List<String> searches) implements ScreenEvent {}

  record Exported(String line, boolean failed) implements ScreenEvent {}

  record Failed(Throwable cause) implements ScreenEvent {}

  record Ended(int code) implements ScreenEvent {}

  record Signalled(int number) implements ScreenEvent {}

  record Resized() implements ScreenEvent {}

  record Suspended() implements ScreenEvent {}

  record Continued() implements ScreenEvent {}

  record TerminalGone() implements ScreenEvent {}
}

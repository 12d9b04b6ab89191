package flametop.view.screen;

import flametop.profile.answer.Shape;
import flametop.profile.answer.SnapshotSource;
import flametop.view.state.Effect;
import flametop.view.state.ViewState;
import java.util.concurrent.CompletableFuture;

/** The source of the pictures of a screen. Does the commands of keys. */
public final class ScreenSource {
  private final SnapshotSource source;

  /** The shape that the source was last told; null before the first one. */
  private Shape shape;

  public ScreenSource(SnapshotSource source) {
    this.source = source;
  }

  /** Does a command of a key. */
  public void apply(Effect.OfSource effect) {
    effect.on(source);
    if (effect instanceof Effect.Turn) {
      // Each file has a shape of its own.
      shape = null;
    }
  }

  /** Asks a question of a key, given the state of the screen. */
  public CompletableFuture<? extends Effect.Answer> ask(Effect.Question question, ViewState state) {
    return question.ask(source, state);
  }

  /** Tells the source the shape of a state; false if the source has that shape already. */
  public boolean reshape(ViewState state) {
    if (state.shape().equals(shape)) {
      return false;
    }
    shape = state.shape();
    source.shape(shape);
    return true;
  }
}

package flametop.view.screen;

import flametop.profile.answer.Shape;
import flametop.profile.answer.SnapshotSource;
import flametop.view.state.Effect;
import flametop.view.state.ViewState;
import java.util.concurrent.CompletableFuture;

/** The source of the pictures of a screen: does what keys ask of it. */
public final class ScreenSource {
  private final SnapshotSource source;

  /** What it was last told to show; null: nothing yet. */
  private Shape shape;

  public ScreenSource(SnapshotSource source) {
    this.source = source;
  }

  /** Does what a key asks of it. */
  public void apply(Effect.OfSource effect) {
    effect.on(source);
    if (effect instanceof Effect.Turn) {
      // Each file has a shape of its own.
      shape = null;
    }
  }

  /** Asks what a key asks of it where the screen is in this state. */
  public CompletableFuture<? extends Effect.Answer> ask(Effect.Question question, ViewState state) {
    return question.ask(source, state);
  }

  /** Takes the shape that a state has; false if it has that. */
  public boolean reshape(ViewState state) {
    if (state.shape().equals(shape)) {
      return false;
    }
    shape = state.shape();
    source.shape(shape);
    return true;
  }
}

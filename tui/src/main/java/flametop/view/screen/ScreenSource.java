package flametop.view.screen;

import flametop.profile.answer.LiveSource;
import flametop.profile.answer.Moment;
import flametop.profile.answer.Shape;
import flametop.profile.answer.SnapshotSource;
import flametop.view.state.Effect;
import flametop.view.state.ViewState;
import java.util.concurrent.CompletableFuture;

/** The source of the pictures of a screen: does what keys ask of it. */
public final class ScreenSource {
  private final SnapshotSource source;

  /** The shape that it was last told to show; null: none yet. */
  private Shape shape;

  /** The moment that it was last told to show; null: none yet. */
  private Moment moment;

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

  /** Shows what a state says, in its shape; false if it does so already. */
  public boolean show(ViewState state) {
    boolean moves = source instanceof LiveSource && !state.moment().equals(moment);
    if (moves) {
      moment = state.moment();
      ((LiveSource) source).show(moment);
    }
    boolean turns = !state.shape().equals(shape);
    if (turns) {
      shape = state.shape();
      source.shape(shape);
    }
    return moves || turns;
  }
}

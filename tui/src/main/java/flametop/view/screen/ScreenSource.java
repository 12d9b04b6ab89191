package flametop.view.screen;

import flametop.profile.answer.LiveSource;
import flametop.profile.answer.Moment;
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

  /** The moment that the source was last told; null before the first one. */
  private Moment moment;

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

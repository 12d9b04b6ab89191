package flametop.view.screen;

import flametop.profile.answer.GraphQuery;
import flametop.profile.answer.LiveSource;
import flametop.profile.answer.Moment;
import flametop.profile.answer.Page;
import flametop.profile.answer.PageQuery;
import flametop.profile.answer.Shape;
import flametop.profile.answer.Snapshot;
import flametop.profile.answer.SnapshotSource;
import flametop.view.state.Effect;
import flametop.view.state.ViewState;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** The source of the pictures of a screen. Does the commands of keys. */
public final class ScreenSource {
  private final SnapshotSource source;

  /** The shape that the source was last told; null before the first one. */
  private @Nullable Shape shape;

  /** The moment that the source was last told; null before the first one. */
  private @Nullable Moment moment;

  public ScreenSource(SnapshotSource source) {
    this.source = source;
  }

  /** Asks for a picture. */
  public CompletableFuture<Snapshot> snapshot(GraphQuery query) {
    return source.snapshot(query);
  }

  /** Asks for the page beside a picture. */
  public CompletableFuture<Page> page(PageQuery query) {
    return source.page(query);
  }

  /** Does a command of a key. */
  public void apply(Effect.OfSource effect) {
    effect.on(source);
    if (effect instanceof Effect.Turn || effect instanceof Effect.SampleType) {
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
      ((LiveSource) source).show(state.moment());
    }
    boolean turns = !state.shape().equals(shape);
    if (turns) {
      shape = state.shape();
      source.shape(state.shape());
    }
    return moves || turns;
  }
}

package flametop.profile.live;

import flametop.profile.answer.Moment;
import flametop.profile.answer.Shape;
import flametop.profile.answer.TimeRange;
import flametop.profile.log.ChangeLog;
import flametop.profile.log.Owners;
import flametop.profile.log.Stacks;
import flametop.profile.log.Window;
import flametop.profile.tree.Options;
import flametop.profile.tree.Store;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/** The stacks of a log with their amounts, at the {@link Moment} that is shown. */
final class LogStore implements Store<LogFold> {
  private static final long SHORT_NANOS = 1_000_000_000L;

  final ChangeLog log;
  final Owners owners;
  final Stacks stacks;
  final Options options;
  private final IntSupplier epochs;

  private Moment moment = Moment.ALL;

  /** Where folds are held without a range, ns; {@link Long#MAX_VALUE}: they follow the log. */
  private long held = Long.MAX_VALUE;

  /** The window that folds are compared with; null: they are compared with none. */
  private @Nullable Window baseline;

  /**
   * @param epochs upper halves of the numbers of nodes, each given once
   */
  LogStore(ChangeLog log, Owners owners, Stacks stacks, Options options, IntSupplier epochs) {
    this.log = log;
    this.owners = owners;
    this.stacks = stacks;
    this.options = options;
    this.epochs = epochs;
  }

  @Override
  public LogFold fold(Shape shape) {
    return new LogFold(this, shape, epochs.getAsInt(), baseline);
  }

  /** A baseline takes two trips along the log; meanwhile the present is shown. */
  @Override
  public LogFold first(Shape shape) {
    return new LogFold(this, shape, epochs.getAsInt(), null);
  }

  Moment moment() {
    return moment;
  }

  long held() {
    return held;
  }

  @Nullable Window baseline() {
    return baseline;
  }

  /**
   * Keeps another moment for folds, which show the moment once they {@linkplain LogFold#move move}.
   *
   * @param held where they are held without a range, ns; {@link Long#MAX_VALUE}: nowhere
   */
  void show(Moment next, long held) {
    moment = next;
    this.held = held;
  }

  /** Keeps the window that folds are compared with; null: with none. */
  void compare(@Nullable Window with) {
    baseline = with;
  }

  /**
   * Where the heads of folds stop, ns: for a short range at the first mark that is not within it.
   */
  long limit() {
    return moment.range().map(this::end).orElse(held);
  }

  private long end(TimeRange range) {
    return range.nanos() < SHORT_NANOS ? log.markFrom(range.to()) : range.to();
  }
}

package flametop.profile.answer;

import java.util.concurrent.CompletableFuture;

/** A source of pictures that go on by themselves and have a past: a machine, or a recording. */
public interface LiveSource extends SnapshotSource {
  /** Where a node is in the source, as far as it is known by now. */
  CompletableFuture<Source> source(StateSet states, long node);

  /** Instead of the number of a source of events: the measure is the time of tasks. */
  int TIME = -1;

  /**
   * Shows another measure from now on: the weights of a source of events, or {@link #TIME}. Nodes
   * have other numbers then, and nothing is compared. A number without a source changes nothing.
   */
  void measure(int source);

  /** Shows another moment from now on, in whatever is asked for. */
  void show(Moment moment);
}

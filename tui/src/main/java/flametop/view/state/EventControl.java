package flametop.view.state;

import flametop.profile.answer.EventsReport;
import java.util.concurrent.CompletableFuture;

/** The switches of the sources of events of this machine. No method waits. */
public interface EventControl {
  /**
   * Switches a source on. What comes of it is in {@link EventsReport}, also why it cannot be had.
   *
   * @param number of the source, {@link EventsReport#next} for a new one
   * @param spec as the user wrote it
   */
  void on(int number, String spec);

  /** Switches a source off; its counts and stacks stay. */
  void off(int number);

  /** Switches a source off, and forgets it. */
  void remove(int number);

  /** Lists the sources that this machine and the processes shown have. */
  CompletableFuture<SourceListing> list(String text);
}

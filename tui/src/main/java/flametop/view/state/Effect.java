package flametop.view.state;

import flametop.profile.answer.FileSource;
import flametop.profile.answer.Function;
import flametop.profile.answer.LiveSource;
import flametop.profile.answer.ProcessRow;
import flametop.profile.answer.SnapshotSource;
import flametop.profile.answer.StateSet;
import flametop.view.base.ExportFormat;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A request of a key to the world outside of the view. */
public sealed interface Effect {
  /** A command to the source of the pictures. */
  sealed interface OfSource extends Effect {
    void on(SnapshotSource source);
  }

  /** A command that only a live source can do. Keys send it to no other source. */
  sealed interface OfLive extends OfSource {
    void on(LiveSource source);

    @Override
    default void on(SnapshotSource source) {
      on((LiveSource) source);
    }
  }

  /** A question to the source of the pictures. */
  sealed interface Question extends Effect {
    CompletableFuture<? extends Answer> ask(SnapshotSource source, ViewState state);
  }

  /** An answer of the source of the pictures. */
  sealed interface Answer {
    /** The rows of a pick list. */
    record Listed(PickList.Of of, List<ProcessRow> rows) implements Answer {}

    /** The sources of events that contain a text. */
    record Sources(SourceListing listing) implements Answer {}

    /** Where a node is in the source. */
    record Located(flametop.profile.answer.Source source) implements Answer {}
  }

  /** Leave the screen. */
  record Quit() implements Effect {}

  /** Paint every cell anew. */
  record Repaint() implements Effect {}

  /** Show the weights of a source of events, or {@link LiveSource#TIME}. */
  record ShowMeasure(int source) implements OfLive {
    @Override
    public void on(LiveSource of) {
      of.measure(source);
    }
  }

  /** A command to the sources of events of this machine. Keys send it to no other source. */
  sealed interface OfEvents extends Effect {
    void on(EventControl events);
  }

  /** Switch a source of events on. */
  record SwitchOn(int number, String spec) implements OfEvents {
    @Override
    public void on(EventControl events) {
      events.on(number, spec);
    }
  }

  /** Switch a source of events off. */
  record SwitchOff(int number) implements OfEvents {
    @Override
    public void on(EventControl events) {
      events.off(number);
    }
  }

  /** Switch a source of events off, and forget it. */
  record RemoveSource(int number) implements OfEvents {
    @Override
    public void on(EventControl events) {
      events.remove(number);
    }
  }

  /** List the sources of events whose specs contain a text. */
  record ListSources(String text) implements Effect {}

  /** Show another sample type of the file; empty: what the file prefers. */
  record SampleType(String name) implements OfSource {
    @Override
    public void on(SnapshotSource source) {
      ((FileSource) source).sampleType(name);
    }
  }

  /** Go on to the next (1) or previous (-1) file. */
  record Turn(int by) implements OfSource {
    @Override
    public void on(SnapshotSource source) {
      ((FileSource) source).turn(by);
    }
  }

  record Rates(int passHz, int cpuHz) implements Effect {}

  /** Fetch the rows of the open pick list. */
  record Rows(PickList.Of of) implements Question {
    @Override
    public CompletableFuture<Answer.Listed> ask(SnapshotSource source, ViewState state) {
      return of.rows(source, state.states()).thenApply(rows -> new Answer.Listed(of, rows));
    }
  }

  /** Find where the selected node is in the source. */
  record Source() implements Question {
    @Override
    public CompletableFuture<Answer.Located> ask(SnapshotSource source, ViewState state) {
      return ((LiveSource) source)
          .source(state.states(), state.selected())
          .thenApply(Answer.Located::new);
    }
  }

  /** Keep the text of a search. */
  record Remember(String text) implements Effect {}

  /** Put a name into the clipboard of the terminal. */
  record Copy(String text) implements Effect {}

  /**
   * Write what is shown to a file.
   *
   * @param through only stacks that pass through this function; null: any
   */
  record Export(ExportFormat format, StateSet states, long zoom, @Nullable Function through)
      implements Effect {}
}

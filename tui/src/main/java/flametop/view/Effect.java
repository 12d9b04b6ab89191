package flametop.view;

import flametop.profile.Function;
import flametop.profile.StateSet;

/** What a key asks of the world outside of the view. */
public sealed interface Effect {
  /** Leave the screen. */
  record Quit() implements Effect {}

  /** Paint every cell anew. */
  record Repaint() implements Effect {}

  record Freeze() implements Effect {}

  record Thaw() implements Effect {}

  /** Show what was between two moments of the past, ns of CLOCK_MONOTONIC. */
  record Range(long from, long to) implements Effect {}

  /** Show the last so many ns again. */
  record EndRange() implements Effect {}

  /** Compare with what is shown now. */
  record HoldBaseline() implements Effect {}

  /** Compare no more. */
  record ReleaseBaseline() implements Effect {}

  /** Start the profile anew. */
  record Restart() implements Effect {}

  /** Go on to the next (1) or previous (-1) file. */
  record Turn(int by) implements Effect {}

  record Rates(int passHz, int cpuHz) implements Effect {}

  /** Ask JVMs for maps of their compiled code, or stop asking. */
  record JvmMaps() implements Effect {}

  /** Fetch the rows of the open pick list. */
  record Rows(PickList.Of of) implements Effect {}

  /** Find where the selected node is in the source. */
  record Source() implements Effect {}

  /** Keep what was searched for. */
  record Remember(String text) implements Effect {}

  /** Put a name into the clipboard of the terminal. */
  record Copy(String text) implements Effect {}

  /**
   * Write what is shown to a file.
   *
   * @param through only stacks that pass through this function; null: any
   */
  record Export(ExportFormat format, long windowNanos, StateSet states, long zoom, Function through)
      implements Effect {}
}

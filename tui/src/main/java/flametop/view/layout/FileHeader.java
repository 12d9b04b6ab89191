package flametop.view.layout;

import flametop.profile.answer.Capability;
import flametop.profile.answer.Measure;
import flametop.profile.answer.Snapshot;
import flametop.profile.answer.StateSet;
import flametop.view.base.Action;
import flametop.view.base.Role;
import flametop.view.base.StateNames;
import flametop.view.base.TextWidth;
import flametop.view.state.Split;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The first line of a file of stacks: its name, how far it is read, its content. */
public final class FileHeader {
  /** Columns of a file's name, by how much room there is. */
  private static final int[] NAME = {80, 60, 40, 40, 30, 30, 20, 20, 12, 8, 8};

  private FileHeader() {}

  static List<Piece> left(Scene scene, int form) {
    List<Piece> pieces = new ArrayList<>();
    if (form < 5) {
      pieces.add(new Piece("flametop ", Role.ACCENT, true, Action.HELP));
    }
    Snapshot.Reading reading = scene.isOfFile() ? scene.snapshot.reading() : null;
    if (scene.other != null) {
      // The names of both files, and how far they are read, stand above the panes.
      if (scene.state.exports() > 0) {
        pieces.add(Header.WRITING);
      }
      Split split = scene.state.split();
      String two =
          split == null || scene.files() <= 2
              ? "two files  "
              : String.format(
                  Locale.ROOT,
                  "files %d and %d of %d [ ]  ",
                  split.left(),
                  split.right(),
                  scene.files());
      pieces.add(Piece.of(two, Role.TEXT));
      legend(scene.snapshot, pieces);
      if (scene.snapshot.graph().baseline() == null) {
        legend(scene.other.snapshot, pieces);
      }
      return pieces;
    }
    String name = reading == null ? scene.options.target() : reading.name();
    pieces.add(Piece.of(fromTheRight(name, NAME[form]) + "  ", Role.TEXT));
    if (reading == null) {
      pieces.add(Piece.of("○ opening", Role.DIM));
      return pieces;
    }
    if (reading.files() > 1) {
      String keys = form < 3 ? " [ ]" : "";
      pieces.add(Piece.of(reading.number() + "/" + reading.files() + keys + "  ", Role.ACCENT));
    }
    if (!reading.types().isEmpty() && form < 6) {
      String type = fromTheRight(reading.types().get(reading.type()), NAME[form] / 2);
      String of = " " + (reading.type() + 1) + "/" + reading.types().size() + " v";
      pieces.add(Piece.of(type + of + "  ", Role.ACCENT, Action.MEASURE));
    }
    if (scene.has(Capability.STATES) && !scene.state.states().equals(StateSet.ALL)) {
      String states = StateNames.of(scene.state.states());
      pieces.add(Piece.of(states + "  ", Role.ACCENT, Action.STATES));
    }
    if (!reading.done()) {
      String what = reading.waits().isEmpty() ? "reading " + progress(reading) : "waiting";
      pieces.add(new Piece("○ " + what, Role.ACCENT, true, null));
    }
    if (reading.folded() < 1) {
      boolean turns = scene.state.shape().reversed();
      String what = form < 3 ? turns ? "turning the tree round " : "folding anew " : "";
      pieces.add(Piece.of("  " + what + percent(reading.folded()) + " %", Role.ACCENT));
    }
    if (scene.state.exports() > 0) {
      pieces.add(Header.WRITING);
    }
    if (form < 4) {
      legend(scene.snapshot, pieces);
    }
    return pieces;
  }

  private static void legend(Snapshot snapshot, List<Piece> pieces) {
    if (snapshot.graph().baseline() != null) {
      pieces.add(Piece.of("  more ", Role.WORSE));
      pieces.add(Piece.of("less ", Role.BETTER));
      pieces.add(Piece.of("than before", Role.DIM));
    }
  }

  static List<Piece> right(Scene scene, int form) {
    List<Piece> pieces = new ArrayList<>();
    if (scene.isOfFile() && scene.other == null) {
      Snapshot.Reading reading = scene.snapshot.reading();
      if (form < 2) {
        pieces.add(Piece.of(Measure.grouped(reading.stacks()) + " stacks  ", Role.DIM));
      }
      if (form < 7) {
        pieces.add(Piece.of(reading.measure().text(scene.snapshot.total()), Role.TEXT));
      }
    }
    return pieces;
  }

  /** {@code 43 %}; of a pipe {@code 12.3 MB}. */
  public static String progress(Snapshot.Reading reading) {
    if (reading.size() > 0) {
      return Math.min(99, 100 * reading.bytes() / reading.size()) + " %";
    }
    return String.format(Locale.ROOT, "%.1f MB", reading.bytes() / 1e6);
  }

  private static int percent(double share) {
    return (int) Math.min(99, 100 * share);
  }

  /** The end of a path, cut at its beginning: the end says more. */
  public static String fromTheRight(String text, int room) {
    if (!TextWidth.exceeds(text, room)) {
      return text;
    }
    String end = text;
    while (TextWidth.exceeds(end, room - 1)) {
      end = end.substring(end.offsetByCodePoints(0, 1));
    }
    return "…" + end;
  }
}

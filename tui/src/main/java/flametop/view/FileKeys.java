package flametop.view;

import flametop.profile.GraphQuery;
import flametop.profile.Snapshot;
import java.util.List;

/** What keys do while a file of stacks is shown, where that differs. */
final class FileKeys {
  /** The ones most used first. */
  static final String[][] KEYS = {
    {"↵", "zoom"},
    {"esc", "back"},
    {"/", "search"},
    {"?", "help"},
    {"[ ]", "file"},
    {"c", "outermost"},
    {"e", "export"},
    {"i", "flip"},
    {"q", "quit"},
    {"0", "root"},
  };

  static final String[][][] HELP = {
    {
      {"move"},
      {"←↑↓→ hjkl", "parent, child, neighbours"},
      {"enter", "zoom in; opens a … n more"},
      {"esc", "one level back"},
      {"0 home end", "root, top, deepest"},
      {"pgup pgdn", "a page of levels"},
    },
    {
      {"find"},
      {"/", "search names by regex"},
      {"n N", "next, previous match"},
      {"c p", "only one outermost frame"},
    },
    {
      {"more"},
      {"[ ]", "previous, next file"},
      {"i", "icicle, flame"},
      {"e", "export folded stacks"},
      {"^L", "paint anew"},
      {"q ^C", "quit"},
    },
    {
      {"compared"},
      {"width", "the larger of the two"},
      {"more, less", "share of all, then and now"},
      {"underlined", "gone"},
    },
  };

  private FileKeys() {}

  /** The step of a key that means something else here; null for all others. */
  static Keys.Step press(Scene scene, ViewState s, Key key) {
    if (key.kind() == Key.Kind.TAB) {
      return answer(s, "folded stacks have this view only");
    }
    if (key.kind() != Key.Kind.CHARACTER) {
      return null;
    }
    return switch (key.character()) {
      case '[' -> turn(scene, s, -1);
      case ']' -> turn(scene, s, 1);
      case 'p', 'c' ->
          Keys.Step.to(
              s.withPick(PickList.open(PickList.Of.COMMS)), new Effect.Rows(PickList.Of.COMMS));
      case ' ' -> answer(s, "a file holds still by itself");
      case 'o' -> answer(s, "folded stacks do not say their states; record --states chooses them");
      case 'm', 'z' -> answer(s, "folded stacks do not say their time; a recorded stream does");
      case 's' ->
          answer(s, "folded stacks have no source lines; record --format flametop --lines has");
      case 'd' -> answer(s, "a file does not change: it is painted when a key asks");
      case '+', '=', '-', '_', '<', '>' -> answer(s, "nothing is sampled here");
      case 'J' -> answer(s, "no JVM is asked here");
      case '2' -> answer(s, "folded stacks say nothing of their quality; a recorded stream does");
      default -> null;
    };
  }

  private static Keys.Step answer(ViewState s, String text) {
    return Keys.Step.to(s.withMessage(text, false));
  }

  private static Keys.Step turn(Scene scene, ViewState s, int by) {
    Snapshot.Reading reading = scene.snapshot == null ? null : scene.snapshot.reading();
    if (reading == null || reading.files() < 2) {
      return answer(s, "this is the only file; give several: flametop view A B");
    }
    int next = Math.floorMod(reading.number() - 1 + by, reading.files()) + 1;
    return Keys.Step.to(
        s.withFilter(s.base())
            .withSelected(GraphQuery.ROOT, List.of(GraphQuery.ROOT))
            .withMessage("file " + next + " of " + reading.files(), false),
        new Effect.Turn(by));
  }
}

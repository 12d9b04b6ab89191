package flametop.view;

import java.util.ArrayList;
import java.util.List;

/** What the keys do while a search is typed. */
final class SearchKeys {
  private SearchKeys() {}

  /** The prompt, with what was searched for in this view before. */
  static Keys.Step begun(ViewState s) {
    return Keys.Step.to(s.withSearch(Search.of(s.search() == null ? "" : s.search().text(), true)));
  }

  static Keys.Step press(Scene scene, ViewState s, Key key) {
    Prompt prompt = s.search().prompt();
    return switch (key.kind()) {
      case CHARACTER ->
          changed(s, prompt.typed(key.character()), "the search is as long as it may be");
      case BACKSPACE -> {
        Prompt erased = prompt.erased();
        yield erased == null ? Keys.Step.to(s.withSearch(null)) : changed(s, erased, "");
      }
      case UP -> changed(s, prompt.recalled(s.searches(), 1), "no older search");
      case DOWN -> changed(s, prompt.recalled(s.searches(), -1), "no later search");
      case TAB -> completed(scene, s, 1);
      case SHIFT_TAB -> completed(scene, s, -1);
      case CTRL ->
          switch (key.character()) {
            case 'u' -> changed(s, Prompt.of(""), "");
            case 'w' -> changed(s, prompt.erasedWord(), "");
            default -> Keys.nothing(s, key);
          };
      case ENTER -> enter(scene, s);
      case ESCAPE -> Keys.Step.to(s.withSearch(null));
      default -> Keys.nothing(s, key);
    };
  }

  private static Keys.Step changed(ViewState s, Prompt prompt, String none) {
    return prompt == null
        ? Keys.Step.to(s.withMessage(none, false))
        : Keys.Step.to(s.withSearch(Search.of(prompt, true)));
  }

  private static Keys.Step completed(Scene scene, ViewState s, int by) {
    Prompt next = s.search().prompt().completed(s.view().keys().namesInSight(scene), by);
    if (next == null) {
      return Keys.Step.to(s.withMessage("no name in sight has that", false));
    }
    String which = "name " + (next.choice() + 1) + " of " + next.choices() + " in sight";
    return Keys.Step.to(s.withSearch(Search.of(next, true)).withMessage(which, false));
  }

  /** Names of the boxes that are drawn, the widest first, each once. */
  static List<String> namesInSight(Scene scene) {
    List<String> names = new ArrayList<>();
    Geometry g = scene.geometry;
    if (g == null) {
      return names;
    }
    List<Integer> boxes = new ArrayList<>();
    int first = scene.plot.firstLevel;
    int last = first + scene.plot.levelsInSight;
    for (int box = g.levelStart(first); box < g.levelStart(last); box++) {
      if (!g.isRun(box)) {
        boxes.add(box);
      }
    }
    boxes.sort((a, b) -> Integer.compare(g.right(b) - g.left(b), g.right(a) - g.left(a)));
    for (int box : boxes) {
      String name = g.slice().name()[g.node(box)];
      if (!names.contains(name)) {
        names.add(name);
      }
    }
    return names;
  }

  private static Keys.Step enter(Scene scene, ViewState s) {
    String text = s.search().text();
    if (text.isEmpty()) {
      return Keys.Step.to(s.withSearch(null));
    }
    if (s.search().pattern() == null) {
      return Keys.Step.to(s);
    }
    ViewState kept =
        s.withSearch(s.search().kept()).withSearches(Prompt.remember(s.searches(), text));
    Keys.Step step = s.view().keys().searched(scene, kept);
    return Keys.Step.to(step.state(), new Effect.Remember(text));
  }
}

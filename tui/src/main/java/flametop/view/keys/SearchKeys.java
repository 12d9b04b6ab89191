package flametop.view.keys;

import flametop.view.base.Key;
import flametop.view.base.Prompt;
import flametop.view.layout.Geometry;
import flametop.view.layout.Scene;
import flametop.view.state.Effect;
import flametop.view.state.Search;
import flametop.view.state.Step;
import flametop.view.state.Typed;
import flametop.view.state.ViewState;
import java.util.ArrayList;
import java.util.List;

/** The keys of a search that is being typed. */
public final class SearchKeys {
  private SearchKeys() {}

  /** Opens the prompt with the search of this view. */
  public static Step begun(ViewState s) {
    Search search = s.search();
    return Step.to(s.withSearch(Search.of(search == null ? "" : search.text(), true)));
  }

  public static Step press(ViewKeys view, Scene scene, ViewState s, Search search, Key key) {
    Prompt prompt = search.prompt();
    return switch (key.kind()) {
      case UP -> recalled(s, prompt, 1);
      case DOWN -> recalled(s, prompt, -1);
      case TAB -> completed(view.namesInSight(scene), s, prompt, 1);
      case SHIFT_TAB -> completed(view.namesInSight(scene), s, prompt, -1);
      case ENTER -> enter(view, scene, s, search);
      case ESCAPE -> Step.to(s.withSearch(null));
      default -> {
        if (key.kind() == Key.Kind.BACKSPACE && prompt.isEmpty()) {
          yield Step.to(s.withSearch(null));
        }
        if (key.equals(Key.ctrl('p')) || key.equals(Key.ctrl('n'))) {
          yield recalled(s, prompt, key.character() == 'p' ? 1 : -1);
        }
        yield PromptKeys.edited(
            s, prompt, key, line -> Step.to(s.withSearch(Search.of(line, true))));
      }
    };
  }

  private static Step recalled(ViewState s, Prompt prompt, int by) {
    Prompt line = prompt.recalled(s.typed(Typed.SEARCH), by);
    return line == null
        ? Step.answer(s, by > 0 ? "no older search" : "no later search")
        : Step.to(s.withSearch(Search.of(line, true)));
  }

  private static Step completed(List<String> names, ViewState s, Prompt prompt, int by) {
    Prompt next = prompt.completed(names, by);
    if (next == null) {
      return Step.answer(s, "no name in sight has this text");
    }
    String which = "name " + (next.choice() + 1) + " of " + next.choices() + " in sight";
    return Step.answer(s.withSearch(Search.of(next, true)), which);
  }

  /** Names of drawn boxes, the widest first, each once. */
  static List<String> namesInSight(Scene scene) {
    List<String> names = new ArrayList<>();
    Geometry g = scene.geometry;
    if (scene.plot.levelsInSight == 0) {
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

  private static Step enter(ViewKeys view, Scene scene, ViewState s, Search search) {
    String text = search.text();
    if (text.isEmpty()) {
      return Step.to(s.withSearch(null));
    }
    if (search.pattern() == null) {
      return Step.to(s);
    }
    ViewState kept = s.withSearch(search.kept()).withUsed(Typed.SEARCH, text);
    Step step = view.searched(scene, kept);
    return Step.to(step.state(), new Effect.Remember(text));
  }
}

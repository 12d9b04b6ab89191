package flametop.view.screen;

import flametop.profile.answer.Capability;
import flametop.profile.answer.Function;
import flametop.profile.answer.TopReport;
import flametop.view.base.Action;
import flametop.view.base.Key;
import flametop.view.base.Mouse;
import flametop.view.base.Prompt;
import flametop.view.base.Zone;
import flametop.view.keys.CommonKeys;
import flametop.view.keys.FileKeys;
import flametop.view.keys.FormatKeys;
import flametop.view.keys.PickKeys;
import flametop.view.keys.SandwichKeys;
import flametop.view.keys.SearchKeys;
import flametop.view.keys.ShapeKeys;
import flametop.view.keys.SourceListKeys;
import flametop.view.keys.TypedTimeKeys;
import flametop.view.keys.ViewKeys;
import flametop.view.layout.Header;
import flametop.view.layout.HelpLayout;
import flametop.view.layout.KeyLine;
import flametop.view.layout.Piece;
import flametop.view.layout.Scene;
import flametop.view.state.Effect;
import flametop.view.state.PickList;
import flametop.view.state.Search;
import flametop.view.state.SourceList;
import flametop.view.state.Step;
import flametop.view.state.ViewActions;
import flametop.view.state.ViewState;
import flametop.view.table.TopTable;
import java.util.EnumSet;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The meaning of every key: a pure function from state and key to the next state and requests to
 * the world. The {@code Keymap} gives the {@link Action} of a key; the current view does its own
 * actions, this class does those of all views.
 */
public final class Keys {
  /** The actions that pasted text must never do. */
  private static final EnumSet<Action> GRAVE =
      EnumSet.of(Action.QUIT, Action.RESTART, Action.EXPORT, Action.ADD, Action.REMOVE);

  private Keys() {}

  /** Takes an answer into the state. */
  public static Step answered(ViewState s, Effect.Answer answer) {
    if (answer instanceof Effect.Answer.Listed listed) {
      return PickKeys.listed(s, listed.of(), listed.rows());
    }
    if (answer instanceof Effect.Answer.Sources sources) {
      return SourceListKeys.listed(s, sources.listing());
    }
    return Step.to(s.withAnswer(((Effect.Answer.Located) answer).source()));
  }

  /** Does the actions that waited for a picture. */
  public static Step arrived(Scene scene) {
    SourceList sources = scene.state.sources();
    if (sources != null && sources.asked() >= 0) {
      return SourceListKeys.arrived(scene, scene.settled(), sources);
    }
    ViewState s = SandwichKeys.arrived(scene, scene.settled());
    boolean bringing = s.bringing() && scene.page instanceof TopReport;
    Function known = bringing ? s.next() : null;
    Function brought = bringing && known == null ? SandwichKeys.selected(scene, s) : known;
    s = brought == null ? s : s.withBrought(brought, TopTable.isOnTop(scene, brought));
    Step shaped = ShapeKeys.arrived(scene, s);
    if (shaped != null) {
      return shaped;
    }
    Search search = s.search();
    return search == null || search.awaited() == 0 || !scene.answered()
        ? Step.to(s)
        : Views.keys(s.view()).match(scene, s.withSearch(search.awaiting(0)), search.awaited());
  }

  /** Applies one key to the state of a scene. */
  public static Step press(Scene scene, Key key) {
    return press(scene, key, false);
  }

  /**
   * The same for a key that may be part of a text.
   *
   * @param inText whether the key came with others at once, as if pasted: then it does no grave
   *     action
   */
  public static Step press(Scene scene, Key key, boolean inText) {
    Step step = pressed(scene, key, inText);
    ViewState counted = step.state().after(scene.state);
    return counted == step.state() ? step : new Step(counted, step.effects());
  }

  private static Step pressed(Scene scene, Key key, boolean inText) {
    ViewState s = scene.settled().withoutMessage().awaiting(null);
    Search search = s.search();
    if (search != null && search.awaited() != 0) {
      s = s.withSearch(search.awaiting(0));
    }
    Action action = scene.options.keymap().action(s.view(), scene.options.origin(), key);
    boolean letter = key.kind() == Key.Kind.CHARACTER;
    if (!letter && (action == Action.QUIT || action == Action.REPAINT)) {
      return CommonKeys.act(scene, s, action);
    }
    if (s.help()) {
      return Step.to(s.withHelpPage(HelpLayout.turned(scene, key, Views.legend(scene))));
    }
    PickList pick = s.pick();
    if (pick != null) {
      return PickKeys.press(s, pick, key);
    }
    if (s.formats().open()) {
      return FormatKeys.press(s, key);
    }
    if (s.sources() != null) {
      return SourceListKeys.press(scene, s, s.sources(), key);
    }
    if (search != null && search.typing()) {
      return SearchKeys.press(Views.keys(s.view()), scene, s, search, key);
    }
    Prompt time = s.time().typed();
    if (time != null) {
      return TypedTimeKeys.press(scene, s, time, key);
    }
    if (inText && letter && GRAVE.contains(action)) {
      String text = key.name() + " came amid other text, as if pasted; press it again if meant";
      return Step.answer(s, text);
    }
    return action == null ? Step.nothing(s, key) : act(scene, s, action);
  }

  /** Applies pasted text: an open prompt takes it; it is never a command. */
  public static Step paste(Scene scene, String pasted) {
    String text = pasted.strip();
    ViewState s = scene.settled().withoutMessage();
    PickList pick = s.pick();
    Search search = s.search();
    Prompt time = s.time().typed();
    if (!s.help()) {
      if (pick != null) {
        return PickKeys.narrowed(s, pick.withPrompt(pick.prompt().typed(text)));
      }
      if (s.formats().open()) {
        return Step.to(s.withFormats(s.formats().withPrompt(s.formats().prompt().typed(text))));
      }
      if (s.sources() != null) {
        return SourceListKeys.typed(s, s.sources(), s.sources().prompt().typed(text));
      }
      if (search != null && search.typing()) {
        return Step.to(s.withSearch(Search.of(search.prompt().typed(text), true)));
      }
      if (time != null) {
        return TypedTimeKeys.typed(s, time.typed(text));
      }
    }
    return Step.answer(s, "pasted text is no command; / searches for it");
  }

  /** Applies one event of the mouse to the state of a scene. */
  public static Step mouse(Scene scene, Mouse mouse) {
    ViewState s = scene.settled();
    if (scene.tooSmall()) {
      return Step.to(s);
    }
    if (mouse.isPress() || mouse.wheel() != 0) {
      s = s.withoutMessage();
    }
    if (s.help()) {
      if (mouse.isPress() || mouse.wheel() == 0) {
        return Step.to(mouse.isPress() ? s.withHelp(false) : s);
      }
      Key.Kind turns = mouse.wheel() < 0 ? Key.Kind.UP : Key.Kind.DOWN;
      int page = HelpLayout.turned(scene, Key.of(turns), Views.legend(scene));
      return Step.to(page < 0 ? s : s.withHelpPage(page));
    }
    PickList pick = s.pick();
    if (pick != null) {
      return PickKeys.mouse(scene, s, pick, mouse);
    }
    if (s.formats().open()) {
      return FormatKeys.mouse(scene, s, mouse);
    }
    if (s.sources() != null) {
      return SourceListKeys.mouse(scene, s, s.sources(), mouse);
    }
    Search search = s.search();
    if (search != null && search.typing() || s.time().typed() != null) {
      return Step.to(s);
    }
    if (mouse.isPress() && (mouse.y() == 0 || mouse.y() == scene.rows - 1)) {
      Action action =
          mouse.y() == 0
              ? headerAt(scene, mouse)
              : Zone.at(KeyLine.of(scene).zones(), mouse.x(), mouse.y());
      return action != null && ViewActions.of(s.view(), scene.options.origin()).has(action)
          ? act(scene, s, action)
          : Step.to(s);
    }
    Step step = FileKeys.mouse(Views.keys(s.view()), scene, s, mouse);
    return step != null ? step : Step.to(s);
  }

  private static @Nullable Action headerAt(Scene scene, Mouse mouse) {
    Piece piece = Zone.at(Header.zones(scene), mouse.x(), mouse.y());
    return piece == null ? null : piece.action();
  }

  private static Step act(Scene scene, ViewState s, Action action) {
    ViewKeys view = Views.keys(s.view());
    Step step;
    if (scene.options.origin().has(Capability.FILES)) {
      step = FileKeys.act(view, scene, s, action);
    } else if (scene.lacks(action)) {
      step =
          Step.answer(
              s, "only time has states; this graph is of " + scene.snapshot.measure().title());
    } else if (!scene.options.origin().has(action)) {
      step = Step.answer(s, Objects.requireNonNull(action.needs()).lacking());
    } else {
      step = view.act(scene, s, action);
    }
    return step != null ? step : CommonKeys.act(scene, s, action);
  }
}

package flametop.term;

import flametop.profile.answer.Shape;
import flametop.profile.answer.Snapshot;
import flametop.profile.answer.StateSet;
import flametop.profile.live.Profile;
import flametop.view.base.Origin;
import flametop.view.layout.Scene;
import flametop.view.screen.Painter;
import flametop.view.state.Keymap;
import flametop.view.state.PaintOptions;
import flametop.view.state.ViewState;
import java.util.List;
import java.util.Locale;

/** Loads classes before the screen needs them. */
public final class EarlyLoading {
  private EarlyLoading() {}

  /**
   * Starts a thread that loads the classes of the first paint, then those of the profile. Loading
   * takes about as long as taking the terminal, which goes on meanwhile.
   *
   * @param live whether there will be a profile
   */
  public static void start(boolean live) {
    Thread thread = new Thread(() -> load(live), "prepare");
    thread.setDaemon(true);
    thread.start();
  }

  private static void load(boolean live) {
    String unused = String.format(Locale.ROOT, "%.1f", 1.0);
    PaintOptions options =
        new PaintOptions(
            "", "", Origin.LIVE, false, false, Integer::toString, Keymap.DEFAULT, List.of());
    ViewState state = ViewState.initial(StateSet.ALL, Shape.PLAIN, 1, 1, 1);
    Painter.paint(Scene.of(Snapshot.OPENING, state, 80, 24, options));
    if (live) {
      Profile.prepare();
    }
  }
}

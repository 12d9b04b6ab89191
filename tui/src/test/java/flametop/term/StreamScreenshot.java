package flametop.term;

import flametop.profile.answer.GraphQuery;
import flametop.profile.answer.Shape;
import flametop.profile.answer.Snapshot;
import flametop.profile.answer.StateSet;
import flametop.profile.live.Profile;
import flametop.profile.tree.Options;
import flametop.sampler.ReplaySource;
import flametop.sampler.Sampler;
import flametop.view.base.CellGrid;
import flametop.view.base.Key;
import flametop.view.layout.Scene;
import flametop.view.screen.Keys;
import flametop.view.screen.Painter;
import flametop.view.state.Keymap;
import flametop.view.state.PaintOptions;
import flametop.view.state.Questions;
import flametop.view.state.ViewState;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Writes the picture of the README: {@code STREAM COLUMNS ROWS THEME OUT.svg [KEYS [PIDS]]}, where
 * the stream is what {@code flametop record --format flametop} wrote, the keys (letters) are
 * pressed before, and processes other than those (with commas between) are left out.
 */
public final class StreamScreenshot {
  private StreamScreenshot() {}

  public static void main(String[] arguments) throws Exception {
    int columns = Integer.parseInt(arguments[1]);
    int rows = Integer.parseInt(arguments[2]);
    try (ReplaySource source = ReplaySource.open(Path.of(arguments[0]), 20);
        Profile profile = new Profile(source.facts(), options(arguments), source.names());
        Sampler sampler =
            new Sampler(source, source.facts().passHz(), source.facts().cpuHz(), profile)) {
      sampler.start();
      while (!sampler.finished()) {
        Thread.sleep(50);
      }
      PaintOptions options =
          new PaintOptions(
              "web-1",
              source.facts().wholeHost() ? "all tasks" : source.facts().target(),
              flametop.view.base.Origin.LIVE,
              false,
              false,
              Integer::toString,
              Keymap.DEFAULT,
              java.util.List.of());
      ViewState state =
          ViewState.initial(
              source.facts().wholeHost() ? StateSet.BUSY : StateSet.ALL,
              Shape.PLAIN,
              source.facts().passHz(),
              source.facts().cpuHz(),
              250_000_000L);
      Scene scene = scene(profile, state, columns, rows, options);
      String keys = arguments.length > 5 ? arguments[5] : "";
      for (int i = 0; i < keys.length(); i++) {
        Key key =
            switch (keys.charAt(i)) {
              case '\n' -> Key.of(Key.Kind.ENTER);
              case '\033' -> Key.of(Key.Kind.ESCAPE);
              default -> Key.of(keys.charAt(i));
            };
        scene = scene(profile, Keys.press(scene, key).state(), columns, rows, options);
      }
      CellGrid grid = Painter.paint(scene);
      Files.writeString(
          Path.of(arguments[4]),
          Picture.svg(
              grid,
              new Themes(Look.themesFolder(), UserFiles.NONE).load(arguments[3], "").theme(),
              "flametop",
              List.of()));
    }
  }

  private static Options options(String[] arguments) {
    Set<Integer> pids =
        arguments.length > 6
            ? Stream.of(arguments[6].split(",")).map(Integer::valueOf).collect(Collectors.toSet())
            : Set.of();
    return new Options(
        pids.isEmpty() ? Shape.PLAIN : Shape.of(new Shape.Processes(pids, false)),
        Options.DEFAULT_HISTORY_BYTES,
        true);
  }

  private static Scene scene(
      Profile profile, ViewState state, int columns, int rows, PaintOptions options)
      throws Exception {
    GraphQuery query = Questions.picture(state, columns);
    Snapshot snapshot = profile.snapshot(query).get();
    return Scene.of(snapshot, state, columns, rows, options);
  }
}

package flametop.view.screen;

import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.profile.answer.Moment;
import flametop.profile.answer.Page;
import flametop.profile.answer.PageQuery;
import flametop.profile.answer.Shape;
import flametop.profile.answer.Snapshot;
import flametop.profile.answer.SnapshotSource;
import flametop.profile.answer.StateSet;
import flametop.profile.file.StackFile;
import flametop.profile.file.StackFiles;
import flametop.profile.file.StackInput;
import flametop.profile.live.BusyMachine;
import flametop.profile.live.Profile;
import flametop.profile.tree.Options;
import flametop.sampler.ReplaySource;
import flametop.sampler.Sampler;
import flametop.sampler.StreamBytes;
import flametop.view.base.CellGrid;
import flametop.view.base.Key;
import flametop.view.base.Mouse;
import flametop.view.base.Origin;
import flametop.view.layout.Scene;
import flametop.view.state.Effect;
import flametop.view.state.Keymap;
import flametop.view.state.PaintOptions;
import flametop.view.state.Questions;
import flametop.view.state.Step;
import flametop.view.state.ViewState;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Random keys, mouse and sizes over real profiles, in all views: whatever is done, each picture can
 * be made. Answers come early, late, or after the next key, as they do on a screen.
 */
class MonkeyTest {
  private static final int STEPS = 800;
  private static final int[][] SIZES = {
    {80, 24}, {120, 34}, {200, 60}, {40, 10}, {41, 13}, {39, 9}, {1, 1}, {500, 11}, {40, 200}
  };
  private static final String[] TEXTS = {
    "f1", "(a+)+$", "", ".", "a(", "x".repeat(5_000), "\u0000\u0007\u001b[A\uD800\n\t", "all"
  };

  /** What leads on more often than chance would. */
  private static final String OFTEN = "fxuUrMgHsbt[]imozCnNScpPO0|w";

  private static final long SECOND = 1_000_000_000L;

  @TempDir private Path folder;

  private final List<String> done = new ArrayList<>();
  private Random random;
  private SnapshotSource pictures;
  private ScreenSource source;
  private PaintOptions options;
  private ViewState state;
  private Snapshot snapshot = Snapshot.OPENING;
  private Page page;
  private int columns = 80;
  private int rows = 24;

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void anyKeys_live_leaveAPicture(long seed) throws Exception {
    random = new Random(seed);
    state = ViewState.initial(StateSet.ALL, Shape.PLAIN, 19, 99, SECOND / 4);
    BusyMachine machine = new BusyMachine(seed);
    try (Profile profile =
        new Profile(BusyMachine.facts(), Options.DEFAULT, (frames, count) -> {})) {
      play(
          profile,
          Origin.LIVE,
          STEPS,
          () -> {
            for (int pass = random.nextInt(40); pass > 0; pass--) {
              profile.accept(machine.next(), batch -> {});
            }
          });
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2})
  void anyKeys_files_leaveAPicture(long seed) throws Exception {
    random = new Random(seed);
    state = ViewState.initial(StateSet.ALL, Shape.PLAIN, 0, 0, SECOND).withMoment(Moment.ALL);
    List<StackInput> inputs = new ArrayList<>();
    for (int file = 0; file < 3; file++) {
      inputs.add(StackInput.open(file(file)));
    }
    try (StackFiles files = new StackFiles(inputs, StackFile.Choice.comm(true))) {
      play(files, Origin.FILE, STEPS, () -> {});
    }
  }

  /** Numbers in the recording are anything, and its checksums are right all the same. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4})
  void anyKeys_recordingsOfAnyNumbers_leaveAPicture(long seed) throws Exception {
    random = new Random(seed);
    byte[] recording = new BusyMachine(seed).recording(40);
    for (int round = 0; round < 40; round++) {
      Path file = Files.write(folder.resolve("recording"), changed(recording));
      snapshot = Snapshot.OPENING;
      page = null;
      state = ViewState.initial(StateSet.ALL, Shape.PLAIN, 19, 99, SECOND / 4);
      try (ReplaySource replay = ReplaySource.open(file, 0);
          Profile profile = new Profile(replay.facts(), Options.DEFAULT, replay.names());
          Sampler sampler = new Sampler(replay, 19, 99, profile)) {
        sampler.start();
        play(profile, Origin.RECORDING, 20, () -> {});
      }
    }
  }

  /** With a few of its numbers changed, most in records of one kind. */
  private byte[] changed(byte[] recording) {
    byte[] bytes = recording.clone();
    ByteBuffer file = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    int kind = 1 + random.nextInt(19);
    for (int at = 20 + file.getInt(12); at < bytes.length; at += file.getInt(at)) {
      int end = at + file.getInt(at);
      for (int record = at + 24; record < end; record += 8 + file.getInt(record + 4)) {
        boolean often = file.getShort(record) == kind;
        if (file.getInt(record + 4) > 0 && random.nextInt(often ? 20 : 500) == 0) {
          change(bytes, record + 8, file.getInt(record + 4));
        }
      }
      if (random.nextInt(100) == 0) {
        change(bytes, at + 8, 8);
      }
      byte[] batch = Arrays.copyOfRange(bytes, at, end);
      StreamBytes.seal(batch);
      System.arraycopy(batch, 0, bytes, at, batch.length);
    }
    return bytes;
  }

  /** Makes some bytes the largest, smallest or any number. */
  private void change(byte[] bytes, int from, int length) {
    int at = from + random.nextInt(length);
    int end = Math.min(at + (1 << random.nextInt(4)), from + length);
    int how = random.nextInt(5);
    for (int i = at; i < end; i++) {
      boolean last = i == end - 1;
      bytes[i] =
          (byte)
              switch (how) {
                case 0 -> 0;
                case 1 -> 0xff;
                case 2 -> last ? 0x7f : 0xff;
                case 3 -> last ? 0x80 : 0;
                default -> random.nextInt();
              };
    }
  }

  /** The first has stacks, the second nothing but stacks that recurse, the third nothing. */
  private Path file(int number) throws IOException {
    StringBuilder text = new StringBuilder();
    for (int line = number == 0 ? 300 : number == 1 ? 5 : 0; line > 0; line--) {
      for (int depth = 1 + random.nextInt(number == 0 ? 30 : 3_000); depth > 0; depth--) {
        text.append("f").append(random.nextInt(number == 0 ? 20 : 2)).append(';');
      }
      text.append("\u202e\u5168 ").append(random.nextInt(1_000)).append('\n');
    }
    return Files.writeString(folder.resolve(number + ".folded"), text);
  }

  private void play(SnapshotSource from, Origin origin, int steps, Runnable onward)
      throws Exception {
    pictures = from;
    source = new ScreenSource(from);
    options =
        new PaintOptions(
            "web-1",
            "all",
            origin,
            random.nextInt(4) == 0,
            random.nextInt(4) == 0,
            Integer::toString,
            Keymap.DEFAULT,
            List.of());
    try {
      for (int step = 0; step < steps; step++) {
        if (random.nextInt(4) == 0) {
          onward.run();
        }
        if (random.nextInt(30) == 0) {
          int[] size = SIZES[random.nextInt(SIZES.length)];
          columns = size[0];
          rows = size[1];
          done.add(columns + "x" + rows);
        }
        act();
        CellGrid grid = Painter.paint(scene());
        assertTrue(grid.columns() == columns && grid.rows() == rows);
        if (random.nextInt(3) > 0) {
          arrive();
        }
      }
    } catch (Throwable e) {
      throw new AssertionError(
          "after " + done.subList(Math.max(0, done.size() - 40), done.size()), e);
    }
  }

  private void act() throws Exception {
    Scene scene = scene();
    int what = random.nextInt(100);
    if (what < 10) {
      Mouse.Kind[] kinds = Mouse.Kind.values();
      Mouse mouse =
          new Mouse(
              kinds[random.nextInt(kinds.length)], random.nextInt(columns), random.nextInt(rows));
      done.add(mouse.toString());
      take(Keys.mouse(scene, mouse));
    } else if (what < 13) {
      String text = TEXTS[random.nextInt(TEXTS.length)];
      done.add("paste");
      take(Keys.paste(scene, text));
    } else if (what < 15) {
      done.add("/ tab");
      take(Keys.press(scene, Key.of('/')));
      take(Keys.press(scene(), Key.of(Key.Kind.TAB)));
    } else {
      Key key = key();
      done.add(key.name());
      take(Keys.press(scene, key, what == 15));
    }
  }

  private Key key() {
    Key.Kind[] kinds = Key.Kind.values();
    return switch (random.nextInt(6)) {
      case 0 -> Key.of(OFTEN.charAt(random.nextInt(OFTEN.length())));
      case 1 -> Key.of(' ' + random.nextInt('~' - ' '));
      case 2 -> Key.of('1' + random.nextInt(8));
      case 3 -> Key.ctrl((char) ('a' + random.nextInt(26)));
      default -> {
        Key.Kind kind = kinds[random.nextInt(kinds.length)];
        yield switch (kind) {
          case CHARACTER -> Key.of(random.nextInt(Character.MAX_CODE_POINT));
          case CTRL -> Key.of(Key.Kind.ENTER);
          case FUNCTION -> Key.function(1 + random.nextInt(12));
          default -> Key.of(kind);
        };
      }
    };
  }

  private Scene scene() {
    return Scene.of(snapshot, page, state, columns, rows, options);
  }

  private static <T> T get(CompletableFuture<T> future) throws Exception {
    return future.get(3, TimeUnit.MINUTES);
  }

  private void arrive() throws Exception {
    snapshot = get(pictures.snapshot(Questions.picture(state, columns)));
    PageQuery beside = Questions.page(state, columns);
    page = beside == null ? null : get(pictures.page(beside));
    state = scene().settled();
    take(Keys.arrived(scene()));
  }

  private void take(Step step) throws Exception {
    state = step.state();
    for (Effect effect : step.effects()) {
      if (effect instanceof Effect.OfSource e) {
        source.apply(e);
      } else if (effect instanceof Effect.Question q) {
        ask(q);
      }
    }
    source.show(state);
  }

  private void ask(Effect.Question question) throws Exception {
    take(Keys.answered(state, get(source.ask(question, state))));
  }
}

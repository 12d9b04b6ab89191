package flametop.view.screen;

import flametop.profile.answer.Page;
import flametop.profile.answer.PageQuery;
import flametop.profile.answer.Sandwich;
import flametop.profile.answer.Snapshot;
import flametop.profile.answer.SplitAnswer;
import flametop.profile.file.StackFile;
import flametop.profile.file.StackFiles;
import flametop.profile.file.StackInput;
import flametop.view.base.Key;
import flametop.view.base.Mouse;
import flametop.view.layout.Scene;
import flametop.view.state.Effect;
import flametop.view.state.PaintOptions;
import flametop.view.state.Questions;
import flametop.view.state.Step;
import flametop.view.state.ViewState;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Several files on a screen without a terminal, which waits for each answer. */
public final class TwoFiles implements AutoCloseable {
  private final StackFiles files;
  private final ScreenSource source;
  private Snapshot snapshot;
  private Page page;
  public ViewState state = FilePictures.state();
  public int columns;
  int rows;
  PaintOptions options = FilePictures.options(false);

  public TwoFiles(int columns, int rows, Path... paths) throws Exception {
    this(columns, rows, new StackFiles(inputs(paths), StackFile.Choice.comm(true)));
  }

  public TwoFiles(int columns, int rows, StackFiles files) throws Exception {
    this.columns = columns;
    this.rows = rows;
    this.files = files;
    source = new ScreenSource(files);
    arrive();
  }

  private static List<StackInput> inputs(Path... paths) throws Exception {
    List<StackInput> inputs = new ArrayList<>();
    for (Path path : paths) {
      inputs.add(StackInput.open(path));
    }
    return inputs;
  }

  /** The picture of what has come. */
  public Scene scene() {
    return Scene.of(snapshot, page, state, columns, rows, options);
  }

  /** The file that the keys act on. */
  public StackFile shown() {
    return files.shown();
  }

  /** What is asked comes, whole and folded as it is to be. */
  public void arrive() throws Exception {
    do {
      files.shown().whole().get();
      snapshot = files.snapshot(Questions.picture(state, columns)).get();
      PageQuery query = Questions.page(state, columns);
      page = query == null ? null : files.page(query).get();
    } while (isBehind(snapshot, page));
    state = scene().settled();
    take(Keys.arrived(scene()));
  }

  private static boolean isBehind(Snapshot graph, Page beside) {
    if (beside instanceof SplitAnswer two) {
      return isBehind(graph, two.own()) || isBehind(two.snapshot(), two.page());
    }
    return !graph.reading().done()
        || graph.refolding()
        || beside instanceof Sandwich sandwich && sandwich.refolding();
  }

  private void take(Step step) {
    state = step.state();
    for (Effect effect : step.effects()) {
      if (effect instanceof Effect.OfSource e) {
        source.apply(e);
      }
    }
    source.show(state);
  }

  /** Presses a key; what it asks is not here yet. */
  public void pressed(Key key) {
    take(Keys.press(scene(), key));
  }

  void press(Key... keys) throws Exception {
    for (Key key : keys) {
      pressed(key);
      arrive();
    }
  }

  public void press(Key.Kind... kinds) throws Exception {
    for (Key.Kind kind : kinds) {
      press(Key.of(kind));
    }
  }

  public void type(String text) throws Exception {
    for (int c : text.chars().toArray()) {
      press(Key.of(c));
    }
  }

  /** Searches for a name, goes to it, and closes the search. */
  public void goTo(String regex) throws Exception {
    type("/" + regex);
    press(Key.Kind.ENTER, Key.Kind.ESCAPE);
  }

  public void mouse(Mouse.Kind kind, int x, int y) throws Exception {
    take(Keys.mouse(scene(), new Mouse(kind, x, y)));
    arrive();
  }

  /** The rows of the screen, without blanks at their ends. */
  public List<String> lines() {
    return PictureText.rows(Painter.paint(scene())).stream().map(String::stripTrailing).toList();
  }

  /** The first row with a text; empty if there is none. */
  public String line(String text) {
    for (String line : lines()) {
      if (line.contains(text)) {
        return line;
      }
    }
    return "";
  }

  @Override
  public void close() {
    files.close();
  }
}

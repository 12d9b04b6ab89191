package flametop.view.screen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.profile.file.StackFile;
import flametop.profile.file.StackFiles;
import flametop.profile.file.StackInput;
import flametop.view.base.Key;
import flametop.view.base.Mouse;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files of stacks on the screen: what a person reads there after each key. */
class FileScreenTest {
  @TempDir private Path folder;

  private TwoFiles screen;

  @AfterEach
  void close() {
    screen.close();
  }

  private Path file(String name, String... lines) throws IOException {
    return Files.writeString(folder.resolve(name), String.join("\n", lines) + "\n");
  }

  /** The first line that has a match; a failure shows the screen. */
  private String shown(String regex) {
    List<String> lines = screen.lines();
    Pattern pattern = Pattern.compile(regex);
    for (String line : lines) {
      if (pattern.matcher(line).find()) {
        return line;
      }
    }
    throw new AssertionError("no /" + regex + "/ in:\n" + String.join("\n", lines));
  }

  private void gone(String regex) {
    Pattern pattern = Pattern.compile(regex);
    for (String line : screen.lines()) {
      assertFalse(pattern.matcher(line).find(), line);
    }
  }

  /** Presses keys: letters as they are, a word in brackets for one that has a name. */
  private void keys(String keys) throws Exception {
    for (int at = 0; at < keys.length(); at++) {
      int end = keys.indexOf(']', at);
      if (keys.charAt(at) == '[' && end > at + 1) {
        screen.press(Key.Kind.valueOf(keys.substring(at + 1, end)));
        at = end;
      } else {
        screen.press(Key.of(keys.charAt(at)));
      }
    }
  }

  @Test
  void graph_movesZoomsAndSearches_andSaysWhatAFileHasNot() throws Exception {
    screen =
        new TwoFiles(
            120, 40, file("a.folded", "main;parse;lex 30", "main;parse 10", "main;run;eval 60"));
    shown("a\\.folded .*3 stacks *100 samples");
    keys("[DOWN][DOWN]");
    shown("^ *run  +60\\.0% of all");
    keys("[LEFT]");
    shown("^ *parse  +40\\.0% of all");
    keys("[ENTER]");
    gone("eval");
    keys("[ESCAPE]");
    shown("eval");
    keys("/lex[ENTER]");
    shown("^ *lex  +30\\.0% of all");
    shown("matched 30\\.0%");
    keys(" ");
    shown("a file holds still");
    keys("t");
    shown("do not say their time");
    keys("5");
    shown("nothing of tasks");
    keys("]");
    shown("the only file");
  }

  private static List<String> children(int count) {
    List<String> lines = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      lines.add(String.format("all;root;child%05d 1", i));
    }
    return lines;
  }

  @Test
  void files_wideDeepAndEmpty_areShownEach() throws Exception {
    StringBuilder deep = new StringBuilder("frame0");
    for (int i = 1; i < 100_000; i++) {
      deep.append(";frame").append(i);
    }
    screen =
        new TwoFiles(
            120,
            40,
            file("wide.folded", children(50_000).toArray(new String[0])),
            file("deep.folded", deep + " 1"),
            Files.createFile(folder.resolve("empty.folded")));
    shown("50000 more");
    keys("/^child04242$[ENTER]");
    shown("match 1 of 1");
    shown("^ *child04242 ");
    keys("]");
    shown(" 2/3 ");
    shown("frame20");
    keys("]");
    shown(" 3/3 ");
    shown("empty\\.folded is empty");
    gone("frame20");
    screen.press(Key.of('['));
    shown(" 2/3 ");
    shown("more levels");
  }

  @Test
  void run_ofManyChildren_leadsToEach() throws Exception {
    screen = new TwoFiles(120, 40, file("wide.folded", children(50_000).toArray(new String[0])));
    keys("[DOWN][DOWN][DOWN]");
    shown("^ *… 50000 more  frames too thin to draw");
    // Each time it holds fewer, until frames have boxes of their own.
    int opened = 0;
    while (told().contains("too thin to draw")) {
      String before = told();
      keys("[ENTER]");
      assertFalse(before.equals(told()), "enter opens a run");
      assertTrue(opened++ < 30, "runs end");
    }
    shown("^ *child00000 +0\\.0% of all");
    keys("[RIGHT][RIGHT]");
    shown("^ *child00002 ");
  }

  /** What is told of the selection. */
  private String told() {
    List<String> lines = screen.lines();
    return lines.get(lines.size() - 3);
  }

  @Test
  void sandwichAndFunctions_ofAFile_countEachSampleOnce() throws Exception {
    screen =
        new TwoFiles(120, 40, file("a.folded", "x;main;a;f 60", "x;main;b;f 30", "y;main;a 10"));
    keys("[DOWN][DOWN][DOWN]");
    shown("^ *a +60\\.0% of all");
    keys("s");
    shown("^ *a .*self 10\\.0%  total 70\\.0% of all  70 samples");
    shown("^ *main *$");
    shown("^ *f ");
    keys("[TAB]");
    shown("4 functions  first by self");
    shown("^ *90\\.0% +90\\.0% .* 90 .*f");
    keys("s");
    shown("first by total");
    keys("s");
    shown("first by name");
    keys("s");
    shown("first by self");
    assertTrue(shown("^ +[0-9.]+% +[0-9.]+% ").endsWith(" f"));
    keys("[HOME][ENTER]");
    shown("^ *f .*self 90\\.0%  total 90\\.0% of all  90 samples");
    keys("[ESCAPE]");
    shown("first by self");
    keys("2");
    shown("─ callers ─");
    shown("^ *f  ");
    keys("4");
    shown("^ *90\\.0% +90\\.0% .* 90 .*f");
  }

  @Test
  void callers_andBack_keepSelectionAndZoom() throws Exception {
    screen =
        new TwoFiles(
            100,
            24,
            file("a", "app;main;left;inner 6", "app;main;right;inner 3", "other;run;inner 1"));
    shown("right");
    keys("[DOWN][DOWN]");
    shown("^ main +9[0-9.]+%( ±[ 0-9.]+)? of all");
    keys("[ENTER]");
    gone("other");
    keys("[DOWN][DOWN]");
    shown("^ inner +6[0-9.]+%( ±[ 0-9.]+)? of all");
    keys("2");
    shown("^─ callers ─");
    shown("^ inner +9[0-9.]+%( ±[ 0-9.]+)? of all");
    shown(" app .*other");
    keys("1");
    gone("^─ callers ─");
    shown("^ inner +6[0-9.]+%( ±[ 0-9.]+)? of all");
    gone("other");
    keys("4");
    shown("^─ +[0-9]+ functions");
    // The marked row in full.
    shown("^ inner$");
  }

  private void compare(String before, String now) throws Exception {
    StackFile two =
        StackFile.compared(
            StackInput.open(file("before", before.split(","))),
            StackInput.open(file("now", now.split(","))),
            StackFile.Choice.comm(true));
    screen = new TwoFiles(240, 24, new StackFiles(two));
  }

  @Test
  void diff_showsWhatGrewAndWhatIsGone() throws Exception {
    compare("main;same 50,main;gone 50", "main;same 50,main;grown 50");
    shown("before → \\S*now ");
    shown("[▏▎▍▌▋▊▉ ]gone");
    keys("[DOWN][DOWN][RIGHT]");
    shown("^ *grown  +0\\.0% → 50\\.0% of all");
    keys("/gone[ENTER]");
    shown("^ *gone  +50\\.0% → 0\\.0% of all, gone");
  }

  @Test
  void diff_functions_haveBothFilesAndTheDifference() throws Exception {
    compare("app;main;parse 60,app;main;drain 40", "app;main;parse 60,app;main;layout 140");
    screen.columns = 100;
    screen.arrive();
    shown("layout");
    keys("4");
    shown("was +self +change +was +total +change +function");
    shown(" 0[.]0% +70[.]0% ▲ [+]70[.]0% .*layout");
    shown(" 40[.]0% +0[.]0% ▼ -40[.]0% .*drain");
    keys("ss");
    shown("first by change of self");
    keys("[HOME]");
    shown("self 0[.]0% → 70[.]0%.* new");
  }

  @Test
  void split_twoFilesAtOnePlace_areToldOfBoth() throws Exception {
    screen =
        new TwoFiles(
            100,
            30,
            file("a.folded", "x;main;parse;lex 60", "x;main;run;eval 40"),
            file("b.folded", "x;main;parse;lex 20", "x;main;run;jit 180"));
    shown("2 stacks");
    keys("|");
    shown("^›\\S*a\\.folded +100 samples │ +\\S*b\\.folded +200 samples");
    keys("[DOWN][DOWN][DOWN]");
    shown("^ parse  .*60\\.0% here · 10\\.0% in b\\.folded");
    keys("[RIGHT]");
    shown("^ run  .*40\\.0% here · 90\\.0% in b\\.folded");
    keys("[DOWN]");
    shown("^ eval  .*40\\.0% here · not in b\\.folded");
    // What is not in the other leads it as far as it goes.
    keys("[ENTER]");
    shown("^ eval +│ +jit");
    gone("parse");
    keys("w");
    shown("^ \\S*a\\.folded .*│ ›\\S*b\\.folded");
    shown("^ run  .*90\\.0% here · 40\\.0% in a\\.folded");
    keys("0");
    shown("▍run +│ .*run");
    keys("/lex[ENTER]");
    shown("^ lex  .*10\\.0% here · 60\\.0% in a\\.folded");
    shown("matched 60\\.0% .*│ .*matched 10\\.0%");
    keys("[ESCAPE]");
    shown("search closed");
    keys("f");
    shown("^ \\S*a\\.folded +60 samples │ ›\\S*b\\.folded +20 samples");
    keys("u");
    shown("^ \\S*a\\.folded +100 samples │ ›\\S*b\\.folded +200 samples");
    screen.mouse(Mouse.Kind.PRESS, 2, 4);
    shown("^›\\S*a\\.folded");
    shown("^ main  .*100\\.0% here · 100\\.0% in b\\.folded");
    keys("2");
    shown("^─ callers");
    assertTrue(rowBeside("jit") < rowBeside("main"), "the innermost come first");
    keys("1");
    gone("^─ callers");
    assertTrue(rowBeside("main") < rowBeside("jit"), "the outermost come first");
    keys("[HOME][DOWN][DOWN]");
    shown("^ main  .*100\\.0% here · 100\\.0% in b\\.folded");
    keys("s");
    shown("main .*100\\.0%.*│ +main .*100\\.0%");
    keys("4|");
    shown("two files stand side by side in the graph, its callers, the sandwich");
    keys("1");
    shown("│");
    screen.columns = 79;
    screen.arrive();
    gone("│");
    keys("w");
    shown("need 80 columns; there are 79");
    screen.columns = 80;
    screen.arrive();
    shown("^›\\S*a\\.folded .*│ +\\S*b\\.folded");
    keys("|");
    shown("one file again");
    gone("│");
  }

  /** The row of a name in the pane at the right. */
  private int rowBeside(String name) {
    List<String> lines = screen.lines();
    String line = shown("│.*" + name);
    assertEquals(1, lines.stream().filter(line::equals).count());
    return lines.indexOf(line);
  }
}

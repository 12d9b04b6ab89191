package flametop.view.base;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import flametop.view.paint.PromptPainter;
import flametop.view.state.Search;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class PromptTest {
  private static final List<String> NAMES =
      List.of("main", "operator<<(int*)", "do_main", "Main.run", "malloc");

  @Test
  void completed_againAndAgain_goesRoundThoseThatBeginThenThoseThatContain() {
    List<String> texts = new ArrayList<>();
    Prompt prompt = Prompt.of("ma");
    for (int i = 0; i < 5; i++) {
      prompt = prompt.completed(NAMES, 1);
      texts.add(prompt.text());
    }
    assertEquals(List.of("main", "Main\\.run", "malloc", "do_main", "main"), texts);
    assertEquals("do_main", prompt.completed(NAMES, -1).text());
  }

  @Test
  void completed_capital_caseCounts() {
    assertEquals(1, Prompt.of("Ma").completed(NAMES, 1).choices());
  }

  @Test
  void completed_specialCharacters_matchTheNameItself() {
    Prompt prompt = Prompt.of("operator<").completed(NAMES, 1);
    Search search = Search.of(prompt, true);
    assertEquals("", search.trouble());
    assertEquals(true, search.pattern().matcher("operator<<(int*)").matches());
    assertEquals(1, Prompt.of("operator<<\\(").completed(NAMES, 1).choices());
  }

  @Test
  void completed_anchored_staysAnchored() {
    assertEquals("^main", Prompt.of("^mai").completed(NAMES, 1).text());
    assertNull(Prompt.of("^o_main").completed(NAMES, 1));
  }

  @Test
  void recalled_upAndDown_comesBackToWhatWasTyped() {
    List<String> past = List.of("second", "first");
    Prompt prompt = Prompt.of("new").recalled(past, 1).recalled(past, 1);
    assertEquals("first", prompt.text());
    assertNull(prompt.recalled(past, 1));
    prompt = prompt.recalled(past, -1).recalled(past, -1);
    assertEquals("new", prompt.text());
    assertNull(prompt.recalled(past, -1));
  }

  @Test
  void remember_aLineAgain_isTheLatestAndOnlyOnce() {
    assertEquals(List.of("b", "a"), Prompt.remember(List.of("a", "b"), "b"));
    List<String> many = List.of();
    for (int i = 0; i < 300; i++) {
      many = Prompt.remember(many, "search " + i);
    }
    assertEquals(Prompt.MAX_PAST, many.size());
    assertEquals("search 299", many.get(0));
  }

  @Test
  void edited_ctrlW_leavesTheFirst() {
    assertEquals("tcp_", Prompt.of("tcp_send").edited(Key.ctrl('w')).text());
    assertEquals("", Prompt.of("tcp_").edited(Key.ctrl('w')).text());
  }

  private static Prompt press(Prompt prompt, Object... keys) {
    Prompt now = prompt;
    for (Object key : keys) {
      now = now.edited(key instanceof Key.Kind kind ? Key.of(kind) : Key.ctrl((char) key));
    }
    return now;
  }

  @Test
  void edited_cursorWithin_takesAndErasesThere() {
    Prompt prompt = press(Prompt.of("tcp_send"), Key.Kind.HOME, Key.Kind.RIGHT, Key.Kind.DELETE);
    assertEquals("tp_send", prompt.text());
    assertEquals("tXp_send", prompt.edited(Key.of('X')).text());
    assertEquals("t", press(prompt, 'k').text());
    assertEquals("p_send", press(prompt, 'u').text());
    assertEquals("tp_sed", press(prompt, 'e', Key.Kind.LEFT, Key.Kind.BACKSPACE).text());
    assertEquals(7, press(prompt, 'a', Key.Kind.END).cursor());
  }

  @Test
  void edited_wideAndJoinedCharacters_areOneStepEach() {
    Prompt prompt = Prompt.of("a漢e\u0301\ud842\udfb7");
    Prompt atMark = press(prompt, Key.Kind.LEFT, Key.Kind.LEFT);
    assertEquals(2, atMark.cursor());
    assertEquals("a漢\ud842\udfb7", press(atMark, Key.Kind.DELETE).text());
    assertEquals("ae\u0301\ud842\udfb7", press(atMark, Key.Kind.BACKSPACE).text());
  }

  @Test
  void edited_nothingToDo_isTheSameAndSaysWhy() {
    Prompt prompt = Prompt.of("a");
    assertSame(prompt, prompt.edited(Key.of(Key.Kind.RIGHT)));
    assertEquals("this is its end", prompt.refusal(Key.of(Key.Kind.RIGHT)));
    Prompt full = Prompt.of("x".repeat(Prompt.MAX_LENGTH));
    assertSame(full, full.edited(Key.of('y')));
    assertNull(prompt.edited(Key.function(2)));
  }

  @Test
  void typed_linesAndControls_areBlanksAndNothing() {
    assertEquals("a b", Prompt.EMPTY.typed("a\nb\033\u0007").text());
    assertEquals(Prompt.MAX_LENGTH, Prompt.EMPTY.typed("x".repeat(1_000)).text().length());
  }

  /** The text with its cursor, as it is painted into a few columns. */
  private static String painted(Prompt prompt, int room) {
    CellGrid grid = new CellGrid(20, 1);
    grid.fill(0, 0, 20, Paint.of(Role.GROUND));
    int used = PromptPainter.paint(grid, 0, 0, room, prompt, Paint.of(Role.GROUND));
    StringBuilder text = new StringBuilder();
    for (int x = 0; x < used; x++) {
      if (grid.codePoint(x, 0) != 0) {
        boolean cursor = grid.attributes(x, 0) == CellGrid.UNDERLINE;
        text.append(cursor ? "[" : "").appendCodePoint(grid.codePoint(x, 0));
        text.append(cursor ? "]" : "");
      }
    }
    return text.toString();
  }

  @Test
  void paint_longText_showsThePartAroundTheCursor() {
    Prompt prompt = Prompt.of("abcdefghijkl");
    assertEquals("hijkl[ ]", painted(prompt, 7));
    assertEquals("[a]bcdef", painted(press(prompt, 'a'), 7));
    assertEquals("abc[ ]", painted(Prompt.of("abc"), 7));
    assertEquals("a[漢]b", painted(press(Prompt.of("a漢b"), Key.Kind.LEFT, Key.Kind.LEFT), 7));
  }
}

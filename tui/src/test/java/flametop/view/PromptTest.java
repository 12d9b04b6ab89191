package flametop.view;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

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
  void erasedWord_severalWords_leavesTheFirst() {
    assertEquals("tcp_", Prompt.of("tcp_send").erasedWord().text());
    assertEquals("", Prompt.of("tcp_").erasedWord().text());
  }
}

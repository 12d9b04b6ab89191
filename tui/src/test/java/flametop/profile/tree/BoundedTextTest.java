package flametop.profile.tree;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class BoundedTextTest {
  @Test
  void find_plainExpression_asOnTheText() {
    assertTrue(Pattern.compile("tcp_\\w+").matcher(new BoundedText("tcp_sendmsg", 100)).find());
    assertFalse(Pattern.compile("udp").matcher(new BoundedText("tcp_sendmsg", 100)).find());
  }

  @Test
  void find_catastrophicExpression_isGivenUp() {
    String name = "a".repeat(60) + "!";
    Pattern catastrophic = Pattern.compile("^((a+)+b?)+$");
    assertThrows(
        BoundedText.Exhausted.class,
        () -> catastrophic.matcher(new BoundedText(name, 10_000)).find());
  }
}

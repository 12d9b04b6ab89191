package flametop.term;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ColorModeTest {
  @ParameterizedTest
  @CsvSource({
    "xterm-256color,,,INDEXED_256",
    "xterm-256color,truecolor,,TRUE",
    "tmux-256color,24bit,,TRUE",
    "xterm-direct,,,TRUE",
    "xterm-kitty,,,INDEXED_256",
    "linux,,,ANSI_16",
    "screen,,,ANSI_16",
    "vt100,truecolor,,NONE",
    "xterm-256color,truecolor,1,NONE"
  })
  void of_environment_isWhatItTells(
      String term, String colorTerm, String noColor, ColorMode expected) {
    Map<String, String> environment = new HashMap<>();
    environment.put("TERM", term);
    if (colorTerm != null) {
      environment.put("COLORTERM", colorTerm);
    }
    if (noColor != null) {
      environment.put("NO_COLOR", noColor);
    }
    assertEquals(expected, ColorMode.of(environment));
  }

  @Test
  void isUtf8_firstVariableThatIsSet_decides() {
    assertEquals(true, ColorMode.isUtf8(Map.of("LANG", "en_US.UTF-8")));
    assertEquals(false, ColorMode.isUtf8(Map.of("LANG", "en_US.UTF-8", "LC_ALL", "C")));
    assertEquals(true, ColorMode.isUtf8(Map.of("LC_CTYPE", "C.utf8")));
    assertEquals(false, ColorMode.isUtf8(Map.of()));
  }
}

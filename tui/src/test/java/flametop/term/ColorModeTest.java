package flametop.term;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Map;
import java.util.Objects;
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
    "xterm-kitty,,,TRUE",
    "alacritty,,,TRUE",
    "foot,,,TRUE",
    "xterm,,,ANSI_16",
    "linux,truecolor,,ANSI_16",
    "screen,,,ANSI_16",
    "screen-256color,,,INDEXED_256",
    "tmux,,,INDEXED_256",
    "vt220,,,NONE",
    "xterm-mono,,,NONE",
    "vt100,truecolor,,NONE",
    "xterm-256color,truecolor,1,NONE"
  })
  void of_environment_isWhatItTells(
      String term, String colorTerm, String noColor, ColorMode expected) {
    String colours = Objects.toString(colorTerm, "");
    String none = Objects.toString(noColor, "");
    Map<String, String> environment = Map.of("TERM", term, "COLORTERM", colours, "NO_COLOR", none);
    assertEquals(expected, ColorMode.of(environment));
  }

  @Test
  void of_insideTmux_has256WhateverTermSays() {
    assertEquals(
        ColorMode.INDEXED_256,
        ColorMode.of(Map.of("TERM", "screen", "TMUX", "/tmp/tmux-0/default,1,0")));
  }

  @Test
  void isAscii_firstVariableThatIsSet_decides() {
    assertEquals(false, ColorMode.isAscii(Map.of("LANG", "en_US.UTF-8")));
    assertEquals(true, ColorMode.isAscii(Map.of("LANG", "en_US.UTF-8", "LC_ALL", "C")));
    assertEquals(false, ColorMode.isAscii(Map.of("LC_CTYPE", "C.utf8")));
    assertEquals(true, ColorMode.isAscii(Map.of()));
  }

  @Test
  void isAscii_consoleAndOldTerminals_areWhateverTheLocale() {
    assertEquals(true, ColorMode.isAscii(Map.of("LANG", "C.UTF-8", "TERM", "linux")));
    assertEquals(true, ColorMode.isAscii(Map.of("LANG", "C.UTF-8", "TERM", "vt100")));
    assertEquals(false, ColorMode.isAscii(Map.of("LANG", "C.UTF-8", "TERM", "screen")));
  }
}

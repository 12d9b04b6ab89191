package flametop.term;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.view.Paint;
import flametop.view.Role;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ThemeTest {
  private static final Path THEMES = Path.of("../themes");

  private static String dark() throws Exception {
    return Files.readString(THEMES.resolve("dark.theme"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"dark", "light"})
  void load_shippedTheme_textIsReadableOnEveryFrame(String name) throws Exception {
    Theme theme = Theme.load(THEMES, name);
    for (Role role :
        new Role[] {
          Role.USER,
          Role.KERNEL,
          Role.JIT,
          Role.INLINED,
          Role.UNKNOWN,
          Role.REASON,
          Role.PROCESS,
          Role.GROUP,
          Role.SELECT
        }) {
      for (int shade = 0; shade < Paint.SHADES; shade++) {
        int bg = Paint.of(role, shade);
        int ink = Paint.of(Role.INK);
        assertNotEquals(theme.foreground(ink, bg), theme.background(bg));
        assertNotEquals(theme.foreground256(ink, bg), theme.background256(bg));
        assertNotEquals(theme.foreground16(ink, bg), theme.background16(bg));
      }
    }
  }

  @Test
  void parse_pair_shadesBetweenTheTwo() throws Exception {
    Theme theme = Theme.parse("t", dark().replaceFirst("user +=.*", "user = #000000 #f0f0f0"));
    assertEquals(0x000000, theme.background(Paint.of(Role.USER, 0)));
    assertEquals(0xf0f0f0, theme.background(Paint.of(Role.USER, Paint.SHADES - 1)));
    assertEquals(0x808080, theme.background(Paint.of(Role.USER, 8)));
  }

  @Test
  void parse_numbersFor256_shadesAmongThem() throws Exception {
    Theme theme = Theme.parse("t", dark().replaceFirst("user.256 +=.*", "user.256 = 100 101"));
    assertEquals(100, theme.background256(Paint.of(Role.USER, 0)));
    assertEquals(100, theme.background256(Paint.of(Role.USER, Paint.SHADES / 2 - 1)));
    assertEquals(101, theme.background256(Paint.of(Role.USER, Paint.SHADES / 2)));
    assertEquals(101, theme.background256(Paint.of(Role.USER, Paint.SHADES - 1)));
  }

  @Test
  void parse_noNumbersFor256_takesTheNearest() throws Exception {
    String without =
        dark().replaceFirst("user.256 +=.*", "").replaceFirst("user +=.*", "user = #ff0000");
    assertEquals(196, Theme.parse("t", without).background256(Paint.of(Role.USER)));
  }

  @ParameterizedTest
  @ValueSource(strings = {"dark", "light"})
  void foreground16_anyColour_isNotItsBackground(String name) throws Exception {
    Theme theme = Theme.load(THEMES, name);
    for (Role role : Role.values()) {
      int bg = Paint.faded(Paint.of(Role.USER));
      assertNotEquals(theme.background16(bg), theme.foreground16(Paint.of(role), bg));
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "nonsense|t.theme:1: no '='",
        "user = orange|t.theme:1: not a colour: orange",
        "usr = #ffffff|t.theme:1: no such role: usr",
        "ink = #ffffff|t.theme:1: no such role: ink",
        "user = #1 |t.theme:1: not a colour: #1",
        "user = #111111 #222222 #333333|t.theme:1: more than two colours",
        "user.256 = 300|t.theme:1: not a number from 16 to 255",
        "user.256 = 3|t.theme:1: not a number from 16 to 255",
        "user.16 = orange|t.theme:1: not one of the 16 colours: orange",
        "ground = #000000|t.theme: no line for chrome"
      })
  void parse_badLine_namesItAndSaysWhy(String line, String message) {
    ThemeException e = assertThrows(ThemeException.class, () -> Theme.parse("t.theme", line));
    assertTrue(e.getMessage().startsWith(message), e.getMessage());
  }

  @Test
  void load_noSuchTheme_saysWhere() {
    assertTrue(
        assertThrows(ThemeException.class, () -> Theme.load(THEMES, "nowhere"))
            .getMessage()
            .contains("no such theme"));
    assertTrue(
        assertThrows(ThemeException.class, () -> Theme.load(THEMES, "../x"))
            .getMessage()
            .contains("small letters"));
  }

  @Test
  void nearest256_colours_areNear() {
    assertEquals(16, Theme.nearest256(0x000000));
    assertEquals(231, Theme.nearest256(0xffffff));
    assertEquals(196, Theme.nearest256(0xff0000));
    assertEquals(244, Theme.nearest256(0x808080));
  }
}

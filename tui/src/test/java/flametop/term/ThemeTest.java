package flametop.term;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.view.base.Paint;
import flametop.view.base.Role;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

class ThemeTest {
  static final Path THEMES = Path.of("../themes");

  /** Roles that have text upon them, alike on all their shades. */
  private static final Set<Role> FRAMES = EnumSet.range(Role.SELECT, Role.ASLEEP);

  /** Roles that stand beside each other and mean different things. */
  private static final Role[][] TOLD_APART = {
    {Role.USER, Role.KERNEL, Role.JIT, Role.PYTHON, Role.UNKNOWN, Role.REASON, Role.PROCESS},
    {Role.USER, Role.KERNEL, Role.JIT, Role.PHP, Role.UNKNOWN, Role.REASON, Role.PROCESS},
    {Role.USER, Role.KERNEL, Role.JIT, Role.RUBY, Role.UNKNOWN, Role.REASON, Role.PROCESS},
    {Role.RUN, Role.QUEUED, Role.DISK, Role.ASLEEP},
    {Role.BETTER, Role.WORSE},
    {Role.LOW, Role.MID, Role.HIGH},
    // One above the other in the strip of time.
    {Role.QUEUED, Role.HIGH}
  };

  /** What dichromats see of linear light (Machado, Oliveira, Fernandes 2009, severity 1). */
  private enum Sight {
    ALL(new double[][] {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}),
    PROTANOPIA(
        new double[][] {
          {0.152286, 1.052583, -0.204868},
          {0.114503, 0.786281, 0.099216},
          {-0.003882, -0.048116, 1.051998}
        }),
    DEUTERANOPIA(
        new double[][] {
          {0.367322, 0.860646, -0.227968},
          {0.280085, 0.672501, 0.047413},
          {-0.011820, 0.042940, 0.968881}
        }),
    TRITANOPIA(
        new double[][] {
          {1.255528, -0.076749, -0.178779},
          {-0.078411, 0.930809, 0.147602},
          {0.004733, 0.691367, 0.303900}
        });

    @SuppressWarnings("ImmutableEnumChecker") // nobody writes to it
    private final double[][] matrix;

    Sight(double[][] matrix) {
      this.matrix = matrix;
    }

    /** How far apart two colours look: in Oklab, where black and white are 1 apart. */
    double distance(int a, int b) {
      double[] x = seen(a);
      double[] y = seen(b);
      return Math.sqrt(
          Math.pow(x[0] - y[0], 2) + Math.pow(x[1] - y[1], 2) + Math.pow(x[2] - y[2], 2));
    }

    private double[] seen(int rgb) {
      double[] light = new double[3];
      for (int i = 0; i < 3; i++) {
        double sum = 0;
        for (int j = 0; j < 3; j++) {
          sum += matrix[i][j] * ColourMath.linear(rgb >> 16 - 8 * j & 0xff);
        }
        light[i] = Math.max(0, Math.min(1, sum));
      }
      return ColourMath.lab(light[0], light[1], light[2]);
    }
  }

  static Theme shipped(String name) throws Exception {
    Themes.Loaded loaded = new Themes(THEMES, UserFiles.NONE).load(name, "");
    assertEquals("", loaded.notice());
    return loaded.theme();
  }

  static Set<String> names() {
    return new Themes(THEMES, UserFiles.NONE).names();
  }

  private static String dark() throws Exception {
    return Files.readString(THEMES.resolve("dark.theme"));
  }

  private static Theme parse(String text) throws ThemeException {
    return Theme.parse("t.theme", text, new Themes(THEMES, UserFiles.NONE).new Like("t", 0));
  }

  @Test
  void names_shipped_areEight() {
    assertEquals(8, names().size());
  }

  @ParameterizedTest
  @MethodSource("names")
  void shipped_textOnEveryFrame_isReadable(String name) throws Exception {
    Theme theme = shipped(name);
    int ink = Paint.of(Role.INK);
    for (Role role : FRAMES) {
      for (int shade = 0; shade < Paint.SHADES; shade++) {
        int bg = Paint.of(role, shade);
        for (ColorMode mode : new ColorMode[] {ColorMode.TRUE, ColorMode.INDEXED_256}) {
          int under = rgb(theme.background(mode, bg));
          double ratio = ColourMath.contrast(rgb(theme.foreground(mode, ink, bg)), under);
          assertTrue(ratio >= 4.5, name + " " + role + " " + shade + " " + mode + ": " + ratio);
        }
        int on = theme.background(ColorMode.ANSI_16, bg);
        int text = theme.foreground(ColorMode.ANSI_16, ink, bg);
        assertTrue(on != text && ColourMath.contrast(rgb(on), rgb(text)) >= 4, name + " " + role);
      }
    }
  }

  /** Where a colour goes from dark to light no text reads well on all of it. */
  @ParameterizedTest
  @MethodSource("names")
  void shipped_textOnDifference_isReadable(String name) throws Exception {
    Theme theme = shipped(name);
    for (Role role : new Role[] {Role.BETTER, Role.WORSE}) {
      for (int shade = 0; shade < Paint.SHADES; shade++) {
        int bg = Paint.of(role, shade);
        double ratio =
            ColourMath.contrast(theme.foreground(Paint.of(Role.INK), bg), theme.background(bg));
        assertTrue(ratio >= 3, name + " " + role + " " + shade + ": " + ratio);
      }
    }
  }

  @ParameterizedTest
  @MethodSource("names")
  void shipped_textOnGroundAndChrome_isReadable(String name) throws Exception {
    Theme theme = shipped(name);
    for (Role ground : new Role[] {Role.GROUND, Role.CHROME}) {
      for (Role text : new Role[] {Role.TEXT, Role.DIM, Role.ACCENT, Role.BETTER, Role.WORSE}) {
        double least = text == Role.TEXT ? 7 : 4.5;
        int bg = Paint.of(ground);
        for (ColorMode mode : new ColorMode[] {ColorMode.TRUE, ColorMode.INDEXED_256}) {
          int colour = theme.foreground(mode, Paint.of(text), bg);
          int under = theme.background(mode, bg);
          if (under != Theme.DEFAULT) {
            double ratio = ColourMath.contrast(rgb(colour), rgb(under));
            assertTrue(ratio >= least, name + " " + text + " on " + ground + mode + ": " + ratio);
          }
        }
        int on = theme.background(ColorMode.ANSI_16, bg);
        int colour = theme.foreground(ColorMode.ANSI_16, Paint.of(text), bg);
        assertTrue(on == Theme.DEFAULT || on != colour, name + " " + text + " on " + ground);
      }
    }
  }

  @ParameterizedTest
  @MethodSource("names")
  void shipped_rolesThatDiffer_lookDifferent(String name) throws Exception {
    double least = name.equals("mono") ? 0.03 : 0.05;
    assertTrue(nearest(shipped(name), Sight.ALL) >= least);
  }

  @ParameterizedTest
  @EnumSource(Sight.class)
  void safe_rolesThatDiffer_lookDifferentToEverybody(Sight sight) throws Exception {
    assertTrue(nearest(shipped("safe"), sight) >= 0.09);
  }

  /** Pastels are all about as light, so hue has to do it, and dichromats see less of that. */
  @ParameterizedTest
  @CsvSource({"light, 0.055", "paper, 0.045"})
  void pastel_framesThatDiffer_lookDifferentToEverybody(String name, double least)
      throws Exception {
    Theme theme = shipped(name);
    for (Sight sight : Sight.values()) {
      double frames = nearest(theme, ColorMode.TRUE, sight, TOLD_APART[0]);
      assertTrue(frames >= least, name + " " + sight + ": " + frames);
      double indexed = nearest(theme, ColorMode.INDEXED_256, sight, TOLD_APART[0]);
      assertTrue(indexed >= 0.03, name + " of 256 " + sight + ": " + indexed);
      double kernel = nearest(theme, ColorMode.TRUE, sight, Role.KERNEL, Role.PROCESS);
      assertTrue(kernel >= 0.075, name + " kernel, process " + sight + ": " + kernel);
    }
  }

  /** More and less are read at a glance, and red and green are what most people take for them. */
  @ParameterizedTest
  @MethodSource("names")
  void shipped_whatChanged_isToldApartByEverybody(String name) throws Exception {
    Theme theme = shipped(name);
    // The terminal's own 16 are what they are.
    double least = name.equals("terminal") ? 0 : 0.085;
    for (Sight sight : Sight.values()) {
      int better = theme.background(Paint.of(Role.BETTER));
      int worse = theme.background(Paint.of(Role.WORSE));
      double distance = sight.distance(better, worse);
      assertTrue(distance >= least, name + " " + sight + ": " + distance);
    }
  }

  /** A box that nobody sees beside the ground is none. */
  @ParameterizedTest
  @MethodSource("names")
  void shipped_frames_standOutFromTheGround(String name) throws Exception {
    Theme theme = shipped(name);
    int ground = theme.background(Paint.of(Role.GROUND));
    for (Role role : FRAMES) {
      for (int shade = 0; shade < Paint.SHADES; shade++) {
        double distance = Sight.ALL.distance(theme.background(Paint.of(role, shade)), ground);
        assertTrue(distance >= 0.1, name + " " + role + " " + shade + ": " + distance);
      }
    }
    // A run of frames too thin to draw is quiet, but there.
    int run = theme.background(Paint.faded(Paint.of(Role.GROUP)));
    assertTrue(Sight.ALL.distance(run, ground) >= 0.05, name);
  }

  private static double nearest(Theme theme, Sight sight) {
    double least = 1;
    for (Role[] group : TOLD_APART) {
      least = Math.min(least, nearest(theme, ColorMode.TRUE, sight, group));
    }
    return least;
  }

  /** The least distance of any two shades of two roles that have to be told apart. */
  private static double nearest(Theme theme, ColorMode mode, Sight sight, Role... group) {
    double least = 1;
    for (Role a : group) {
      for (Role b : group) {
        for (int i = 0; a != b && i < Paint.SHADES; i += 5) {
          for (int j = 0; j < Paint.SHADES; j += 5) {
            int one = rgb(theme.background(mode, Paint.of(a, i)));
            int other = rgb(theme.background(mode, Paint.of(b, j)));
            least = Math.min(least, sight.distance(one, other));
          }
        }
      }
    }
    return least;
  }

  /** A colour for a terminal, as xterm shows it. */
  static int rgb(int colour) {
    if ((colour & Theme.INDEXED) == 0) {
      return colour;
    }
    int number = colour & 0xff;
    return number < 16 ? ColourMath.ANSI_RGB[number] : ColourMath.rgb256(number);
  }

  @Test
  void parse_pair_shadesBetweenTheTwo() throws Exception {
    Theme theme = parse("like = dark\nuser = #000000 #f0f0f0");
    assertEquals(0x000000, theme.background(Paint.of(Role.USER, 0)));
    assertEquals(0xf0f0f0, theme.background(Paint.of(Role.USER, Paint.SHADES - 1)));
    assertEquals(0x808080, theme.background(Paint.of(Role.USER, 8)));
  }

  @Test
  void parse_numbersFor256_shadesAmongThem() throws Exception {
    Theme theme = parse("like = dark\nuser.256 = 100 101");
    int[] expected = {100, 100, 101, 101};
    int[] shades = {0, Paint.SHADES / 2 - 1, Paint.SHADES / 2, Paint.SHADES - 1};
    for (int i = 0; i < shades.length; i++) {
      assertEquals(
          Theme.INDEXED | expected[i],
          theme.background(ColorMode.INDEXED_256, Paint.of(Role.USER, shades[i])));
    }
  }

  @Test
  void parse_colourAlone_takesTheNearestOfFewer() throws Exception {
    Theme theme = parse("like = dark\nuser = #ff0000");
    int user = Paint.of(Role.USER);
    assertEquals(Theme.INDEXED | 196, theme.background(ColorMode.INDEXED_256, user));
    assertEquals(Theme.INDEXED | 9, theme.background(ColorMode.ANSI_16, user));
  }

  @Test
  void parse_asBtopHasIt_isTheSame() throws Exception {
    Theme theme = parse("like = dark\ntheme[user]=\"#102030\"\ntheme[dim]=\"#cc\"");
    assertEquals(0x102030, theme.background(Paint.of(Role.USER)));
    assertEquals(0xcccccc, theme.background(Paint.of(Role.DIM)));
  }

  @ParameterizedTest
  @EnumSource(
      value = ColorMode.class,
      names = {"TRUE", "INDEXED_256", "ANSI_16"})
  void parse_names_areTheTerminalsOwnInEveryMode(ColorMode mode) throws Exception {
    Theme theme = parse("like = dark\nground = default #101010\nuser = red bright-red");
    assertEquals(Theme.DEFAULT, theme.background(mode, Paint.of(Role.GROUND)));
    assertEquals(Theme.INDEXED | 1, theme.background(mode, Paint.of(Role.USER)));
    assertEquals(Theme.INDEXED | 9, theme.background(mode, Paint.of(Role.USER, 15)));
    assertEquals(0x101010, theme.background(Paint.of(Role.GROUND)));
  }

  @ParameterizedTest
  @MethodSource("names")
  void foreground_anyColourOf16_isNotItsBackground(String name) throws Exception {
    Theme theme = shipped(name);
    for (Role role : Role.values()) {
      int bg = Paint.faded(Paint.of(Role.USER));
      assertNotEquals(
          theme.background(ColorMode.ANSI_16, bg),
          theme.foreground(ColorMode.ANSI_16, Paint.of(role), bg));
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "nonsense|t.theme:2: no '='",
        "user = orange|t.theme:2: not a colour: orange",
        "usr = #ffffff|t.theme:2: no such role: usr",
        "ink = #ffffff|t.theme:2: no such role: ink",
        "user = #1 |t.theme:2: not a colour: #1",
        "user = #1234567|t.theme:2: not a colour: #1234567",
        "user = #-12345|t.theme:2: not a colour: #-12345",
        "user =|t.theme:2: no colour",
        "user = #111111 #222222 #333333|t.theme:2: more than two colours",
        "user = default #111111|t.theme:2: only ground, chrome and text",
        "ground = default|t.theme:2: after default",
        "user.256 = 300|t.theme:2: not a number from 16 to 255",
        "user.256 = 3|t.theme:2: not a number from 16 to 255",
        "user.256 = 1e2|t.theme:2: not a number from 16 to 255",
        "user.16 = orange|t.theme:2: not a colour: orange; they are black",
        "user.16 = #ffffff|t.theme:2: not one of the 16 colours: #ffffff",
        "like = nowhere|t.theme:2: no theme 'nowhere'",
        "ground = #000000|t.theme: no line for chrome"
      })
  void parse_badLine_namesItAndSaysWhy(String line, String message) {
    ThemeException e = assertThrows(ThemeException.class, () -> parse("# mine\n" + line));
    assertTrue(e.getMessage().startsWith(message), e.getMessage());
  }

  @Test
  void parse_everyRoleOfDark_isNeeded() throws Exception {
    for (Role role : Role.values()) {
      if (role.themed() && role != Role.PYTHON && role != Role.PHP && role != Role.RUBY) {
        String key = role.name().toLowerCase(java.util.Locale.ROOT);
        String without = dark().replaceFirst("(?m)^" + key + " +=.*$", "");
        ThemeException e = assertThrows(ThemeException.class, () -> parse(without));
        assertTrue(e.getMessage().contains("no line for " + key), e.getMessage());
      }
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"PYTHON", "PHP", "RUBY"})
  void parse_themeOlderThanALanguage_hasTheColoursOfJit(Role language) throws Exception {
    String key = language.name().toLowerCase(java.util.Locale.ROOT);
    Theme theme = parse(dark().replaceAll("(?m)^" + key + ".*$", ""));
    for (ColorMode mode :
        new ColorMode[] {ColorMode.TRUE, ColorMode.INDEXED_256, ColorMode.ANSI_16}) {
      for (int shade = 0; shade < Paint.SHADES; shade++) {
        assertEquals(
            theme.background(mode, Paint.of(Role.JIT, shade)),
            theme.background(mode, Paint.of(language, shade)));
      }
    }
    int own = shipped("dark").background(Paint.of(language));
    assertNotEquals(theme.background(Paint.of(language)), own);
  }

  @Test
  void nearest256_colours_areNear() {
    assertEquals(16, ColourMath.nearest256(0x000000));
    assertEquals(231, ColourMath.nearest256(0xffffff));
    assertEquals(196, ColourMath.nearest256(0xff0000));
    assertEquals(244, ColourMath.nearest256(0x808080));
  }
}

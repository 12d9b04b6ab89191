package flametop.term;

import flametop.view.base.Paint;
import flametop.view.base.Role;
import java.util.Arrays;
import java.util.Locale;
import java.util.StringTokenizer;
import org.jspecify.annotations.Nullable;

/**
 * The colours of the roles, from a file of lines {@code key = value}:
 *
 * <pre>
 *   # a comment
 *   like    = dark                what is not given here is as there
 *   ground  = #0f1419             a colour
 *   user    = #d9822b #f2c04c     a pair: names are shaded between the two
 *   user.256 = 172 178 214        numbers to shade between where the terminal has 256 colours
 *   user.16 = yellow              colours to shade between where the terminal has 16
 *   kernel  = magenta             one of the terminal's own 16, however many it has
 *   ground  = default #0f1419     the terminal's own ground, which is about that colour
 * </pre>
 *
 * A key is a {@link Role} in small letters. Each role needs a colour here, or in the theme that
 * this one is like. Without {@code .256} or {@code .16} the nearest colour is taken. Among 256
 * colours, a faded colour is a grey of the same lightness: the few dark hues would stand out.
 */
public final class Theme {
  /**
   * A bit in a colour for a terminal: the other bits are a number among 256; numbers below 16 are
   * the 16 colours.
   */
  static final int INDEXED = 1 << 24;

  /** A colour for a terminal: the terminal's own ground or text. */
  static final int DEFAULT = 1 << 25;

  /** Names of the 16 colours, by number. */
  private static final String[] ANSI = {
    "black", "red", "green", "yellow", "blue", "magenta", "cyan", "white",
    "bright-black", "bright-red", "bright-green", "bright-yellow", "bright-blue", "bright-magenta",
        "bright-cyan", "bright-white"
  };

  private static final int BRIGHT_BLACK = 8;

  /** Themes that are older than these roles have no lines for them: they get the colours of JIT. */
  private static final Role[] LANGUAGES = {Role.PYTHON, Role.PHP, Role.RUBY};

  /** The part of the ground in a faded colour. */
  private static final double FADE = 0.62;

  /** The contrast that words need, and the contrast of less important words. */
  private static final double LEGIBLE = 4.5;

  private static final double LEGIBLE_DIM = 3;

  /** The same among the 16 colours, which differ from terminal to terminal. */
  private static final double LEGIBLE_16 = 3;

  /** How many steps words go towards black or white until they are readable. */
  private static final int STEPS = 16;

  /** On a colour for both, light text reads better than the ratio says. */
  private static final double LIGHT_PREFERRED = 1.3;

  /**
   * The colours of a role.
   *
   * @param first of the two to shade between; -1 if there is no line
   * @param second the other one, or the same
   * @param indexed numbers to shade between among 256; empty: the nearest are taken
   * @param ansi the same among 16
   * @param named whether the colours are some of the terminal's own 16, in every mode
   * @param own whether the colour is the terminal's own ground or text
   */
  private record Colours(
      int first, int second, int[] indexed, int[] ansi, boolean named, boolean own) {
    static final Colours NONE = new Colours(-1, -1, new int[0], new int[0], false, false);
  }

  /** By role. */
  private final Colours[] colours = new Colours[Role.values().length];

  /** Numbers from low to high; empty if the file has none. */
  private int[] ramp = {};

  private int light;
  private int dark;

  /** Finds the theme that another is like. */
  interface Base {
    Theme of(String name) throws ThemeException;
  }

  private Theme() {
    Arrays.fill(colours, Colours.NONE);
  }

  /**
   * @param source named in errors
   * @param base finds the theme of {@code like}
   */
  static Theme parse(String source, String text, Base base) throws ThemeException {
    Theme theme = new Theme();
    String[] lines = text.split("\n", -1);
    for (int i = 0; i < lines.length; i++) {
      String line = lines[i].strip();
      if (!line.isEmpty() && line.charAt(0) != '#') {
        try {
          theme.line(line, base);
        } catch (ThemeException e) {
          throw e.at(source + ":" + (i + 1));
        }
      }
    }
    String missing = theme.complete();
    if (missing != null) {
      throw new ThemeException(
              "no line for " + missing + "; a first line 'like = dark' fills in the rest")
          .at(source);
    }
    return theme;
  }

  /** Reads one line. Errors are told without the place of the line. */
  private void line(String line, Base base) throws ThemeException {
    int equals = line.indexOf('=');
    if (equals < 0) {
      throw new ThemeException("no '='; a line is 'role = #rrggbb' or 'role = #rrggbb #rrggbb'");
    }
    String key = line.substring(0, equals).strip();
    String value = line.substring(equals + 1).strip();
    // As in btop's: theme[user]="#d9822b"
    if (key.startsWith("theme[") && key.endsWith("]")) {
      key = key.substring(6, key.length() - 1);
    }
    if (value.length() > 1 && value.charAt(0) == '"' && value.endsWith("\"")) {
      value = value.substring(1, value.length() - 1).strip();
    }
    if (key.equals("like")) {
      Theme other = base.of(value);
      System.arraycopy(other.colours, 0, colours, 0, colours.length);
      return;
    }
    StringTokenizer tokens = new StringTokenizer(value);
    String[] words = new String[tokens.countTokens()];
    for (int i = 0; i < words.length; i++) {
      words[i] = tokens.nextToken();
    }
    if (words.length == 0) {
      throw new ThemeException("no colour; a colour is #rrggbb");
    }
    if (words.length > Paint.SHADES) {
      throw new ThemeException("more than " + Paint.SHADES + " colours");
    }
    boolean of256 = key.endsWith(".256");
    boolean of16 = key.endsWith(".16");
    Role role = role(key.substring(0, key.length() - (of256 ? 4 : of16 ? 3 : 0)));
    Colours c = of(role);
    colours[role.ordinal()] =
        of256
            ? new Colours(c.first, c.second, numbers(words), c.ansi, c.named, c.own)
            : of16
                ? new Colours(c.first, c.second, c.indexed, names(words), c.named, c.own)
                : colours(role, words);
  }

  /** The colours of a role, without those of the base theme for terminals with fewer colours. */
  private static Colours colours(Role role, String[] words) throws ThemeException {
    int from = words[0].equals("default") ? 1 : 0;
    if (from > 0 && role != Role.GROUND && role != Role.TEXT && role != Role.CHROME) {
      throw new ThemeException("only ground, chrome and text can be the terminal's default");
    }
    if (words.length == from) {
      throw new ThemeException("after default comes about which colour that is");
    }
    if (words.length > from + 2) {
      throw new ThemeException("more than two colours");
    }
    int[] none = {};
    if (words[from].charAt(0) == '#') {
      int first = colour(words[from]);
      return new Colours(first, colour(words[words.length - 1]), none, none, false, from > 0);
    }
    int[] names = names(Arrays.copyOfRange(words, from, words.length));
    int second = ColourMath.ANSI_RGB[names[names.length - 1]];
    return new Colours(ColourMath.ANSI_RGB[names[0]], second, none, names, true, from > 0);
  }

  private static String key(Role role) {
    return role.name().toLowerCase(Locale.ROOT);
  }

  private static Role role(String key) throws ThemeException {
    for (Role role : Role.values()) {
      if (role.themed() && key(role).equals(key)) {
        return role;
      }
    }
    throw new ThemeException("no such role: " + key);
  }

  /** {@code #rrggbb}, or a grey {@code #ll}. */
  private static int colour(String text) throws ThemeException {
    boolean well = (text.length() == 7 || text.length() == 3) && text.charAt(0) == '#';
    for (int i = 1; i < text.length(); i++) {
      well &= text.charAt(i) < 0x7f && Character.digit(text.charAt(i), 16) >= 0;
    }
    if (!well) {
      throw new ThemeException(
          "not a colour: " + text + "; a colour is #rrggbb, or one of " + String.join(", ", ANSI));
    }
    int value = Integer.parseInt(text.substring(1), 16);
    return text.length() == 3 ? value * 0x010101 : value;
  }

  private static int[] numbers(String[] words) throws ThemeException {
    int[] numbers = new int[words.length];
    for (int i = 0; i < words.length; i++) {
      numbers[i] = words[i].length() > 3 ? -1 : 0;
      for (int c = 0; c < words[i].length() && numbers[i] >= 0; c++) {
        char digit = words[i].charAt(c);
        numbers[i] = digit >= '0' && digit <= '9' ? numbers[i] * 10 + digit - '0' : -1;
      }
      if (numbers[i] < 16 || numbers[i] > 255) {
        throw new ThemeException(
            "not a number from 16 to 255, the colours that terminals agree on: " + words[i]);
      }
    }
    return numbers;
  }

  private static int[] names(String[] words) throws ThemeException {
    int[] numbers = new int[words.length];
    for (int i = 0; i < words.length; i++) {
      numbers[i] = Arrays.asList(ANSI).indexOf(words[i]);
      if (numbers[i] < 0) {
        String what = words[i].startsWith("#") ? "not one of the 16 colours: " : "not a colour: ";
        throw new ThemeException(what + words[i] + "; they are " + String.join(", ", ANSI));
      }
    }
    return numbers;
  }

  private Colours of(Role role) {
    return colours[role.ordinal()];
  }

  /** Derives the other colours from the lines; returns the missing key, or null. */
  private @Nullable String complete() {
    for (Role language : LANGUAGES) {
      if (of(language).first < 0) {
        colours[language.ordinal()] = of(Role.JIT);
      }
    }
    for (Role role : Role.values()) {
      if (role.themed() && of(role).first < 0) {
        return key(role);
      }
    }
    dark = of(Role.GROUND).first;
    light = dark;
    for (Role role : new Role[] {Role.TEXT, Role.SELECT}) {
      int colour = of(role).first;
      light = ColourMath.luminance(colour) > ColourMath.luminance(light) ? colour : light;
      dark = ColourMath.luminance(colour) < ColourMath.luminance(dark) ? colour : dark;
    }
    Colours text = of(Role.TEXT);
    colours[Role.INK.ordinal()] =
        new Colours(text.first, text.first, text.indexed, text.ansi, text.named, false);
    int[] low = of(Role.LOW).indexed;
    int[] mid = of(Role.MID).indexed;
    int[] high = of(Role.HIGH).indexed;
    if (low.length > 0 && mid.length > 0 && high.length > 0) {
      ramp = Arrays.copyOf(low, low.length + mid.length + high.length);
      System.arraycopy(mid, 0, ramp, low.length, mid.length);
      System.arraycopy(high, 0, ramp, low.length + mid.length, high.length);
    }
    return null;
  }

  /** The colour of a background, as a picture has it: 0xrrggbb. */
  public int background(int paint) {
    return rgb(paint);
  }

  /** The colour of a foreground upon a background, as a picture has it: 0xrrggbb. */
  public int foreground(int paint, int background) {
    if (Paint.role(paint) == Role.INK) {
      return ink(rgb(middle(background)));
    }
    int colour = rgb(paint);
    return Paint.isOfWords(paint)
        ? legible(ColorMode.TRUE, Paint.role(paint), colour, rgb(background))
        : colour;
  }

  /**
   * The colour of a background for a terminal: 0xrrggbb, a number of its palette with {@link
   * #INDEXED}, or {@link #DEFAULT}.
   */
  int background(ColorMode mode, int paint) {
    if (of(Paint.role(paint)).own && !Paint.isFaded(paint)) {
      return DEFAULT;
    }
    if (mode == ColorMode.ANSI_16 || isNamed(Paint.role(paint))) {
      return INDEXED | index16(paint);
    }
    return mode == ColorMode.TRUE ? rgb(paint) : INDEXED | index256(paint);
  }

  /** The same for a foreground upon a background: never the colour of that background. */
  int foreground(ColorMode mode, int paint, int background) {
    Role role = Paint.role(paint);
    int on = background(mode, background);
    if (role != Role.INK) {
      int colour = background(mode, paint);
      if (Paint.isOfWords(paint)) {
        return legible(mode, role, colour, on);
      }
      boolean text = role == Role.TEXT || role == Role.DIM || role == Role.ACCENT;
      if (colour != on || !text && mode != ColorMode.ANSI_16) {
        return colour;
      }
    }
    if (on == DEFAULT) {
      return DEFAULT;
    }
    if (is16(on)) {
      return ink16(on);
    }
    int even = middle(background);
    return mode == ColorMode.TRUE
        ? ink(rgb(even))
        : INDEXED | ColourMath.nearest256(ink(ColourMath.rgb256(index256(even))));
  }

  /** A colour for words on another colour: the same one, or the nearest readable one. */
  private int legible(ColorMode mode, Role role, int colour, int on) {
    int under = seen(on, Role.GROUND);
    boolean few = mode == ColorMode.ANSI_16 || is16(colour) || is16(on);
    double least = few ? LEGIBLE_16 : role == Role.DIM ? LEGIBLE_DIM : LEGIBLE;
    int rgb = seen(colour, Role.TEXT);
    if (ColourMath.contrast(rgb, under) >= least) {
      return colour;
    }
    if (few) {
      int other = colour ^ BRIGHT_BLACK;
      return is16(colour) && ColourMath.contrast(seen(other, Role.TEXT), under) >= least
          ? other
          : on == DEFAULT ? DEFAULT : is16(on) ? ink16(on) : ink(under);
    }
    int ink = ColourMath.contrast(dark, under) > ColourMath.contrast(light, under) ? dark : light;
    for (int i = 1; i < STEPS; i++) {
      int nearer = ColourMath.mix(rgb, ink, (double) i / STEPS);
      int shown = mode == ColorMode.TRUE ? nearer : INDEXED | ColourMath.nearest256(nearer);
      if (ColourMath.contrast(seen(shown, Role.TEXT), under) >= least) {
        return shown;
      }
    }
    return mode == ColorMode.TRUE ? ink : INDEXED | ColourMath.nearest256(ink);
  }

  /** Whether a colour for a terminal is one of its own 16. */
  static boolean is16(int colour) {
    return (colour & INDEXED) != 0 && (colour & 0xff) < 16;
  }

  /** The look of a colour for a terminal, as far as it is known. */
  private int seen(int colour, Role own) {
    return colour == DEFAULT
        ? of(own).first
        : (colour & INDEXED) == 0
            ? colour
            : is16(colour) ? ColourMath.ANSI_RGB[colour & 0xff] : ColourMath.rgb256(colour & 0xff);
  }

  /** Black or white of the 16 colours, whichever reads better on another of them. */
  private static int ink16(int on) {
    int under = ColourMath.ANSI_RGB[on & 0xff];
    return INDEXED
        | (ColourMath.contrast(0, under) >= LIGHT_PREFERRED * ColourMath.contrast(0xffffff, under)
            ? 0
            : 15);
  }

  /** The theme's lightest or darkest colour, whichever reads better on a colour. */
  private int ink(int under) {
    return ColourMath.contrast(dark, under) >= LIGHT_PREFERRED * ColourMath.contrast(light, under)
        ? dark
        : light;
  }

  /** The colour between both colours of a frame, so that text looks alike on all shades. */
  private static int middle(int paint) {
    return switch (Paint.role(paint)) {
      case HEAT, BETTER, WORSE -> paint;
      default -> Paint.of(Paint.role(paint), Paint.SHADES / 2) | paint & 1;
    };
  }

  private boolean isNamed(Role role) {
    return of(role == Role.HEAT ? Role.HIGH : role).named;
  }

  private int index256(int paint) {
    if (Paint.isFaded(paint)) {
      return ColourMath.grey256(rgb(paint));
    }
    int[] steps =
        switch (Paint.role(paint)) {
          case HEAT -> ramp;
          default -> of(Paint.role(paint)).indexed;
        };
    return steps.length == 0 ? ColourMath.nearest256(rgb(paint)) : step(steps, paint);
  }

  private static int step(int[] steps, int paint) {
    return steps[Paint.shade(paint) * steps.length / Paint.SHADES];
  }

  private int index16(int paint) {
    if (Paint.isFaded(paint)) {
      return BRIGHT_BLACK;
    }
    Role role = Paint.role(paint) == Role.HEAT ? heatRole(paint) : Paint.role(paint);
    int[] steps = of(role).ansi;
    return steps.length == 0 ? ColourMath.nearestAnsi(rgb(Paint.of(role))) : step(steps, paint);
  }

  private static Role heatRole(int paint) {
    int shade = Paint.shade(paint);
    return shade < Paint.SHADES / 3
        ? Role.LOW
        : shade < Paint.SHADES * 2 / 3 ? Role.MID : Role.HIGH;
  }

  private int rgb(int paint) {
    Role role = Paint.role(paint);
    double t = (double) Paint.shade(paint) / (Paint.SHADES - 1);
    int colour;
    if (role == Role.HEAT) {
      int low = of(Role.LOW).first;
      int mid = of(Role.MID).first;
      int high = of(Role.HIGH).first;
      colour = t < 0.5 ? ColourMath.mix(low, mid, t * 2) : ColourMath.mix(mid, high, t * 2 - 1);
    } else if (of(role).named) {
      colour = ColourMath.ANSI_RGB[step(of(role).ansi, paint)];
    } else {
      colour = ColourMath.mix(of(role).first, of(role).second, t);
    }
    return Paint.isFaded(paint) ? ColourMath.mix(colour, of(Role.GROUND).first, FADE) : colour;
  }
}

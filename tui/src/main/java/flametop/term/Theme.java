package flametop.term;

import flametop.view.base.Paint;
import flametop.view.base.Role;
import java.util.Arrays;
import java.util.Locale;
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
  private static final int ROLES = Role.values().length;
  private static final int GROUND = Role.GROUND.ordinal();
  private static final int TEXT = Role.TEXT.ordinal();
  private static final int JIT = Role.JIT.ordinal();

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

  // By role. A missing value is -1 or of length 0.
  private final int[] first = new int[ROLES];
  private final int[] second = new int[ROLES];
  private final int[][] indexed = new int[ROLES][0];
  private final int[][] ansi = new int[ROLES][0];

  /** Roles with one of the terminal's own 16 colours, in every mode. */
  private final boolean[] named = new boolean[ROLES];

  private final boolean[] own = new boolean[ROLES];

  /** Numbers from low to high; empty if the file has none. */
  private int[] ramp = {};

  private int light;
  private int dark;

  /** Finds the theme that another is like. */
  interface Base {
    Theme of(String name) throws ThemeException;
  }

  private Theme() {
    Arrays.fill(first, -1);
  }

  /**
   * @param source named in errors
   * @param base finds the theme of {@code like}
   */
  static Theme parse(String source, String text, Base base) throws ThemeException {
    Theme theme = new Theme();
    int number = 0;
    for (int from = 0; from <= text.length(); ) {
      int newline = text.indexOf('\n', from);
      int to = newline < 0 ? text.length() : newline;
      number++;
      String line = text.substring(from, to).strip();
      from = to + 1;
      if (!line.isEmpty() && line.charAt(0) != '#') {
        try {
          theme.line(line, base);
        } catch (ThemeException e) {
          throw e.at(source + ":" + number);
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
      copy(base.of(value));
      return;
    }
    String[] words = words(value);
    if (key.endsWith(".256")) {
      indexed[role(key.substring(0, key.length() - 4))] = numbers(words);
    } else if (key.endsWith(".16")) {
      ansi[role(key.substring(0, key.length() - 3))] = names(words);
    } else {
      colours(role(key), words);
    }
  }

  /** Gives a role the colours of another one. */
  private void take(int from, int to) {
    first[to] = first[from];
    second[to] = second[from];
    indexed[to] = indexed[from];
    ansi[to] = ansi[from];
    named[to] = named[from];
  }

  private void copy(Theme other) {
    System.arraycopy(other.first, 0, first, 0, ROLES);
    System.arraycopy(other.second, 0, second, 0, ROLES);
    System.arraycopy(other.indexed, 0, indexed, 0, ROLES);
    System.arraycopy(other.ansi, 0, ansi, 0, ROLES);
    System.arraycopy(other.named, 0, named, 0, ROLES);
    System.arraycopy(other.own, 0, own, 0, ROLES);
  }

  private static String[] words(String value) throws ThemeException {
    int count = 0;
    String[] words = new String[Paint.SHADES];
    for (int from = 0; from < value.length(); ) {
      int to = from;
      while (to < value.length() && !Character.isWhitespace(value.charAt(to))) {
        to++;
      }
      if (to > from) {
        if (count == words.length) {
          throw new ThemeException("more than " + Paint.SHADES + " colours");
        }
        words[count++] = value.substring(from, to);
      }
      from = to + 1;
    }
    if (count == 0) {
      throw new ThemeException("no colour; a colour is #rrggbb");
    }
    return Arrays.copyOf(words, count);
  }

  /**
   * Sets the colours of a role, and drops the colours that the base theme has for terminals with
   * fewer colours.
   */
  private void colours(int role, String[] words) throws ThemeException {
    int from = words[0].equals("default") ? 1 : 0;
    if (from > 0 && role != GROUND && role != TEXT && role != Role.CHROME.ordinal()) {
      throw new ThemeException("only ground, chrome and text can be the terminal's default");
    }
    if (words.length == from) {
      throw new ThemeException("after default comes about which colour that is");
    }
    if (words.length > from + 2) {
      throw new ThemeException("more than two colours");
    }
    int[] names = {};
    if (words[from].charAt(0) == '#') {
      first[role] = colour(words[from]);
      second[role] = colour(words[words.length - 1]);
    } else {
      names = names(Arrays.copyOfRange(words, from, words.length));
      first[role] = ColourMath.ANSI_RGB[names[0]];
      second[role] = ColourMath.ANSI_RGB[names[names.length - 1]];
    }
    own[role] = from > 0;
    named[role] = names.length > 0;
    ansi[role] = names;
    indexed[role] = new int[0];
  }

  private static String key(Role role) {
    return role.name().toLowerCase(Locale.ROOT);
  }

  private static int role(String key) throws ThemeException {
    for (Role role : Role.values()) {
      if (role.themed() && key(role).equals(key)) {
        return role.ordinal();
      }
    }
    throw new ThemeException("no such role: " + key);
  }

  /** {@code #rrggbb}, or a grey {@code #ll}. */
  private static int colour(String text) throws ThemeException {
    boolean well = (text.length() == 7 || text.length() == 3) && text.charAt(0) == '#';
    int value = 0;
    for (int i = 1; i < text.length() && well; i++) {
      int digit = Character.digit(text.charAt(i), 16);
      well = digit >= 0 && text.charAt(i) < 0x7f;
      value = value << 4 | digit;
    }
    if (!well) {
      throw new ThemeException(
          "not a colour: " + text + "; a colour is #rrggbb, or one of " + String.join(", ", ANSI));
    }
    return text.length() == 3 ? value * 0x010101 : value;
  }

  private static int[] numbers(String[] words) throws ThemeException {
    int[] numbers = new int[words.length];
    for (int i = 0; i < words.length; i++) {
      int number = words[i].length() > 3 ? -1 : 0;
      for (int c = 0; c < words[i].length() && number >= 0; c++) {
        char digit = words[i].charAt(c);
        number = digit >= '0' && digit <= '9' ? number * 10 + digit - '0' : -1;
      }
      if (number < 16 || number > 255) {
        throw new ThemeException(
            "not a number from 16 to 255, the colours that terminals agree on: " + words[i]);
      }
      numbers[i] = number;
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

  /** Derives the other colours from the lines; returns the missing key, or null. */
  private @Nullable String complete() {
    for (Role language : LANGUAGES) {
      if (first[language.ordinal()] < 0) {
        take(JIT, language.ordinal());
      }
    }
    for (Role role : Role.values()) {
      if (role.themed() && first[role.ordinal()] < 0) {
        return key(role);
      }
    }
    dark = first[GROUND];
    light = first[GROUND];
    for (Role role : new Role[] {Role.TEXT, Role.SELECT}) {
      int colour = first[role.ordinal()];
      light = ColourMath.luminance(colour) > ColourMath.luminance(light) ? colour : light;
      dark = ColourMath.luminance(colour) < ColourMath.luminance(dark) ? colour : dark;
    }
    int[] low = indexed[Role.LOW.ordinal()];
    int[] mid = indexed[Role.MID.ordinal()];
    int[] high = indexed[Role.HIGH.ordinal()];
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
    int role = Paint.role(paint).ordinal();
    if (own[role] && !Paint.isFaded(paint)) {
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
    int under = seen(on, GROUND);
    boolean few = mode == ColorMode.ANSI_16 || is16(colour) || is16(on);
    double least = few ? LEGIBLE_16 : role == Role.DIM ? LEGIBLE_DIM : LEGIBLE;
    int rgb = seen(colour, TEXT);
    if (ColourMath.contrast(rgb, under) >= least) {
      return colour;
    }
    if (few) {
      int other = colour ^ BRIGHT_BLACK;
      return is16(colour) && ColourMath.contrast(seen(other, TEXT), under) >= least
          ? other
          : on == DEFAULT ? DEFAULT : is16(on) ? ink16(on) : ink(under);
    }
    int ink = ColourMath.contrast(dark, under) > ColourMath.contrast(light, under) ? dark : light;
    for (int i = 1; i < STEPS; i++) {
      int nearer = ColourMath.mix(rgb, ink, (double) i / STEPS);
      int shown = mode == ColorMode.TRUE ? nearer : INDEXED | ColourMath.nearest256(nearer);
      if (ColourMath.contrast(seen(shown, TEXT), under) >= least) {
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
  private int seen(int colour, int own) {
    return colour == DEFAULT
        ? first[own]
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
    return named[
        switch (role) {
          case INK -> TEXT;
          case HEAT -> Role.HIGH.ordinal();
          default -> role.ordinal();
        }];
  }

  private int index256(int paint) {
    if (Paint.isFaded(paint)) {
      return ColourMath.grey256(rgb(paint));
    }
    int[] steps =
        switch (Paint.role(paint)) {
          case INK -> indexed[TEXT];
          case HEAT -> ramp;
          default -> indexed[Paint.role(paint).ordinal()];
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
    Role role =
        switch (Paint.role(paint)) {
          case INK -> Role.TEXT;
          case HEAT -> heatRole(paint);
          default -> Paint.role(paint);
        };
    int[] steps = ansi[role.ordinal()];
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
      int low = first[Role.LOW.ordinal()];
      int mid = first[Role.MID.ordinal()];
      int high = first[Role.HIGH.ordinal()];
      colour = t < 0.5 ? ColourMath.mix(low, mid, t * 2) : ColourMath.mix(mid, high, t * 2 - 1);
    } else if (role == Role.INK) {
      colour = first[TEXT];
    } else if (named[role.ordinal()]) {
      colour = ColourMath.ANSI_RGB[step(ansi[role.ordinal()], paint)];
    } else {
      colour = ColourMath.mix(first[role.ordinal()], second[role.ordinal()], t);
    }
    return Paint.isFaded(paint) ? ColourMath.mix(colour, first[GROUND], FADE) : colour;
  }
}

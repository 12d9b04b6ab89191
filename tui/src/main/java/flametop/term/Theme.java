package flametop.term;

import flametop.view.Paint;
import flametop.view.Role;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The colours of the roles, from a file of lines {@code key = value}:
 *
 * <pre>
 *   # a comment
 *   ground  = #0f1419             a colour
 *   user    = #d9822b #f2c04c     a pair: names are shaded between the two
 *   user.256 = 172 178 214        numbers to shade between where the terminal has 256 colours
 *   user.16 = yellow              the colour where the terminal has 16
 * </pre>
 *
 * A key is a {@link Role} in small letters. Each role has to be there; {@code .256} and {@code .16}
 * may be left out, then what looks nearest is taken. A faded colour is a grey as light as it: the
 * few dark hues among the 256 would stand out.
 */
public final class Theme {
  /** Names of the 16 colours, by number. */
  private static final String[] ANSI = {
    "black", "red", "green", "yellow", "blue", "magenta", "cyan", "white",
    "bright-black", "bright-red", "bright-green", "bright-yellow", "bright-blue", "bright-magenta",
        "bright-cyan", "bright-white"
  };

  /** As xterm has them. */
  private static final int[] ANSI_RGB = {
    0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd, 0x00cdcd, 0xe5e5e5,
    0x7f7f7f, 0xff0000, 0x00ff00, 0xffff00, 0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff
  };

  private static final double[][] LAB =
      IntStream.range(16, 256).mapToObj(i -> lab(rgb256(i))).toArray(double[][]::new);

  private static final Pattern COLOUR = Pattern.compile("#[0-9a-fA-F]{6}");
  private static final Pattern INDEX = Pattern.compile("[0-9]{1,3}");
  private static final Pattern NAME = Pattern.compile("[a-z0-9][a-z0-9-]*");
  private static final long MAX_BYTES = 64 * 1024;

  /** How much of a faded colour is the ground's. */
  private static final double FADE = 0.62;

  /** On a colour that bears both, light text reads better than the ratio says. */
  private static final double LIGHT_PREFERRED = 1.3;

  private final int[] first;
  private final int[] second;
  private final int[][] indexed;
  private final int[] ramp;
  private final int[] ansi;

  private Theme(int[] first, int[] second, int[][] indexed, int[] ansi) {
    this.first = first;
    this.second = second;
    this.indexed = indexed;
    ramp =
        Stream.of(Role.LOW, Role.MID, Role.HIGH)
            .flatMapToInt(role -> Arrays.stream(indexed[role.ordinal()]))
            .toArray();
    this.ansi = ansi;
  }

  /** Reads {@code NAME.theme} in a folder. */
  public static Theme load(Path folder, String name) throws ThemeException {
    if (!NAME.matcher(name).matches()) {
      throw new ThemeException(
          "theme " + name + ": a name has small letters, digits and dashes only");
    }
    Path file = folder.resolve(name + ".theme");
    try {
      if (Files.size(file) > MAX_BYTES) {
        throw new ThemeException(file + ": larger than 64 KiB, that is no theme");
      }
      return parse(file.toString(), Files.readString(file));
    } catch (NoSuchFileException e) {
      throw new ThemeException(file + ": no such theme; the themes are the files *.theme there");
    } catch (IOException e) {
      throw new ThemeException(file + ": cannot be read: " + e.getMessage());
    }
  }

  /**
   * @param source named in errors
   */
  static Theme parse(String source, String text) throws ThemeException {
    int roles = Role.values().length;
    int[] first = new int[roles];
    int[] second = new int[roles];
    int[][] indexed = new int[roles][0];
    int[] ansi = new int[roles];
    Arrays.fill(first, -1);
    Arrays.fill(ansi, -1);
    String[] lines = text.split("\n", -1);
    for (int i = 0; i < lines.length; i++) {
      String line = lines[i].strip();
      if (!line.isEmpty() && !line.startsWith("#")) {
        String at = source + ":" + (i + 1) + ": ";
        int equals = line.indexOf('=');
        if (equals < 0) {
          throw new ThemeException(
              at + "no '='; a line is 'role = #rrggbb' or 'role = #rrggbb #rrggbb'");
        }
        String key = line.substring(0, equals).strip();
        String value = line.substring(equals + 1).strip();
        if (key.endsWith(".16")) {
          ansi[role(at, key.substring(0, key.length() - 3))] = ansi(at, value);
        } else if (key.endsWith(".256")) {
          indexed[role(at, key.substring(0, key.length() - 4))] = indexed(at, value);
        } else {
          int role = role(at, key);
          String[] colours = value.split("\\s+");
          if (colours.length > 2) {
            throw new ThemeException(at + "more than two colours");
          }
          first[role] = colour(at, colours[0]);
          second[role] = colours.length == 2 ? colour(at, colours[1]) : first[role];
        }
      }
    }
    for (Role role : Role.values()) {
      int r = role.ordinal();
      if (role.themed() && first[r] < 0) {
        throw new ThemeException(source + ": no line for " + key(role));
      }
      if (role.themed() && ansi[r] < 0) {
        ansi[r] = nearestAnsi(first[r]);
      }
    }
    return new Theme(first, second, indexed, ansi);
  }

  private static String key(Role role) {
    return role.name().toLowerCase(Locale.ROOT);
  }

  private static int role(String at, String key) throws ThemeException {
    for (Role role : Role.values()) {
      if (role.themed() && key(role).equals(key)) {
        return role.ordinal();
      }
    }
    throw new ThemeException(at + "no such role: " + key);
  }

  private static int colour(String at, String text) throws ThemeException {
    if (!COLOUR.matcher(text).matches()) {
      throw new ThemeException(at + "not a colour: " + text + "; a colour is #rrggbb");
    }
    return Integer.parseInt(text.substring(1), 16);
  }

  private static int[] indexed(String at, String text) throws ThemeException {
    String[] words = text.split("\\s+");
    if (words.length > Paint.SHADES) {
      throw new ThemeException(at + "more than " + Paint.SHADES + " colours");
    }
    int[] numbers = new int[words.length];
    for (int i = 0; i < words.length; i++) {
      int number = INDEX.matcher(words[i]).matches() ? Integer.parseInt(words[i]) : -1;
      if (number < 16 || number > 255) {
        throw new ThemeException(
            at + "not a number from 16 to 255, the colours that terminals agree on: " + words[i]);
      }
      numbers[i] = number;
    }
    return numbers;
  }

  private static int ansi(String at, String name) throws ThemeException {
    int i = Arrays.asList(ANSI).indexOf(name);
    if (i < 0) {
      throw new ThemeException(
          at + "not one of the 16 colours: " + name + "; they are " + String.join(", ", ANSI));
    }
    return i;
  }

  /** The colour of a background: 0xrrggbb. */
  public int background(int paint) {
    return rgb(paint);
  }

  /** The colour of a foreground upon a background: 0xrrggbb. */
  public int foreground(int paint, int background) {
    if (Paint.role(paint) != Role.INK) {
      return rgb(paint);
    }
    return first[ink(rgb(middle(background))).ordinal()];
  }

  /** The role whose colour reads well on this one: the ground's or the text's. */
  private Role ink(int under) {
    boolean textIsLight =
        luminance(first[Role.TEXT.ordinal()]) > luminance(first[Role.GROUND.ordinal()]);
    Role light = textIsLight ? Role.TEXT : Role.GROUND;
    Role dark = textIsLight ? Role.GROUND : Role.TEXT;
    return contrast(first[dark.ordinal()], under)
            >= LIGHT_PREFERRED * contrast(first[light.ordinal()], under)
        ? dark
        : light;
  }

  /** The colour between a role's two: text looks alike on all its shades. */
  private int middle(int paint) {
    return Paint.role(paint) == Role.HEAT
        ? paint
        : Paint.of(Paint.role(paint), Paint.SHADES / 2) | paint & 1;
  }

  /** Number of the colour among 256. */
  int background256(int paint) {
    if (Paint.isFaded(paint)) {
      return grey256(rgb(paint));
    }
    int[] steps =
        switch (Paint.role(paint)) {
          case INK -> indexed[Role.TEXT.ordinal()];
          case HEAT -> ramp;
          default -> indexed[Paint.role(paint).ordinal()];
        };
    return steps.length == 0
        ? nearest256(rgb(paint))
        : steps[Paint.shade(paint) * steps.length / Paint.SHADES];
  }

  /** The grey of the ramp, 8 to 238 in steps of 10, that is as light. */
  private static int grey256(int rgb) {
    int light = ((rgb >> 16 & 0xff) + (rgb >> 8 & 0xff) + (rgb & 0xff)) / 3;
    return 232 + Math.max(0, Math.min(23, Math.round((light - 8) / 10f)));
  }

  /** Number of the colour among 256, upon a background. */
  int foreground256(int paint, int background) {
    return Paint.role(paint) == Role.INK
        ? background256(Paint.of(ink(rgb256(background256(middle(background))))))
        : background256(paint);
  }

  /** Number of the colour among 16. */
  int background16(int paint) {
    return switch (Paint.role(paint)) {
      case HEAT -> ansi[heatRole(paint).ordinal()];
      case INK -> ansi[Role.TEXT.ordinal()];
      default -> Paint.isFaded(paint) ? 8 : ansi[Paint.role(paint).ordinal()];
    };
  }

  /** Number of the colour among 16, upon a background: never the same. */
  int foreground16(int paint, int background) {
    int on = background16(background);
    if (Paint.role(paint) != Role.INK && background16(paint) != on) {
      return background16(paint);
    }
    int under = ANSI_RGB[on];
    return contrast(0, under) >= LIGHT_PREFERRED * contrast(0xffffff, under) ? 0 : 15;
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
      colour = t < 0.5 ? mix(low, mid, t * 2) : mix(mid, high, t * 2 - 1);
    } else if (role == Role.INK) {
      colour = first[Role.TEXT.ordinal()];
    } else {
      colour = mix(first[role.ordinal()], second[role.ordinal()], t);
    }
    return Paint.isFaded(paint) ? mix(colour, first[Role.GROUND.ordinal()], FADE) : colour;
  }

  private static int mix(int a, int b, double t) {
    int out = 0;
    for (int shift = 16; shift >= 0; shift -= 8) {
      int x = a >> shift & 0xff;
      int y = b >> shift & 0xff;
      out |= (int) Math.round(x + (y - x) * t) << shift;
    }
    return out;
  }

  /** Contrast ratio of two colours, 1 to 21 (WCAG 2). */
  private static double contrast(int a, int b) {
    double x = luminance(a);
    double y = luminance(b);
    return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
  }

  private static double luminance(int rgb) {
    return 0.2126 * linear(rgb >> 16 & 0xff)
        + 0.7152 * linear(rgb >> 8 & 0xff)
        + 0.0722 * linear(rgb & 0xff);
  }

  private static double linear(int channel) {
    double c = channel / 255.0;
    return c <= 0.03928 ? c / 12.92 : Math.pow((c + 0.055) / 1.055, 2.4);
  }

  /** What looks nearest of the 240 colours above the first 16, which terminals do not agree on. */
  static int nearest256(int rgb) {
    double[] wanted = lab(rgb);
    int best = 16;
    double least = Double.MAX_VALUE;
    for (int i = 16; i < 256; i++) {
      double[] is = LAB[i - 16];
      double l = wanted[0] - is[0];
      double a = wanted[1] - is[1];
      double b = wanted[2] - is[2];
      double distance = l * l + a * a + b * b;
      if (distance < least) {
        least = distance;
        best = i;
      }
    }
    return best;
  }

  /** One of the 240 colours: a cube of 6×6×6, then greys. */
  private static int rgb256(int index) {
    if (index >= 232) {
      return (8 + 10 * (index - 232)) * 0x010101;
    }
    int i = index - 16;
    return level(i / 36) << 16 | level(i / 6 % 6) << 8 | level(i % 6);
  }

  private static int level(int step) {
    return step == 0 ? 0 : 55 + 40 * step;
  }

  /** Oklab (Ottosson 2020): lightness and two axes of hue, in which near is what looks alike. */
  private static double[] lab(int rgb) {
    double r = linear(rgb >> 16 & 0xff);
    double g = linear(rgb >> 8 & 0xff);
    double b = linear(rgb & 0xff);
    double l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
    double m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
    double s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
    return new double[] {
      0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
      1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
      0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s
    };
  }

  private static int nearestAnsi(int rgb) {
    int best = 0;
    for (int i = 1; i < ANSI_RGB.length; i++) {
      best = distance(ANSI_RGB[i], rgb) < distance(ANSI_RGB[best], rgb) ? i : best;
    }
    return best;
  }

  private static int distance(int a, int b) {
    int sum = 0;
    for (int shift = 16; shift >= 0; shift -= 8) {
      int d = (a >> shift & 0xff) - (b >> shift & 0xff);
      sum += d * d;
    }
    return sum;
  }
}

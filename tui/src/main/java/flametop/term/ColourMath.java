package flametop.term;

/**
 * Colours as numbers {@code 0xrrggbb}: shades between two, contrast, the nearest that a terminal
 * has.
 */
final class ColourMath {
  /** The 16 colours of xterm. */
  static final int[] ANSI_RGB = {
    0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd, 0x00cdcd, 0xe5e5e5,
    0x7f7f7f, 0xff0000, 0x00ff00, 0xffff00, 0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff
  };

  private ColourMath() {}

  /** A colour between two: {@code a} where {@code t} is 0, {@code b} where {@code t} is 1. */
  static int mix(int a, int b, double t) {
    int out = 0;
    for (int shift = 16; shift >= 0; shift -= 8) {
      int x = a >> shift & 0xff;
      int y = b >> shift & 0xff;
      out |= (int) Math.round(x + (y - x) * t) << shift;
    }
    return out;
  }

  /** Contrast ratio of two colours, 1 to 21 (WCAG 2). */
  static double contrast(int a, int b) {
    double x = luminance(a);
    double y = luminance(b);
    return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
  }

  /** Relative luminance, 0 to 1 (WCAG 2). */
  static double luminance(int rgb) {
    return 0.2126 * linear(rgb >> 16 & 0xff)
        + 0.7152 * linear(rgb >> 8 & 0xff)
        + 0.0722 * linear(rgb & 0xff);
  }

  /** A channel of sRGB as light. */
  static double linear(int channel) {
    double c = channel / 255.0;
    return c <= 0.04045 ? c / 12.92 : Math.pow((c + 0.055) / 1.055, 2.4);
  }

  /** The nearest of the 240 colours above the first 16, on which terminals do not agree. */
  static int nearest256(int rgb) {
    double[] wanted = lab(linear(rgb >> 16 & 0xff), linear(rgb >> 8 & 0xff), linear(rgb & 0xff));
    int best = 16;
    double least = Double.MAX_VALUE;
    for (int i = 16; i < 256; i++) {
      double[] is = Indexed.LAB[i - 16];
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

  /** The grey of the same lightness on the ramp 8 to 238 in steps of 10. */
  static int grey256(int rgb) {
    int light = ((rgb >> 16 & 0xff) + (rgb >> 8 & 0xff) + (rgb & 0xff)) / 3;
    return 232 + Math.max(0, Math.min(23, Math.round((light - 8) / 10f)));
  }

  /** One of the 240 colours: a cube of 6×6×6, then greys. */
  static int rgb256(int index) {
    if (index >= 232) {
      return (8 + 10 * (index - 232)) * 0x010101;
    }
    int i = index - 16;
    return level(i / 36) << 16 | level(i / 6 % 6) << 8 | level(i % 6);
  }

  private static int level(int step) {
    return step == 0 ? 0 : 55 + 40 * step;
  }

  /** The nearest numbers, made only for terminals with 256 colours and themes without numbers. */
  private static final class Indexed {
    static final double[][] LAB = new double[240][];

    static {
      for (int i = 0; i < LAB.length; i++) {
        int rgb = rgb256(i + 16);
        LAB[i] = lab(linear(rgb >> 16 & 0xff), linear(rgb >> 8 & 0xff), linear(rgb & 0xff));
      }
    }
  }

  /**
   * Oklab of linear light (Ottosson 2020): lightness and two axes of hue, in which similar colours
   * are near each other.
   */
  static double[] lab(double r, double g, double b) {
    double l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
    double m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
    double s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
    return new double[] {
      0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
      1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
      0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s
    };
  }

  /** The number of the nearest of the 16 colours. */
  static int nearestAnsi(int rgb) {
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

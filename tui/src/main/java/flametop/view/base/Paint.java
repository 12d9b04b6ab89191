package flametop.view.base;

/**
 * A colour as a number: a role, a shade, whether the colour is for words (which must be readable on
 * every background), and whether the colour is faded into the ground.
 *
 * <pre>
 *   bit 15..8  role, by ordinal
 *   bit  7     of words
 *   bit  6..1  shade, 0 to SHADES - 1
 *   bit  0     faded
 * </pre>
 */
public final class Paint {
  /**
   * Number of shades between the two colours of a role. Few, so that a terminal's cells can be
   * shared.
   */
  public static final int SHADES = 16;

  /** The background of the selected row. A whole row of {@link Role#SELECT} would glare. */
  public static final int SELECTED_ROW = faded(of(Role.SELECT));

  public static final int GROUND = of(Role.GROUND);
  public static final int CHROME = of(Role.CHROME);
  public static final int TEXT = of(Role.TEXT);
  public static final int DIM = of(Role.DIM);
  public static final int ACCENT = of(Role.ACCENT);
  public static final int INK = of(Role.INK);
  public static final int WORSE = of(Role.WORSE);

  private static final int WORDS = 1 << 7;

  private static final Role[] ROLES = Role.values();

  private Paint() {}

  public static int of(Role role) {
    return role.ordinal() << 8;
  }

  public static int of(Role role, int shade) {
    return role.ordinal() << 8 | shade << 1;
  }

  /** The shade for a name; equal names have equal shades. */
  public static int shade(String name) {
    int h = name.hashCode() * 0x9E3779B9;
    return h >>> 28;
  }

  /** A point of the ramp from low (0) to high (1). */
  public static int heat(double share) {
    return of(Role.HEAT, (int) Math.round(Math.max(0, Math.min(1, share)) * (SHADES - 1)));
  }

  public static int faded(int paint) {
    return paint | 1;
  }

  /** The same colour for words: lighter or darker wherever words would be unreadable. */
  public static int words(int paint) {
    return paint | WORDS;
  }

  public static boolean isOfWords(int paint) {
    return (paint & WORDS) != 0;
  }

  public static Role role(int paint) {
    return ROLES[paint >> 8];
  }

  public static int shade(int paint) {
    return paint >> 1 & 0x3f;
  }

  public static boolean isFaded(int paint) {
    return (paint & 1) != 0;
  }
}

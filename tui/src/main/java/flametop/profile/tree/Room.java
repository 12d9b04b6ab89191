package flametop.profile.tree;

/** How long arrays become that are full. */
public final class Room {
  private static final int LARGE = 1 << 14;

  private Room() {}

  /** Twice as long; a large one a quarter longer: on average a half of twice would be empty. */
  public static int after(int length) {
    return length < LARGE ? 2 * length : length + (length >> 2);
  }
}

package flametop.view.base;

/**
 * Shorter forms of the name of a control group. Pure. The name of a systemd slice repeats the names
 * of the slices around it, and container engines name a group by 64 digits, of which people use 12:
 *
 * <pre>
 *   kubepods-burstable-pod1f2e.slice         kubepods-burstable-pod1f2e   pod1f2e
 *   cri-containerd-9a6f…(64).scope           cri-containerd-9a6f01c3d2e4  9a6f01c3d2e4
 *   nginx.service                            nginx
 * </pre>
 */
public final class CgroupName {
  private static final int FEWEST_DIGITS = 32;
  private static final int DIGITS = 12;
  private static final String[] UNITS = {".service", ".scope", ".slice"};

  private CgroupName() {}

  /**
   * The longest form that fits; the shortest one if none fits, which the caller cuts at its end.
   */
  public static String form(String name, int room) {
    if (!TextWidth.exceeds(name, room)) {
      return name;
    }
    String unit = "";
    for (String u : UNITS) {
      unit = name.endsWith(u) ? u : unit;
    }
    String form = name.substring(0, name.length() - unit.length());
    int digits = digits(form);
    boolean id = form.length() - digits >= FEWEST_DIGITS;
    if (id) {
      form = form.substring(0, digits + DIGITS);
    }
    if (!TextWidth.exceeds(form, room)) {
      return form;
    }
    int last = form.lastIndexOf('-');
    if (id && digits > 0) {
      return form.substring(digits);
    }
    return unit.equals(".slice") && last > 0 && last < form.length() - 1
        ? form.substring(last + 1)
        : form;
  }

  /** A path, or its last name if the path has no room. */
  public static String ofPath(String path, int room) {
    return TextWidth.exceeds(path, room) && path.length() > 1
        ? form(path.substring(path.lastIndexOf('/') + 1), room)
        : path;
  }

  /** The index at which the hexadecimal digits at the end of a name begin. */
  private static int digits(String name) {
    int at = name.length();
    while (at > 0 && Character.digit(name.charAt(at - 1), 16) >= 0) {
      at--;
    }
    return at;
  }
}

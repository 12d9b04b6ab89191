package flametop.term;

import flametop.sampler.CleanText;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * All themes: files {@code NAME.theme} of the user, which win, and files that come with flametop.
 */
final class Themes {
  /** The theme in the place of one that cannot be shown. */
  static final String DEFAULT = "dark";

  private static final String SUFFIX = ".theme";
  private static final int MAX_LIKE = 8;
  private static final int MAX_MESSAGE = 500;

  private static final String FOLDER = "themes";

  private final Path shipped;

  private final UserFiles user;

  /** The folder of the user's themes; null if its place is unknown. */
  private final @Nullable Path own;

  /**
   * @param user whose {@code themes/NAME.theme} win
   */
  Themes(Path shipped, UserFiles user) {
    this.shipped = shipped;
    this.user = user;
    own = user.path(FOLDER);
  }

  /**
   * A theme, and what is wrong with the one of the question; empty if nothing is.
   *
   * @param notice the fault with its file and line; empty if there is none
   */
  record Loaded(Theme theme, String notice) {}

  /**
   * The theme of a name; the default theme, with a notice, if its file is in error.
   *
   * @param place file and line with the name; empty for the command line
   * @throws ThemeException the command line names a theme that does not exist (the message lists
   *     all themes), or the default theme is in error itself
   */
  Loaded load(String name, String place) throws ThemeException {
    if (!isName(name) || file(name) == null) {
      String none = "no theme '" + name + "'; there are " + String.join(", ", names());
      if (place.isEmpty()) {
        throw new ThemeException(CleanText.clean(none, MAX_MESSAGE));
      }
      return fallback(place + ": " + none);
    }
    try {
      return new Loaded(read(name, 0), "");
    } catch (ThemeException e) {
      return fallback(e.getMessage());
    }
  }

  private Loaded fallback(String why) throws ThemeException {
    Theme theme = new Themes(shipped, UserFiles.NONE).read(DEFAULT, 0);
    return new Loaded(theme, CleanText.clean("shown is " + DEFAULT + ": " + why, MAX_MESSAGE));
  }

  /** Names of all themes, in order. */
  Set<String> names() {
    Set<String> names = new TreeSet<>();
    for (Path folder : own == null ? new Path[] {shipped} : new Path[] {shipped, own}) {
      try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "*" + SUFFIX)) {
        for (Path file : files) {
          String name = file.getFileName().toString();
          name = name.substring(0, name.length() - SUFFIX.length());
          if (isName(name)) {
            names.add(name);
          }
        }
      } catch (IOException e) {
        // A folder that is missing or unreadable has none.
      }
    }
    return names;
  }

  private static boolean isName(String name) {
    boolean well = !name.isEmpty() && name.length() <= 64 && name.charAt(0) != '-';
    for (int i = 0; i < name.length() && well; i++) {
      char c = name.charAt(i);
      well = c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-';
    }
    return well;
  }

  /** Finds the theme that another is like. A lambda would cost the start 10 ms. */
  final class Like implements Theme.Base {
    private final String name;
    private final int depth;

    Like(String name, int depth) {
      this.name = name;
      this.depth = depth;
    }

    /** A theme that is like one of its own name is like the one that comes with flametop. */
    @Override
    public Theme of(String other) throws ThemeException {
      Themes where = other.equals(name) ? new Themes(shipped, UserFiles.NONE) : Themes.this;
      return where.read(other, depth);
    }
  }

  /** The file of a theme; null if it has none. */
  private @Nullable Path file(String name) {
    Path mine = own == null ? null : own.resolve(name + SUFFIX);
    if (mine != null && Files.exists(mine, LinkOption.NOFOLLOW_LINKS)) {
      return mine;
    }
    Path theirs = shipped.resolve(name + SUFFIX);
    return Files.exists(theirs) ? theirs : null;
  }

  private Theme read(String name, int depth) throws ThemeException {
    Path file = isName(name) ? file(name) : null;
    if (file == null) {
      throw new ThemeException("no theme '" + name + "'");
    }
    if (depth > MAX_LIKE) {
      throw new ThemeException("'like' leads in a circle");
    }
    try {
      String text = file.startsWith(shipped) ? Files.readString(file) : user.read(file);
      return Theme.parse(file.toString(), text, new Like(name, depth + 1));
    } catch (IOException e) {
      throw new ThemeException("cannot be read: " + e.getMessage()).at(file.toString());
    }
  }
}

package flametop.term;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The look of the screen.
 *
 * @param theme name of a theme: {@code dark} is {@code themes/dark.theme}
 * @param place file and line with the name; empty for the command line, where a wrong name is an
 *     error
 * @param user files of the user, who may have themes too
 * @param ascii whether only ASCII is drawn, whatever the terminal can
 */
public record Look(String theme, String place, UserFiles user, boolean ascii) {
  /** Name of the default theme. */
  public static final String DEFAULT_THEME = Themes.DEFAULT;

  /** The names of all themes, in order: those that come with flametop, and those of the user. */
  public static Set<String> themes(UserFiles user) {
    return new Themes(themesFolder(), user).names();
  }

  /** The faults of themes that cannot be shown, a line each. */
  public static List<String> faultyThemes(UserFiles user) {
    Themes all = new Themes(themesFolder(), user);
    List<String> faults = new ArrayList<>();
    for (String name : all.names()) {
      try {
        String notice = all.load(name, "").notice();
        if (!notice.isEmpty()) {
          faults.add(notice);
        }
      } catch (ThemeException e) {
        faults.add(e.getMessage());
      }
    }
    return faults;
  }

  /**
   * What is drawn on a terminal, for people; empty if no screen can be drawn.
   *
   * @param environment as of {@link System#getenv()}
   */
  public static String drawn(Map<String, String> environment) {
    if (Display.isWithoutScreen(environment.getOrDefault("TERM", ""))) {
      return "";
    }
    String colors =
        switch (ColorMode.of(environment)) {
          case TRUE -> "all colours";
          case INDEXED_256 -> "256 colours";
          case ANSI_16 -> "16 colours";
          case NONE -> "no colours";
        };
    return colors + (ColorMode.isAscii(environment) ? ", ASCII" : ", UTF-8");
  }

  /**
   * The folder named by the system property {@code flametop.themes.dir}; {@code themes} below the
   * working directory without it.
   */
  public static Path themesFolder() {
    return Path.of(System.getProperty("flametop.themes.dir", "themes"));
  }
}

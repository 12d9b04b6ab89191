package flametop.term;

import java.nio.file.Path;

/**
 * How the screen is to look.
 *
 * @param theme name of a theme: {@code dark} is {@code themes/dark.theme}
 * @param place file and line that says so; empty: the command line, where a wrong name is an error
 * @param themes folder of the themes that come with flametop; {@link #themesFolder()}
 * @param user who may have themes too; null for none
 * @param ascii nothing but ASCII is drawn, whatever the terminal could
 */
public record Look(String theme, String place, Path themes, UserFiles user, boolean ascii) {
  /** Name of the theme that is shown where none is asked for. */
  public static final String DEFAULT_THEME = Themes.DEFAULT;

  /** The default theme, of {@link #themesFolder()}. */
  public static Look plain() {
    return new Look(DEFAULT_THEME, "", themesFolder(), null, false);
  }

  /**
   * The folder named by the system property {@code flametop.themes.dir}; {@code themes} below the
   * working directory without it.
   */
  public static Path themesFolder() {
    return Path.of(System.getProperty("flametop.themes.dir", "themes"));
  }
}

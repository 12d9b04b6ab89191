package flametop.cli.settings;

import flametop.term.Look;
import flametop.term.ScreenOptions;
import flametop.term.SearchHistory;
import flametop.term.UserFiles;
import java.io.PrintWriter;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** How the screen looks: what the command line says, else what the user has set. */
public final class LookOptions {
  /** In place of the name of a theme: prints the names. */
  private static final String LIST = "list";

  @Option(
      names = "--theme",
      order = 11,
      paramLabel = "NAME",
      description = {
        "colours, or list; --ascii; --no-mouse",
        "Colours: dark (the default), light, safe (for the colour-blind), terminal (its 16 colours), mono, ember, fjord, paper, or a theme of your own. list prints the names of all, one a line."
      })
  private @Nullable String theme;

  @Option(
      names = "--ascii",
      order = 11,
      hidden = true,
      description = {
        "draw ASCII only",
        "Draws ASCII characters only. The same happens where the locale is not UTF-8, and on the Linux console."
      })
  private @Nullable Boolean ascii;

  @Option(
      names = "--no-mouse",
      order = 12,
      hidden = true,
      description = {
        "leave the mouse to the terminal",
        "Leaves the mouse to the terminal, which marks text with it."
      })
  private @Nullable Boolean noMouse;

  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

  /** Prints the names of all themes, one a line, if the command line asks for them. */
  public boolean listed() {
    if (!LIST.equals(theme)) {
      return false;
    }
    PrintWriter out = command.commandLine().getOut();
    Look.themes(UserFiles.of(System.getenv())).forEach(out::println);
    out.flush();
    return true;
  }

  public Look look(UserFiles user, Settings settings) {
    String name = settings.given(theme, "theme", new Settings.Text(), Look.DEFAULT_THEME);
    String place = theme == null ? settings.place("theme") : "";
    boolean only = settings.given(ascii, "ascii", new Settings.YesNo(), false);
    return new Look(name, place, user, only);
  }

  /** Last: by now every setting was looked at, and the problems are known. */
  public ScreenOptions.Preferences preferences(Settings settings) {
    Boolean off = noMouse == null ? null : Boolean.FALSE;
    boolean mouse = settings.given(off, "mouse", new Settings.YesNo(), true);
    return new ScreenOptions.Preferences(
        settings.keymap(), mouse, settings.problems(), SearchHistory.of(System.getenv()));
  }
}

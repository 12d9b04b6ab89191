package flametop.cli;

import flametop.sampler.CleanText;
import flametop.term.UserFiles;
import flametop.view.Action;
import flametop.view.Key;
import flametop.view.Keymap;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * The user's configuration: lines of {@code name = value}; {@code #} begins a comment. A line that
 * says nothing that is known is a problem and changes nothing; all others hold.
 */
final class Configuration {
  private static final String FILE = "flametop.conf";
  private static final int MAX_SHOWN = 60;
  private static final String KEY = "key.";

  private final String file;
  private final List<String> problems = new ArrayList<>();
  private final Map<Action, Integer> keyLines = new EnumMap<>(Action.class);
  private Keymap keymap = Keymap.DEFAULT;
  private boolean mouse = true;
  private boolean ascii;
  private String theme;
  private String themePlace = "";
  private Double refreshSeconds;

  private Configuration(String file) {
    this.file = file;
  }

  /** The folder of this program in one of the user's; null if there is none. */
  static Path folder(Map<String, String> environment, String variable, String below) {
    String folder = environment.getOrDefault(variable, "");
    String home = environment.getOrDefault("HOME", "");
    if (folder.startsWith("/")) {
      return Path.of(folder, "flametop");
    }
    return home.startsWith("/") ? Path.of(home, below, "flametop") : null;
  }

  /** Reads {@code flametop.conf} of the user; what is not there sets nothing. */
  static Configuration read(UserFiles user) {
    Path path = user.path(FILE);
    if (path == null || !Files.exists(path)) {
      return new Configuration("");
    }
    try {
      return parse(FILE, user.read(path));
    } catch (IOException e) {
      Configuration unread = new Configuration("");
      unread.problems.add(
          CleanText.clean(path + ": " + e.getMessage(), 300) + "; nothing of it is used");
      return unread;
    }
  }

  /**
   * Takes a text as configuration.
   *
   * @param file the name that problems begin with
   */
  static Configuration parse(String file, String text) {
    Configuration read = new Configuration(file);
    int number = 0;
    for (String line : text.split("\n", -1)) {
      number++;
      String said = line.strip();
      if (!said.isEmpty() && !said.startsWith("#")) {
        read.line(number, said);
      }
    }
    read.settleKeys();
    return read;
  }

  private void line(int number, String line) {
    int equals = line.indexOf('=');
    if (equals <= 0) {
      problem(number, "no name = value: " + shown(line));
      return;
    }
    String name = line.substring(0, equals).strip();
    String value = withoutComment(line.substring(equals + 1));
    if (name.startsWith(KEY)) {
      keys(number, name.substring(KEY.length()), value);
      return;
    }
    switch (name) {
      case "mouse" -> mouse = flag(number, name, value, mouse);
      case "ascii" -> ascii = flag(number, name, value, ascii);
      case "theme" -> {
        if (value.matches("[A-Za-z0-9._-]{1,64}")) {
          theme = value;
          themePlace = file + ":" + number;
        } else {
          problem(number, "theme: " + shown(value) + " is no name of a theme");
        }
      }
      case "refresh" -> {
        Double seconds = ScreenCommand.Seconds.parse(value);
        if (seconds == null) {
          problem(number, "refresh: " + shown(value) + " is no number from 0.1 to 60");
        } else {
          refreshSeconds = seconds;
        }
      }
      default ->
          problem(
              number,
              shown(name) + " is no setting; flametop --print-config shows those that there are");
    }
  }

  /** A comment behind a value begins after a space; a key may be {@code #} itself. */
  private static String withoutComment(String value) {
    int hash = value.strip().startsWith("#") ? -1 : value.indexOf(" # ");
    return (hash < 0 ? value : value.substring(0, hash)).strip();
  }

  private boolean flag(int number, String name, String value, boolean now) {
    if (value.equals("on") || value.equals("true") || value.equals("yes")) {
      return true;
    }
    if (value.equals("off") || value.equals("false") || value.equals("no")) {
      return false;
    }
    problem(number, name + ": " + shown(value) + " is neither on nor off");
    return now;
  }

  private void keys(int number, String id, String value) {
    Action action = null;
    for (Action a : Action.values()) {
      action = a.id().equals(id) ? a : action;
    }
    if (action == null) {
      problem(
          number,
          shown(id) + " is nothing that a key can do; flametop --print-config lists all of it");
      return;
    }
    List<Key> keys = new ArrayList<>();
    for (String name :
        value.isEmpty() || value.equals("none") ? new String[0] : value.split("\\s+")) {
      Key key = Key.parse(name);
      if (key == null) {
        problem(number, KEY + id + ": " + shown(name) + " is no key");
        return;
      }
      String taken = taken(key, action);
      if (taken != null) {
        problem(number, KEY + id + ": " + key.name() + " " + taken);
        return;
      }
      keys.add(key);
    }
    keymap = keymap.with(action, keys);
    keyLines.put(action, number);
  }

  /** Why a key is not to be had; null if it is. */
  private static String taken(Key key, Action action) {
    if (key.kind() != Key.Kind.CTRL) {
      return null;
    }
    return switch (key.character()) {
      case 'c' -> action == Action.QUIT ? null : "always quits";
      case 'z' -> "always gives the terminal back to the shell";
      case 'i', 'j', 'm', 'h' -> "is what a terminal sends for tab, enter or backspace: give that";
      default -> null;
    };
  }

  /** Where a key would do two things in a view, the later line that says so does not hold. */
  private void settleKeys() {
    List<Keymap.Conflict> conflicts = keymap.conflicts();
    while (!conflicts.isEmpty()) {
      Keymap.Conflict c = conflicts.get(0);
      int first = keyLines.getOrDefault(c.first(), 0);
      int second = keyLines.getOrDefault(c.second(), 0);
      Action loser = first > second ? c.first() : c.second();
      Action other = loser == c.first() ? c.second() : c.first();
      problem(
          Math.max(first, second),
          KEY
              + loser.id()
              + ": "
              + c.key().name()
              + " is "
              + KEY
              + other.id()
              + " in the "
              + c.view().label()
              + " already; give that another key too");
      keyLines.remove(loser);
      keymap = keymap.with(loser, Keymap.DEFAULT.keys(loser));
      conflicts = keymap.conflicts();
    }
  }

  private void problem(int line, String text) {
    problems.add(file + ":" + line + ": " + text);
  }

  private static String shown(String text) {
    return "'" + CleanText.clean(text, MAX_SHOWN) + "'";
  }

  Keymap keymap() {
    return keymap;
  }

  boolean mouse() {
    return mouse;
  }

  boolean ascii() {
    return ascii;
  }

  /** Null if it says nothing of it, like {@link #refreshSeconds}. */
  String theme() {
    return theme;
  }

  /** File and line that name the theme. */
  String themePlace() {
    return themePlace;
  }

  Double refreshSeconds() {
    return refreshSeconds;
  }

  /** A line each, with file and line. */
  List<String> problems() {
    return problems;
  }

  /** One with everything that can be set, as it is if nothing is. */
  static String example() {
    StringBuilder text =
        new StringBuilder(
            """
            # flametop.conf: name = value. It is read from $XDG_CONFIG_HOME/flametop/flametop.conf,
            # or ~/.config/flametop/flametop.conf. Options of the command line come before it.
            # What is not said is as it stands here.

            # The screen takes the mouse; off: the terminal keeps it, to mark text.
            # mouse = on

            # Colours: a theme; docs/themes.md tells which there are, and how to make one.
            # theme = dark

            # Seconds between two pictures, 0.1 to 60; 0.25, over ssh 0.5.
            # refresh = 0.25

            # Nothing but ASCII is drawn.
            # ascii = off

            # Keys, by what they do; none: no key. Names of keys: characters, space, enter, esc, tab,
            # shift-tab, backspace, delete, insert, up, down, left, right, pgup, pgdn, home, end,
            # f1 to f12, ctrl-a to ctrl-z.
            """);
    for (Action action : Action.values()) {
      text.append("# key.").append(action.id()).append(" = ").append(action.keys());
      for (int i = action.id().length() + action.keys().length(); i < 26; i++) {
        text.append(' ');
      }
      text.append("# ").append(action.help()).append('\n');
    }
    return text.toString();
  }
}

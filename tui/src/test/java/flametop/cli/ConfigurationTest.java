package flametop.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.term.UserFiles;
import flametop.view.Action;
import flametop.view.Key;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ConfigurationTest {
  @TempDir private Path folder;

  private static Configuration parse(String... lines) {
    return Configuration.parse("f.conf", String.join("\n", lines));
  }

  private static void refused(String problem, String... lines) {
    assertEquals(List.of(problem), parse(lines).problems());
  }

  @Test
  void parse_everySetting_isTaken() {
    Configuration read =
        parse(
            "# mine",
            "",
            "  mouse = off",
            "ascii=on",
            "theme = light  # at noon",
            "refresh = 0.5",
            "key.freeze = f f5",
            "key.search = #");
    assertEquals(List.of(), read.problems());
    assertFalse(read.mouse());
    assertTrue(read.ascii());
    assertEquals("light", read.theme());
    assertEquals(0.5, read.refreshSeconds());
    assertEquals(List.of(Key.of('f'), Key.function(5)), read.keymap().keys(Action.FREEZE));
    assertEquals(List.of(Key.of('#')), read.keymap().keys(Action.SEARCH));
  }

  @Test
  void parse_theExample_setsWhatIsSetAnyway() {
    String said = Configuration.example();
    assertEquals(List.of(), Configuration.parse("f.conf", said).problems());
    String all = said.replaceAll("(?m)^# ([a-z.-]+ = )", "$1").replaceAll("(?m) +# .*$", "");
    Configuration read = Configuration.parse("f.conf", all);
    assertEquals(List.of(), read.problems());
    for (Action action : Action.values()) {
      assertTrue(said.contains("# key." + action.id() + " = "), action.id());
      assertEquals(
          flametop.view.Keymap.DEFAULT.keys(action), read.keymap().keys(action), action.id());
    }
    assertTrue(read.mouse());
    assertEquals("dark", read.theme());
  }

  @Test
  void parse_wrongLines_areNamedAndTheOthersHold() {
    Configuration read =
        parse("mouse = maybe", "colour = red", "nothing", "refresh = 0", "ascii = on");
    assertTrue(read.mouse());
    assertTrue(read.ascii());
    assertNull(read.refreshSeconds());
    assertEquals(
        List.of(
            "f.conf:1: mouse: 'maybe' is neither on nor off",
            "f.conf:2: 'colour' is no setting; flametop --print-config shows those that there are",
            "f.conf:3: no name = value: 'nothing'",
            "f.conf:4: refresh: '0' is no number from 0.1 to 60"),
        read.problems());
  }

  @Test
  void parse_keysThatAreNone_areNamed() {
    refused(
        "f.conf:1: 'fly' is nothing that a key can do; flametop --print-config lists all of it",
        "key.fly = f");
    refused("f.conf:1: key.freeze: 'hyper-x' is no key", "key.freeze = hyper-x");
    refused("f.conf:2: key.freeze: ctrl-c always quits", "", "key.freeze = ctrl-c");
    refused(
        "f.conf:1: key.freeze: ctrl-i is what a terminal sends for tab, enter or backspace: give that",
        "key.freeze = ctrl-i");
  }

  @Test
  void parse_aKeyThatIsTaken_isNamedWithTheOtherAndDoesNotHold() {
    Configuration read = parse("key.root = e", "key.zoom = x");
    assertEquals(
        List.of(
            "f.conf:1: key.root: e is key.export in the graph already; give that another key too"),
        read.problems());
    assertEquals(List.of(Key.of('0')), read.keymap().keys(Action.ROOT));
    assertEquals(List.of(Key.of('x')), read.keymap().keys(Action.ZOOM));
  }

  @Test
  void parse_twoLinesThatTakeOneKey_theLaterDoesNotHold() {
    Configuration read = parse("key.root = f4", "key.export = f4");
    assertEquals(1, read.problems().size());
    assertTrue(read.problems().get(0).startsWith("f.conf:2: key.export: f4 is key.root"));
    assertEquals(List.of(Key.function(4)), read.keymap().keys(Action.ROOT));
  }

  @Test
  void parse_keysSwapped_isNoConflict() {
    Configuration read = parse("key.root = e", "key.export = 0");
    assertEquals(List.of(), read.problems());
    assertEquals(List.of(Key.of('0')), read.keymap().keys(Action.EXPORT));
  }

  @Test
  void parse_none_takesTheKeysAway() {
    assertEquals(List.of(), parse("key.flip = none").keymap().keys(Action.FLIP));
    assertEquals(List.of(Key.CTRL_C), parse("key.quit = none").keymap().keys(Action.QUIT));
  }

  @Test
  void parse_hostileText_isShownClean() {
    String problem = parse("a\033]52;c;x\007 = \u009b2J").problems().get(0);
    assertTrue(problem.chars().noneMatch(Character::isISOControl), problem);
    assertTrue(parse("x".repeat(5_000)).problems().get(0).length() < 200);
  }

  @Test
  void read_xdgOrHome_findsTheFile() throws Exception {
    Path file = Files.createDirectories(folder.resolve("c/flametop")).resolve("flametop.conf");
    Files.writeString(file, "mouse = off\nx\n");
    Configuration read =
        Configuration.read(UserFiles.of(Map.of("XDG_CONFIG_HOME", folder.resolve("c") + "")));
    assertFalse(read.mouse());
    assertEquals(List.of("flametop.conf:2: no name = value: 'x'"), read.problems());
    assertEquals(
        folder.resolve(".config/flametop/flametop.conf"),
        UserFiles.of(Map.of("HOME", folder.toString(), "XDG_CONFIG_HOME", "not/absolute"))
            .path("flametop.conf"));
    assertTrue(
        Configuration.read(UserFiles.of(Map.of("HOME", folder.toString()))).problems().isEmpty());
    assertTrue(Configuration.read(UserFiles.of(Map.of())).mouse());
  }

  @Test
  void read_tooLongOrNoFile_isNamedAndNothingOfItIsUsed() throws Exception {
    Path file = Files.createDirectories(folder.resolve("flametop")).resolve("flametop.conf");
    Files.writeString(file, "mouse = off\n" + "#".repeat(70_000));
    Map<String, String> environment = Map.of("XDG_CONFIG_HOME", folder.toString());
    Configuration read = Configuration.read(UserFiles.of(environment));
    assertTrue(read.mouse());
    assertTrue(read.problems().get(0).contains("larger than 64 KiB"));
    Files.delete(file);
    Files.createDirectory(file);
    assertTrue(
        Configuration.read(UserFiles.of(environment))
            .problems()
            .get(0)
            .contains("not a regular file"));
  }

  @Test
  void history_added_isThereForTheNextScreen() throws Exception {
    Map<String, String> environment = Map.of("HOME", folder.toString());
    HistoryFile history = HistoryFile.of(environment);
    assertEquals(List.of(), history.texts());
    for (String text : List.of("first", "second", "first")) {
      history.add(text);
    }
    assertEquals(List.of("first", "second"), HistoryFile.of(environment).texts());
    for (int i = 0; i < 150; i++) {
      history.add("search " + i);
    }
    assertEquals(100, history.texts().size());
    assertEquals("search 149", history.texts().get(0));
    Path file = folder.resolve(".local/state/flametop/searches");
    Files.write(file, new byte[] {'a', 27, ']', (byte) 0xff, '\n'});
    assertTrue(history.texts().get(0).chars().noneMatch(Character::isISOControl));
  }

  @Test
  void history_withoutAHome_isNone() {
    HistoryFile history = HistoryFile.of(Map.of());
    history.add("x");
    assertEquals(List.of(), history.texts());
  }
}

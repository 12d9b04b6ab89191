package flametop.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.cli.settings.Settings;
import flametop.profile.answer.StateSet;
import flametop.term.SearchHistory;
import flametop.term.UserFiles;
import flametop.view.base.Action;
import flametop.view.base.Key;
import flametop.view.state.Keymap;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SettingsTest {
  @TempDir private Path folder;

  private Settings read(Map<String, String> environment) {
    return new Settings(UserFiles.of(environment));
  }

  private Settings parse(String... lines) throws IOException {
    Path file = Files.createDirectories(folder.resolve("flametop")).resolve("flametop.conf");
    Files.writeString(file, String.join("\n", lines));
    return read(Map.of("XDG_CONFIG_HOME", folder.toString()));
  }

  private static boolean flag(Settings settings, String option) {
    return settings.value(option, new Settings.YesNo());
  }

  private void refused(String problem, String... lines) throws IOException {
    assertEquals(List.of(problem), parse(lines).problems());
  }

  @Test
  void read_everySetting_isTaken() throws Exception {
    Settings read =
        parse(
            "# mine",
            "",
            "  mouse = off",
            "ascii=yes",
            "theme = light  # at noon",
            "refresh = 0.5",
            "key.freeze = v f5",
            "key.search = #");
    assertFalse(flag(read, "mouse"));
    assertTrue(flag(read, "ascii"));
    assertEquals("light", read.value("theme", text -> text));
    assertEquals("flametop.conf:5", read.place("theme"));
    assertEquals(0.5, read.value("refresh", new ScreenCommand.Seconds()));
    assertEquals(List.of(Key.of('v'), Key.function(5)), read.keymap().keys(Action.FREEZE));
    assertEquals(List.of(Key.of('#')), read.keymap().keys(Action.SEARCH));
    assertEquals(List.of(), read.problems());
  }

  @Test
  void read_theExample_setsWhatIsSetAnyway() throws Exception {
    String said = Settings.example();
    assertEquals(List.of(), parse(said).problems());
    Settings read = parse(said.replaceAll("(?m)^# ([a-z.-]+ = )", "$1"));
    for (Action action : Action.values()) {
      assertTrue(said.contains("# key." + action.id() + " = "), action.id());
      assertEquals(Keymap.DEFAULT.keys(action), read.keymap().keys(action), action.id());
    }
    assertTrue(flag(read, "mouse"));
    assertFalse(flag(read, "ascii"));
    assertEquals("dark", read.value("theme", text -> text));
    assertEquals(64, read.value("history", new ScreenCommand.Mebibytes()));
    assertEquals(0.25, read.value("refresh", new ScreenCommand.Seconds()));
    assertEquals(StateSet.BUSY, read.value("states", new StatesOptions.States()));
    assertEquals(List.of(), read.problems());
  }

  @Test
  void read_wrongLines_areNamedAndTheOthersHold() throws Exception {
    Settings read = parse("mouse = maybe", "colour = red", "nothing", "refresh = 0", "ascii = on");
    assertNull(read.value("mouse", new Settings.YesNo()));
    assertTrue(flag(read, "ascii"));
    assertNull(read.value("refresh", new ScreenCommand.Seconds()));
    List<String> problems = read.problems();
    assertEquals(4, problems.size(), problems.toString());
    assertTrue(problems.get(0).startsWith("flametop.conf:2: no such setting: colour; there are"));
    assertEquals("flametop.conf:3: no '='; a line is 'theme = light'", problems.get(1));
    assertEquals("flametop.conf:1: mouse: 'maybe' is neither yes nor no", problems.get(2));
    assertEquals("flametop.conf:4: refresh: '0' is no number from 0.1 to 60", problems.get(3));
  }

  @Test
  void parse_keysThatAreNone_areNamed() throws Exception {
    refused(
        "flametop.conf:1: 'fly' is nothing that a key can do; flametop --print-config lists all of it",
        "key.fly = f");
    refused("flametop.conf:1: key.freeze: 'hyper-x' is no key", "key.freeze = hyper-x");
    refused("flametop.conf:2: key.freeze: ctrl-c always quits", "", "key.freeze = ctrl-c");
    refused(
        "flametop.conf:1: key.freeze: ctrl-i is what a terminal sends for tab, enter or backspace: give that",
        "key.freeze = ctrl-i");
  }

  @Test
  void parse_aKeyOfADefault_isTakenFromIt() throws Exception {
    Settings read = parse("key.root = e", "key.zoom = v");
    assertEquals(List.of(), read.problems());
    assertEquals(List.of(Key.of('e')), read.keymap().keys(Action.ROOT));
    assertEquals(List.of(), read.keymap().keys(Action.EXPORT));
  }

  @Test
  void parse_twoLinesThatTakeOneKey_theLaterDoesNotHold() throws Exception {
    Settings read = parse("key.root = f4", "key.export = 0 f4", "key.zoom = v");
    assertEquals(
        List.of(
            "flametop.conf:2: key.export: f4 is key.root in the graph already; give that another key too"),
        read.problems());
    assertEquals(List.of(Key.function(4)), read.keymap().keys(Action.ROOT));
    assertEquals(Keymap.DEFAULT.keys(Action.EXPORT), read.keymap().keys(Action.EXPORT));
    assertEquals(List.of(Key.of('v')), read.keymap().keys(Action.ZOOM));
  }

  @Test
  void parse_keysSwapped_isNoConflict() throws Exception {
    Settings read = parse("key.root = e", "key.export = 0");
    assertEquals(List.of(), read.problems());
    assertEquals(List.of(Key.of('0')), read.keymap().keys(Action.EXPORT));
  }

  @Test
  void parse_none_takesTheKeysAway() throws Exception {
    assertEquals(List.of(), parse("key.flip = none").keymap().keys(Action.FLIP));
    assertEquals(List.of(Key.CTRL_C), parse("key.quit = none").keymap().keys(Action.QUIT));
  }

  @Test
  void read_hostileText_isShownClean() throws Exception {
    String problem = parse("a\033]52;c;x\007 = \u009b2J").problems().get(0);
    assertTrue(problem.chars().noneMatch(Character::isISOControl), problem);
    assertTrue(parse("key." + "x".repeat(5_000) + " = y").problems().get(0).length() < 200);
  }

  @Test
  void read_noFile_setsNothing() {
    Settings read = read(Map.of("HOME", folder.toString()));
    assertEquals(List.of(), read.problems());
    assertNull(read.value("mouse", new Settings.YesNo()));
    assertEquals(List.of(), read(Map.of()).problems());
  }

  @Test
  void read_tooLongOrNoFile_isNamedAndNothingOfItIsUsed() throws Exception {
    assertTrue(
        parse("mouse = off", "#".repeat(70_000)).problems().get(0).contains("larger than 64 KiB"));
    Path file = folder.resolve("flametop/flametop.conf");
    Files.delete(file);
    Files.createDirectory(file);
    Settings read = read(Map.of("XDG_CONFIG_HOME", folder.toString()));
    assertTrue(read.problems().get(0).contains("not a regular file"));
  }

  @Test
  void read_linkToNothingToItselfOrToAFileWithoutEnd_isNamedOrEmpty() throws Exception {
    Path file = Files.createDirectories(folder.resolve("flametop")).resolve("flametop.conf");
    for (Path to : new Path[] {folder.resolve("none"), file}) {
      Files.createSymbolicLink(file, to);
      assertEquals(
          List.of(file + ": cannot be read: not a regular file"),
          read(Map.of("XDG_CONFIG_HOME", folder.toString())).problems());
      Files.delete(file);
    }
    // It says that it is a regular file of no bytes, and who reads it waits for the kernel.
    Files.createSymbolicLink(file, Path.of("/proc/kmsg"));
    assertEquals(List.of(), read(Map.of("XDG_CONFIG_HOME", folder.toString())).problems());
    Files.delete(file);
  }

  @Test
  void history_added_isThereForTheNextScreen() throws Exception {
    Map<String, String> environment = Map.of("HOME", folder.toString());
    SearchHistory history = SearchHistory.of(environment);
    assertEquals(List.of(), history.texts());
    for (String text : List.of("first", "second", "first")) {
      history.add(text);
    }
    assertEquals(List.of("first", "second"), SearchHistory.of(environment).texts());
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
    SearchHistory history = SearchHistory.of(Map.of());
    history.add("x");
    assertEquals(List.of(), history.texts());
  }
}

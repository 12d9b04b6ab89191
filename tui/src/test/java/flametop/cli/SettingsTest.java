package flametop.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.term.UserFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SettingsTest {
  @TempDir private Path home;

  private Settings settings(String text) throws IOException {
    Path folder = Files.createDirectories(home.resolve("flametop"));
    Files.writeString(folder.resolve("config"), text);
    return new Settings(UserFiles.of(Map.of("XDG_CONFIG_HOME", home.toString())));
  }

  @Test
  void value_lines_areThoseOfTheFile() throws Exception {
    Settings settings = settings("# mine\ntheme = fjord\n\nascii=yes\nrefresh = 0.5\n");
    assertEquals("fjord", settings.value("theme", new Settings.Text()));
    assertEquals(true, settings.value("ascii", new Settings.YesNo()));
    assertEquals(0.5, settings.value("refresh", new ScreenCommand.Seconds()));
    assertNull(settings.value("history", new ScreenCommand.Mebibytes()));
    assertTrue(settings.place("theme").endsWith("flametop/config:2"));
    assertEquals("", settings.notice());
  }

  @Test
  void value_badValue_isNoneAndTheNoticeNamesTheLine() throws Exception {
    Settings settings = settings("theme = dark\nrefresh = often\n");
    assertNull(settings.value("refresh", new ScreenCommand.Seconds()));
    assertTrue(
        settings.notice().endsWith("config:2: refresh: 'often' is no number from 0.1 to 60"),
        settings.notice());
    assertEquals("dark", settings.value("theme", new Settings.Text()));
  }

  @Test
  void notice_unknownSetting_namesTheLineAndThoseThereAre() throws Exception {
    Settings settings = settings("\ncolor = red\n");
    assertTrue(
        settings
            .notice()
            .endsWith(
                "config:2: no such setting: color; there are theme, ascii, refresh, states, history"),
        settings.notice());
  }

  @Test
  void notice_hostileLine_isClean() throws Exception {
    String notice = settings("\u001b]0;x\u0007\n").notice();
    assertTrue(notice.contains("config:1: no '='") && notice.indexOf(27) < 0, notice);
  }

  @Test
  void open_noFile_hasNothing() {
    Settings settings = new Settings(UserFiles.of(Map.of("XDG_CONFIG_HOME", home.toString())));
    assertNull(settings.value("theme", new Settings.Text()));
    assertEquals("", settings.notice());
  }
}

package flametop.term;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.view.base.Paint;
import flametop.view.base.Role;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ThemesTest {
  private static final int USER = Paint.of(Role.USER);

  @TempDir private Path home;
  private Path folder;
  private Themes themes;

  @BeforeEach
  void open() throws Exception {
    folder = Files.createDirectories(home.resolve("flametop/themes"));
    UserFiles user = UserFiles.of(Map.of("XDG_CONFIG_HOME", home.toString()));
    themes = new Themes(ThemeTest.THEMES, user);
  }

  private void write(String name, String text) throws IOException {
    Files.writeString(folder.resolve(name + ".theme"), text);
  }

  @Test
  void load_themeOfTheUser_isFoundAndListed() throws Exception {
    write("mine", "like = light\nuser = #123456\n");
    assertEquals(0x123456, themes.load("mine", "").theme().background(USER));
    assertTrue(themes.names().contains("mine") && themes.names().contains("fjord"));
  }

  @Test
  void load_sameNameAsAShippedOne_winsAndMayBeLikeIt() throws Exception {
    write("dark", "like = dark\nuser = #123456\n");
    Themes.Loaded loaded = themes.load("dark", "");
    assertEquals("", loaded.notice());
    assertEquals(0x123456, loaded.theme().background(USER));
    assertEquals(
        ThemeTest.shipped("dark").background(Paint.of(Role.GROUND)),
        loaded.theme().background(Paint.of(Role.GROUND)));
  }

  @Test
  void load_fileInError_isTheDefaultWithTheLine() throws Exception {
    write("mine", "like = dark\n\nuser = octarine\n");
    Themes.Loaded loaded = themes.load("mine", "");
    assertTrue(loaded.notice().contains("mine.theme:3: not a colour: octarine"), loaded.notice());
    assertEquals(ThemeTest.shipped("dark").background(USER), loaded.theme().background(USER));
  }

  @Test
  void load_ownDefaultInError_isTheShippedOne() throws Exception {
    write("dark", "nonsense\n");
    Themes.Loaded loaded = themes.load("dark", "");
    assertTrue(loaded.notice().contains("dark.theme:1: no '='"), loaded.notice());
    assertEquals(ThemeTest.shipped("dark").background(USER), loaded.theme().background(USER));
  }

  @Test
  void load_circle_isAnErrorOfTheFile() throws Exception {
    write("one", "like = two\n");
    write("two", "like = one\n");
    assertTrue(themes.load("one", "").notice().contains("circle"));
  }

  @Test
  void load_folderOrBinaryFile_isAnErrorOfTheFile() throws Exception {
    Files.createDirectory(folder.resolve("a.theme"));
    Files.write(folder.resolve("b.theme"), new byte[] {(byte) 0xff, 27, 0, 10});
    assertTrue(themes.load("a", "").notice().contains("a.theme: cannot be read"));
    String notice = themes.load("b", "").notice();
    assertTrue(notice.contains("b.theme:1: no '='") && notice.indexOf(27) < 0, notice);
  }

  @Test
  void load_unknownName_listsThoseThereAre() {
    for (String name : new String[] {"octarine", "../dark", "", "Dark"}) {
      ThemeException e = assertThrows(ThemeException.class, () -> themes.load(name, ""));
      assertTrue(e.getMessage().endsWith(String.join(", ", themes.names())), e.getMessage());
    }
  }

  @Test
  void load_unknownNameOfTheSettings_isTheDefaultWithTheirLine() throws Exception {
    String notice = themes.load("octarine", "/etc/x:3").notice();
    assertTrue(notice.contains("/etc/x:3: no theme 'octarine'"), notice);
  }

  @Test
  void userFiles_underSudo_areThoseOfTheCaller() throws Exception {
    Path passwd = home.resolve("passwd");
    Files.writeString(passwd, "root:x:0:0::/root:/bin/sh\nann:x:1000:1000::/home/ann:/bin/sh\n");
    Map<String, String> sudo = Map.of("HOME", "/root", "SUDO_UID", "1000");
    assertEquals(
        Path.of("/home/ann/.config/flametop/config"), UserFiles.of(sudo, passwd).path("config"));
    assertEquals(
        Path.of("/root/.config/flametop/config"),
        UserFiles.of(Map.of("HOME", "/root"), passwd).path("config"));
    assertNull(UserFiles.of(Map.of("XDG_CONFIG_HOME", "relative"), passwd).path("config"));
  }

  @Test
  void read_underSudoAFileOfAnother_isRefused() throws Exception {
    Path passwd = home.resolve("passwd");
    Files.writeString(passwd, "ann:x:54321:54321::" + home + ":/bin/sh\n");
    UserFiles user = UserFiles.of(Map.of("SUDO_UID", "54321"), passwd);
    Path file = home.resolve("secret");
    Files.writeString(file, "secret");
    IOException e = assertThrows(IOException.class, () -> user.read(file));
    assertEquals("not a file of user 54321", e.getMessage());
  }
}

package flametop.export;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OutputFileTest {
  @TempDir private Path folder;

  private static void put(OutputFile file, String text) throws IOException {
    file.stream().write(text.getBytes(StandardCharsets.UTF_8));
  }

  private List<String> names() throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.map(f -> f.getFileName().toString()).sorted().toList();
    }
  }

  @AfterEach
  void nothingHalfWrittenIsLeft() throws IOException {
    assertTrue(names().stream().noneMatch(name -> name.endsWith(".part")), "no part is left");
  }

  @Test
  void commit_newFile_wholeAndPrivate() throws IOException {
    Path path = folder.resolve("out");
    try (OutputFile file = OutputFile.create(path, false)) {
      put(file, "text");
      assertFalse(Files.exists(path), "not before it is whole");
      assertEquals(4, file.commit());
    }
    assertEquals("text", Files.readString(path));
    assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(path)));
  }

  @Test
  void create_existing_keptWithTheRemedy() throws IOException {
    Path path = Files.writeString(folder.resolve("out"), "old");
    ExportException e = assertThrows(ExportException.class, () -> OutputFile.create(path, false));
    assertEquals(path + " exists and was kept; --force replaces it", e.getMessage());
    assertEquals("old", Files.readString(path));
  }

  @Test
  void commit_existingByOrder_replaced() throws IOException {
    Path path = Files.writeString(folder.resolve("out"), "old");
    try (OutputFile file = OutputFile.create(path, true)) {
      put(file, "new");
      assertEquals("old", Files.readString(path), "until it is whole");
      file.commit();
    }
    assertEquals("new", Files.readString(path));
  }

  @Test
  void commit_cameMeanwhile_kept() throws IOException {
    Path path = folder.resolve("out");
    try (OutputFile file = OutputFile.create(path, false)) {
      put(file, "new");
      Files.writeString(path, "theirs");
      ExportException e = assertThrows(ExportException.class, file::commit);
      assertTrue(e.getMessage().contains("exists and was kept"), e::getMessage);
    }
    assertEquals("theirs", Files.readString(path));
  }

  @Test
  void create_link_neverFollowed() throws IOException {
    Path victim = Files.writeString(folder.resolve("victim"), "precious");
    Path link = Files.createSymbolicLink(folder.resolve("out"), victim);
    assertThrows(ExportException.class, () -> OutputFile.create(link, false));
    assertThrows(ExportException.class, () -> OutputFile.create(link, true));
    Path dangling = Files.createSymbolicLink(folder.resolve("dangling"), folder.resolve("nowhere"));
    assertThrows(ExportException.class, () -> OutputFile.create(dangling, false));
    assertEquals("precious", Files.readString(victim));
    assertFalse(Files.exists(folder.resolve("nowhere")));
  }

  @Test
  void write_toNowhere_dropsAllAndLeavesTheDevice() throws Exception {
    try (OutputFile file = OutputFile.create(Path.of("/dev/null"), false)) {
      assertEquals(3, file.write(out -> out.write(new byte[3])));
    }
    assertFalse(Files.isRegularFile(Path.of("/dev/null")));
    assertTrue(Files.exists(Path.of("/dev/null")));
  }

  @Test
  void create_deviceOrFolder_refusedEvenByOrder() {
    assertThrows(ExportException.class, () -> OutputFile.create(Path.of("/dev/zero"), true));
    assertThrows(ExportException.class, () -> OutputFile.create(folder, true));
    assertThrows(ExportException.class, () -> OutputFile.create(Path.of("/"), true));
  }

  @Test
  void create_folderMissing_saysSo() {
    ExportException e =
        assertThrows(ExportException.class, () -> OutputFile.create(folder.resolve("a/b"), false));
    assertTrue(e.getMessage().endsWith("does not exist; make it first (mkdir -p)"), e::getMessage);
  }

  @Test
  void create_folderThatTakesNoFiles_saysSo() {
    ExportException e =
        assertThrows(
            ExportException.class, () -> OutputFile.create(Path.of("/proc/x"), false).close());
    assertEquals(
        "cannot write /proc/x: no file can be made there; choose another place"
            + " (record: -o; the screen: start it in another folder)",
        e.getMessage());
  }

  @Test
  void create_folderNotWritable_saysSo() {
    // Not even root may make a file there.
    ExportException e =
        assertThrows(
            ExportException.class, () -> OutputFile.create(Path.of("/proc/flametop-out"), false));
    assertTrue(e.getMessage().startsWith("cannot write /proc/flametop-out: "), e::getMessage);
    assertTrue(e.getMessage().contains("another place (record: -o;"), e::getMessage);
  }

  @Test
  void close_notCommitted_nothingLeft() throws IOException {
    try (OutputFile file = OutputFile.create(folder.resolve("out"), false)) {
      put(file, "half");
    }
    assertEquals(List.of(), names());
  }

  @Test
  void cutAt_bytes_restIsGone() throws IOException {
    Path path = folder.resolve("out");
    try (OutputFile file = OutputFile.create(path, false)) {
      put(file, "whole|par");
      file.cutAt(6);
      assertEquals(6, file.commit());
    }
    assertEquals("whole|", Files.readString(path));
  }

  @Test
  void create_underSudo_theInvokingUsers() throws IOException {
    assumeTrue(
        Integer.valueOf(0).equals(Files.getAttribute(Path.of("/proc/self"), "unix:uid")),
        "only root may give files away");
    Path path = folder.resolve("out");
    try (OutputFile file =
        OutputFile.create(
            path,
            false,
            OutputFile.Invoker.ofSudo(Map.of("SUDO_UID", "12345", "SUDO_GID", "23456")))) {
      file.commit();
    }
    assertEquals(12345, Files.getAttribute(path, "unix:uid", LinkOption.NOFOLLOW_LINKS));
    assertEquals(23456, Files.getAttribute(path, "unix:gid", LinkOption.NOFOLLOW_LINKS));
  }

  @Test
  void ofSudo_notANumber_nobody() {
    assertNull(OutputFile.Invoker.ofSudo(Map.of("SUDO_UID", "-1", "SUDO_GID", "0")));
    assertNull(OutputFile.Invoker.ofSudo(Map.of()));
  }

  @Test
  void create_partsOfTheKilled_areRemovedAndThoseInUseStay() throws Exception {
    Path left = Files.createFile(folder.resolve(".flametop-01.part"));
    Path fresh = Files.createFile(folder.resolve(".flametop-02.part"));
    Path other = Files.createFile(folder.resolve("flametop.part.txt"));
    try (OutputFile used = OutputFile.create(folder.resolve("used"), false)) {
      FileTime old = FileTime.from(Instant.now().minusSeconds(3_600));
      for (String name : names()) {
        if (!name.equals(fresh.getFileName().toString())) {
          Files.setLastModifiedTime(folder.resolve(name), old);
        }
      }
      OutputFile.create(folder.resolve("out"), false).close();
      assertFalse(Files.exists(left));
      put(used, "text");
      used.commit();
    }
    assertEquals(List.of(".flametop-02.part", "flametop.part.txt", "used"), names());
    Files.delete(fresh);
    Files.delete(other);
  }
}

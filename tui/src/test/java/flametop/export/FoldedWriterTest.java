package flametop.export;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.profile.answer.FoldedStack;
import flametop.profile.answer.Measure;
import flametop.profile.answer.NodeKind;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FoldedWriterTest {
  private static List<String> lines(StackExport export) throws IOException {
    String text = new String(Exports.bytes(StackFormat.FOLDED, export), StandardCharsets.UTF_8);
    assertTrue(text.endsWith("\n"));
    return List.of(text.split("\n"));
  }

  private static List<String> stacks(FoldedStack... stacks) throws IOException {
    return lines(Exports.of(Measure.SAMPLES, stacks)).stream()
        .filter(line -> !line.startsWith("# "))
        .toList();
  }

  @Test
  void write_kinds_suffixes() throws IOException {
    assertEquals(
        List.of(
            "my_app-12;main thread_7;operator new(unsigned long);f_[j];g_[i];json.loads_[p];[truncated];vfs_read_[k] 3"),
        stacks(
            Exports.stack(
                3,
                "my app-12",
                NodeKind.PROCESS,
                "main thread_7",
                NodeKind.USER,
                "operator new(unsigned long)",
                NodeKind.USER,
                "f",
                NodeKind.JIT,
                "g",
                NodeKind.INLINED,
                "json.loads",
                NodeKind.PYTHON,
                "[truncated]",
                NodeKind.REASON,
                "vfs_read",
                NodeKind.KERNEL)));
  }

  @Test
  void write_separatorsInNames_neverReachTheFile() throws IOException {
    assertEquals(List.of("a:b_c;x y:z 1"), stacks(Exports.stack(1, "a;b c", "x\ny;z")));
  }

  @Test
  void write_emptyName_visible() throws IOException {
    assertEquals(List.of("-;f 1"), stacks(Exports.stack(1, "", "f")));
  }

  @Test
  void write_firstNameLikeAComment_isAStack() throws IOException {
    assertEquals(List.of("_# f 1"), stacks(Exports.stack(1, "# f", NodeKind.USER)));
  }

  @Test
  void write_provenance_isBeforeTheStacksAndEndsInNoNumber() throws IOException {
    List<String> lines =
        lines(Exports.of(Measure.TIME, Exports.stack(5_000, "a", NodeKind.PROCESS)));
    assertEquals("# unit: us", lines.get(0));
    assertEquals("# first frame: comm", lines.get(1));
    assertEquals("# program: flametop 0.0.0;", lines.get(2));
    assertEquals("a 5", lines.get(lines.size() - 1));
    assertEquals(
        Exports.provenance("web-1").lines().size() + 2,
        lines.stream().filter(line -> line.startsWith("# ")).count());
    for (String line : lines.subList(0, lines.size() - 1)) {
      assertFalse(line.matches(".*\\s[0-9]+(\\.[0-9]*)?"), line);
    }
  }

  @Test
  void write_eventsWithoutAStackComeFirst_firstFrameIsStillThatOfTheOthers() throws IOException {
    FoldedStack none = Exports.stack(1, "[not sampled]", NodeKind.REASON);
    StackExport owned = Exports.of(Measure.SAMPLES, none, Exports.stack(2, "a", "f"));
    StackExport bare = Exports.of(Measure.SAMPLES, none, Exports.stack(2, "f", NodeKind.USER));
    assertEquals("# first frame: comm", lines(owned).get(1));
    assertEquals("# first frame: function", lines(bare).get(1));
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void write_hostileNames_oneLineAStackWithItsTotal(long seed) throws IOException {
    StackExport export = Exports.hostile(seed);
    long total = 0;
    int stacks = 0;
    for (String line : lines(export)) {
      if (!line.startsWith("# ")) {
        total += Long.parseLong(line.substring(line.lastIndexOf(' ') + 1));
        FoldedStack stack = Exports.stacks(export).get(stacks++);
        int frames = line.substring(0, line.lastIndexOf(' ')).split(";", -1).length;
        assertEquals(stack.names().length, frames, line);
      }
    }
    assertEquals(Exports.stacks(export).size(), stacks);
    assertEquals(export.total(), total);
  }

  @Test
  void write_fullDevice_fails() throws IOException {
    try (FileOutputStream full = new FileOutputStream("/dev/full")) {
      StackExport export = Exports.of(Measure.SAMPLES, Exports.stack(1, "a", NodeKind.PROCESS));
      IOException e = assertThrows(IOException.class, () -> StackFormat.FOLDED.write(export, full));
      assertEquals("No space left on device", e.getMessage());
    }
  }
}

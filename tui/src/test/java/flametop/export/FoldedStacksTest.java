package flametop.export;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import flametop.profile.FoldedStack;
import flametop.profile.NodeKind;
import java.io.ByteArrayOutputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class FoldedStacksTest {
  private static FoldedStack stack(long value, Object... namesAndKinds) {
    String[] names = new String[namesAndKinds.length / 2];
    NodeKind[] kinds = new NodeKind[names.length];
    for (int i = 0; i < names.length; i++) {
      names[i] = (String) namesAndKinds[2 * i];
      kinds[i] = (NodeKind) namesAndKinds[2 * i + 1];
    }
    return new FoldedStack(names, kinds, value);
  }

  private static String folded(Unit unit, FoldedStack... stacks) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    FoldedStacks.write(out, List.of(stacks), unit);
    return out.toString(StandardCharsets.UTF_8);
  }

  @Test
  void write_kinds_suffixes() throws IOException {
    assertEquals(
        "my_app-12;main thread_7;operator new(unsigned long);f_[j];g_[i];[truncated];vfs_read_[k] 3\n",
        folded(
            Unit.SAMPLES,
            stack(
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
                "[truncated]",
                NodeKind.REASON,
                "vfs_read",
                NodeKind.KERNEL)));
  }

  @Test
  void write_separatorsInNames_neverReachTheFile() throws IOException {
    assertEquals(
        "a:b_c;x y:z 1\n",
        folded(Unit.SAMPLES, stack(1, "a;b c", NodeKind.PROCESS, "x\ny;z", NodeKind.USER)));
  }

  @Test
  void write_emptyName_visible() throws IOException {
    assertEquals(
        "-;f 1\n", folded(Unit.SAMPLES, stack(1, "", NodeKind.PROCESS, "f", NodeKind.USER)));
  }

  @Test
  void write_microseconds_sumIsKept() throws IOException {
    List<FoldedStack> stacks = new ArrayList<>();
    for (int i = 0; i < 1_000; i++) {
      stacks.add(stack(1_499, "c" + i, NodeKind.PROCESS));
    }
    FoldedStacks.Written written = FoldedStacks.write(new ByteArrayOutputStream(), stacks, Unit.US);
    assertEquals(1_499, written.total());
  }

  @Test
  void write_belowOne_noLine() throws IOException {
    assertEquals(
        "b 1\n",
        folded(
            Unit.US,
            stack(400, "a", NodeKind.PROCESS),
            stack(700, "b", NodeKind.PROCESS),
            stack(0, "c", NodeKind.PROCESS)));
  }

  @Test
  void write_fullDevice_fails() throws IOException {
    try (FileOutputStream full = new FileOutputStream("/dev/full")) {
      IOException e =
          assertThrows(
              IOException.class,
              () ->
                  FoldedStacks.write(full, List.of(stack(1, "a", NodeKind.PROCESS)), Unit.SAMPLES));
      assertEquals("No space left on device", e.getMessage());
    }
  }
}

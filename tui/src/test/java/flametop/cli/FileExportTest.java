package flametop.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import flametop.export.StackExport;
import flametop.export.StackFormat;
import flametop.profile.FoldedStack;
import flametop.profile.HeldStacks;
import flametop.profile.NodeKind;
import flametop.profile.Shape;
import flametop.profile.Snapshot;
import flametop.profile.StackFile;
import flametop.profile.StackInput;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Files as they are exported: written while they are walked. */
class FileExportTest {
  private static final int STACKS = 3_000;

  private static StackFile file(InputStream text) {
    return new StackFile(StackInput.of("a", -1, text, () -> 0), 1, 1);
  }

  private static Map<String, Long> stacks(Random random, int count) {
    Map<String, Long> stacks = new LinkedHashMap<>();
    for (int i = 0; i < count; i++) {
      StringBuilder path = new StringBuilder("p" + random.nextInt(3));
      for (int depth = random.nextInt(12); depth > 0; depth--) {
        path.append(';').append((char) ('a' + random.nextInt(9)));
        path.append(random.nextInt(4) == 0 ? "é🔥" : "");
      }
      stacks.merge(path.toString(), 1L + random.nextInt(9), Long::sum);
    }
    return stacks;
  }

  private static String text(Map<String, Long> stacks) {
    StringBuilder text = new StringBuilder();
    stacks.forEach((path, value) -> text.append(path).append(' ').append(value).append('\n'));
    return text.toString();
  }

  /** All of them in a list, and then in order. */
  private static StackExport listed(StackExport as, Map<String, Long> stacks, boolean reversed) {
    List<FoldedStack> list = new ArrayList<>();
    stacks.forEach(
        (path, value) -> {
          List<String> names = new ArrayList<>(List.of(path.split(";")));
          NodeKind[] kinds = new NodeKind[names.size()];
          Arrays.fill(kinds, NodeKind.USER);
          kinds[0] = NodeKind.PROCESS;
          if (reversed) {
            Collections.reverse(names.subList(1, names.size()));
          }
          String[] modules = new String[kinds.length];
          Arrays.fill(modules, "");
          list.add(new FoldedStack(names.toArray(String[]::new), kinds, modules, value, List.of()));
        });
    list.sort(Comparator.comparing(FoldedStack::names, Arrays::compare));
    long total = stacks.values().stream().mapToLong(v -> v).sum();
    return new StackExport(as.provenance(), as.unit(), list, total);
  }

  private static byte[] bytes(StackFormat format, StackExport export) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    long unused = format.write(export, out);
    return out.toByteArray();
  }

  @ParameterizedTest
  @EnumSource(StackFormat.class)
  void export_ofAFile_isByteForByteThatOfAllStacksInAList(StackFormat format) throws Exception {
    Map<String, Long> stacks = stacks(new Random(format.ordinal()), STACKS);
    try (StackFile file = file(new ByteArrayInputStream(text(stacks).getBytes(UTF_8)))) {
      Snapshot.Reading reading = file.whole().get();
      for (boolean reversed : new boolean[] {false, true}) {
        file.shape(reversed ? Shape.of(new Shape.Reverse()) : Shape.PLAIN);
        StackExport export = FileScreen.export(reading, file.held(0).get());
        StackExport listed = listed(export, stacks, reversed);
        assertEquals(listed.total(), export.total());
        assertArrayEquals(bytes(format, listed), bytes(format, export));
      }
    }
  }

  @Test
  void export_whileTheFileIsRead_isThatOfItsMoment() throws Exception {
    Map<String, Long> first = stacks(new Random(11), STACKS);
    Map<String, Long> rest = stacks(new Random(12), STACKS);
    rest.keySet().removeAll(first.keySet());
    PipedOutputStream writer = new PipedOutputStream();
    try (StackFile file = file(new PipedInputStream(writer, 1 << 16))) {
      writer.write(text(first).getBytes(UTF_8));
      writer.flush();
      long all = first.values().stream().mapToLong(v -> v).sum();
      HeldStacks held = file.held(0).get();
      while (held.total() < all) {
        held = file.held(0).get();
      }
      StackExport export = FileScreen.export(file.reading().get(), held);
      String before = new String(bytes(StackFormat.FOLDED, export), UTF_8);
      writer.write(text(rest).getBytes(UTF_8));
      writer.close();
      long unused = file.whole().get().stacks();
      assertEquals(before, new String(bytes(StackFormat.FOLDED, export), UTF_8));
      assertEquals(
          new String(bytes(StackFormat.FOLDED, listed(export, first, false)), UTF_8), before);
    }
  }

  @Test
  void export_ofNamesThatAreCleanedToOne_hasTheirPathOnce() throws Exception {
    byte[] text = "p;x\001;a 1\np;x\002;a 2\np;x\003;b_[k] 3\np;x\001;b 4\n".getBytes(UTF_8);
    try (StackFile file = file(new ByteArrayInputStream(text))) {
      StackExport export = FileScreen.export(file.whole().get(), file.held(0).get());
      List<String> lines =
          new String(bytes(StackFormat.FOLDED, export), UTF_8)
              .lines()
              .filter(line -> !line.startsWith("# "))
              .toList();
      assertEquals(List.of("p;x\uFFFD;a 3", "p;x\uFFFD;b 4", "p;x\uFFFD;b_[k] 3"), lines);
    }
  }
}

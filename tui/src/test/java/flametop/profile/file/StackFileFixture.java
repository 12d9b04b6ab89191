package flametop.profile.file;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;

import flametop.profile.answer.GraphQuery;
import flametop.profile.answer.GraphSlice;
import flametop.profile.answer.Snapshot;
import flametop.profile.answer.StateSet;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.math.MathContext;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Pattern;
import org.junit.jupiter.api.io.TempDir;

/** Files of stacks in a folder of the test, and what is drawn of them. */
abstract class StackFileFixture {
  @TempDir Path folder;

  Path file(String text) throws IOException {
    return Files.write(folder.resolve("a.folded"), text.getBytes(UTF_8));
  }

  /** A pipe that nobody has opened. */
  Path pipe() throws Exception {
    Path pipe = folder.resolve("pipe");
    assertEquals(0, new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor());
    return pipe;
  }

  /** The end of a pipe into which this text was written, as soon as somebody reads. */
  static CompletableFuture<OutputStream> written(Path pipe, String text) {
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            OutputStream out = Files.newOutputStream(pipe);
            out.write(text.getBytes(UTF_8));
            return out;
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        });
  }

  static GraphQuery query(long zoom, long selected, int levels, String search) {
    return new GraphQuery(
        StateSet.ALL,
        zoom,
        selected,
        1_000_000,
        levels,
        search == null ? null : Pattern.compile(search));
  }

  static Snapshot read(StackFile file) throws Exception {
    file.whole().get();
    return file.snapshot(query(GraphQuery.ROOT, GraphQuery.ROOT, 100, null)).get();
  }

  Snapshot read(Path path) throws Exception {
    try (StackFile file = new StackFile(StackInput.open(path), 1, 1, StackFile.Choice.NONE)) {
      return read(file);
    }
  }

  Snapshot read(String text) throws Exception {
    return read(file(text));
  }

  /** {@code name weight} of each node, in pre-order, indented by its depth. */
  static List<String> drawn(Snapshot of) {
    GraphSlice slice = of.graph();
    List<String> lines = new ArrayList<>();
    for (int i = 0; i < slice.size(); i++) {
      int depth = 0;
      for (int p = slice.parent()[i]; p >= 0; p = slice.parent()[p]) {
        depth++;
      }
      String before =
          slice.baseline() == null
              ? ""
              : Math.round((double) slice.baseline()[i] / of.measure().parts()) + " → ";
      String now =
          new BigDecimal(slice.weight()[i])
              .divide(new BigDecimal(of.measure().parts()), MathContext.DECIMAL64)
              .stripTrailingZeros()
              .toPlainString();
      lines.add(" ".repeat(depth) + slice.name()[i] + " " + before + now);
    }
    return lines;
  }

  static byte[] joined(byte[]... parts) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (byte[] part : parts) {
      all.writeBytes(part);
    }
    return all.toByteArray();
  }

  static String random(int seed, int lines) {
    Random random = new Random(seed);
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < lines; i++) {
      text.append("main;f").append(random.nextInt(1_000)).append(" 1\n");
    }
    return text.toString();
  }

  Snapshot read(byte[] bytes) throws Exception {
    return read(Files.write(folder.resolve("a.packed"), bytes));
  }
}

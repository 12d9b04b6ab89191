package flametop.profile.file;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;

import flametop.profile.answer.FoldedStack;
import flametop.profile.answer.Function;
import flametop.profile.answer.GraphQuery;
import flametop.profile.answer.GraphSlice;
import flametop.profile.answer.Snapshot;
import flametop.profile.answer.StateSet;
import flametop.profile.answer.TopQuery;
import flametop.profile.answer.TopReport;
import io.airlift.compress.bzip2.BZip2HadoopStreams;
import io.airlift.compress.zstd.ZstdOutputStream;
import java.io.ByteArrayInputStream;
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
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Pattern;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.io.TempDir;
import org.tukaani.xz.LZMA2Options;
import org.tukaani.xz.XZOutputStream;

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

  /** A file that is being read. */
  static StackFile open(Path path, StackFile.Choice choice) throws IOException {
    return new StackFile(StackInput.open(path), 1, 1, choice);
  }

  static StackFile open(Path path) throws IOException {
    return open(path, StackFile.Choice.NONE);
  }

  /** A file with this text, which is read to its end. */
  StackFile open(String text, StackFile.Choice choice) throws Exception {
    StackFile file = open(file(text), choice);
    file.whole().get();
    return file;
  }

  StackFile open(String text) throws Exception {
    return open(text, StackFile.Choice.NONE);
  }

  /** Two files with these texts, which are read to their ends and compared. */
  StackFile compared(CharSequence before, CharSequence now, StackFile.Choice choice)
      throws Exception {
    StackFile file =
        StackFile.compared(
            StackInput.open(Files.writeString(folder.resolve("before"), before)),
            StackInput.open(Files.writeString(folder.resolve("now"), now)),
            choice);
    file.whole().get();
    return file;
  }

  static GraphQuery query(long zoom, long selected) {
    return query(zoom, selected, 100, null);
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
    return file.snapshot(query(GraphQuery.ROOT, GraphQuery.ROOT)).get();
  }

  Snapshot read(Path path) throws Exception {
    try (StackFile file = open(path)) {
      return read(file);
    }
  }

  Snapshot read(String text) throws Exception {
    return read(file(text));
  }

  static TopReport top(StackFile file, TopQuery.Order order, int rows, Function to)
      throws Exception {
    return (TopReport) file.page(new TopQuery(StateSet.ALL, order, rows, to, null)).get();
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
      String now = inUnits(slice.weight()[i], of);
      lines.add(" ".repeat(depth) + slice.name()[i] + " " + before + now);
    }
    return lines;
  }

  /** How a file may be packed. */
  enum Packed {
    GZIP,
    ZSTD,
    XZ,
    BZIP2;

    private OutputStream to(OutputStream out) throws IOException {
      return switch (this) {
        case GZIP -> new GZIPOutputStream(out);
        case ZSTD -> new ZstdOutputStream(out);
        case XZ -> new XZOutputStream(out, new LZMA2Options(1));
        case BZIP2 -> new BZip2HadoopStreams().createOutputStream(out);
      };
    }

    byte[] of(String text) throws IOException {
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      try (OutputStream packing = to(out)) {
        packing.write(text.getBytes(UTF_8));
      }
      return out.toByteArray();
    }
  }

  /** A profile as it was read. */
  record Profile(Map<String, String> stacks, Snapshot snapshot, List<FoldedStack> held) {
    String unit() {
      return snapshot.measure().unit();
    }

    List<String> notices() {
      return snapshot.notices();
    }

    /** Sum of the values of all stacks, in the unit. */
    double total() {
      return (double) snapshot.total() / snapshot.measure().parts();
    }
  }

  static StackInput input(byte[] bytes) {
    return StackInput.of("in", bytes.length, new ByteArrayInputStream(bytes));
  }

  static Profile profile(StackInput input, String sampleType) throws Exception {
    try (StackFile file = new StackFile(input, 1, 1, new StackFile.Choice(null, sampleType))) {
      Snapshot snapshot = read(file);
      Map<String, String> stacks = new TreeMap<>();
      List<FoldedStack> held = new ArrayList<>();
      for (FoldedStack stack : file.held(0).get()) {
        held.add(stack);
        stacks.put(String.join(";", stack.names()), inUnits(stack.value(), snapshot));
      }
      return new Profile(stacks, snapshot, held);
    }
  }

  static Profile profile(byte[] bytes, String sampleType) throws Exception {
    return profile(input(bytes), sampleType);
  }

  static Profile profile(String text) throws Exception {
    return profile(text.getBytes(UTF_8), "");
  }

  /** A profile in JSON, written with {@code '} for each {@code "}. */
  static Profile json(String text) throws Exception {
    return profile(quoted(text), "");
  }

  static byte[] quoted(String text) {
    return text.replace('\'', '"').getBytes(UTF_8);
  }

  private static String inUnits(long amount, Snapshot of) {
    return new BigDecimal(amount)
        .divide(new BigDecimal(of.measure().parts()), MathContext.DECIMAL64)
        .stripTrailingZeros()
        .toPlainString();
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

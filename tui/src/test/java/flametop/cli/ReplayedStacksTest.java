package flametop.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.profile.answer.GraphQuery;
import flametop.profile.answer.Snapshot;
import flametop.profile.answer.StateSet;
import flametop.profile.file.StackFile;
import flametop.profile.file.StackInput;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** Recorded streams as folded stacks. */
class ReplayedStacksTest {
  private static final Path STREAM =
      Path.of(System.getProperty("basedir", "."), "../sampler-native/stream/golden/v1.flametop");

  @TempDir private Path folder;

  private static Snapshot read(StackInput input) throws Exception {
    try (StackFile file = new StackFile(input, 1, 1, StackFile.Choice.NONE)) {
      file.whole().get();
      return file.snapshot(new GraphQuery(StateSet.ALL, 0, 0, 1_000_000, 700, null)).get();
    }
  }

  @Test
  void open_stream_hasTheStacksThatRecordMakesOfIt() throws Exception {
    Path folded = folder.resolve("out.folded");
    CommandLine line = Main.commandLine(new Interruption(), List.of());
    line.setErr(new PrintWriter(new StringWriter()));
    line.execute("record", "--replay", STREAM.toString(), "-o", folded.toString());
    Snapshot expected = read(StackInput.open(folded));
    Snapshot replayed = read(ReplayedStacks.open(STREAM));
    assertTrue(expected.total() > 0);
    assertEquals("us", replayed.reading().measure().unit());
    assertEquals(expected.reading().stacks(), replayed.reading().stacks());
    assertEquals(
        Arrays.toString(expected.graph().name()), Arrays.toString(replayed.graph().name()));
    assertEquals(
        Arrays.toString(expected.graph().weight()), Arrays.toString(replayed.graph().weight()));
    assertEquals(Files.size(STREAM), replayed.reading().size());
    assertTrue(replayed.reading().bytes() > 0);
  }

  @Test
  void open_damagedStream_saysThatItIsNotAll() throws Exception {
    byte[] whole = Files.readAllBytes(STREAM);
    Path damaged = folder.resolve("damaged.flametop");
    Files.write(damaged, Arrays.copyOf(whole, whole.length - 3));
    List<String> notices = read(ReplayedStacks.open(damaged)).notices();
    assertTrue(notices.toString().contains("read up to where it failed"), notices.toString());
  }

  @Test
  void open_foldedStacks_readsThem() throws Exception {
    Path folded = Files.writeString(folder.resolve("a.folded"), "main;f 3\n");
    assertEquals(3, read(ReplayedStacks.open(folded)).total());
  }
}

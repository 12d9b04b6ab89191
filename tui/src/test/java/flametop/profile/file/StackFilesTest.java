package flametop.profile.file;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import flametop.profile.answer.Capability;
import flametop.profile.answer.GraphQuery;
import flametop.profile.answer.GraphSlice;
import flametop.profile.answer.ProcessRow;
import flametop.profile.answer.RootOrder;
import flametop.profile.answer.Shape;
import flametop.profile.answer.Snapshot;
import flametop.profile.answer.SplitAnswer;
import flametop.profile.answer.StateSet;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Several files, and nodes of one that are asked of another. */
class StackFilesTest extends StackFileFixture {
  private StackFiles files;

  @AfterEach
  void close() {
    files.close();
  }

  private void openAll(String... texts) throws IOException {
    List<StackInput> inputs = new ArrayList<>();
    for (String text : texts) {
      Path path = folder.resolve(inputs.size() + ".folded");
      inputs.add(StackInput.open(Files.write(path, text.getBytes(StandardCharsets.ISO_8859_1))));
    }
    files = new StackFiles(inputs, StackFile.Choice.comm(true));
  }

  private Snapshot whole(GraphQuery query) throws Exception {
    files.shown().whole().get();
    return files.snapshot(query).get();
  }

  private SplitAnswer beside(int file, Shape shape, GraphQuery query) throws Exception {
    files.shape(shape);
    SplitAnswer answer;
    do {
      answer = (SplitAnswer) files.page(new SplitAnswer.Query(file, shape, query, null)).get();
    } while (!answer.snapshot().reading().done() || answer.snapshot().refolding());
    return answer;
  }

  private long node(String name) throws Exception {
    GraphSlice slice = whole(query(GraphQuery.ROOT, GraphQuery.ROOT)).graph();
    for (int i = 0; i < slice.size(); i++) {
      if (slice.name()[i].equals(name)) {
        return slice.node()[i];
      }
    }
    throw new AssertionError(name);
  }

  @Test
  void beside_nodesOfTheShown_areThoseWithTheirPath() throws Exception {
    openAll("x;a;f 1\nx;b;f 2\n", "x;c 1\nx;b;f 3\nx;b 1\n");
    SplitAnswer beside = beside(2, Shape.PLAIN, query(node("b"), node("f")));
    // That is the f below a, which is not there.
    assertArrayEquals(new String[] {"all", "x"}, beside.snapshot().selection().path());
    GraphSlice slice = beside.snapshot().graph();
    assertEquals("b", slice.name()[slice.zoomIndex()]);
    assertEquals(4, slice.weight()[slice.zoomIndex()]);
    assertEquals(2, beside.snapshot().reading().number());
  }

  @Test
  void beside_nodeThatIsNotThere_isWhatThereIsOfItsPath() throws Exception {
    openAll("x;a;b;c 1\n", "x;a;d 5\ny 1\n", "z 1\n");
    long c = node("c");
    SplitAnswer beside = beside(2, Shape.PLAIN, query(c, c));
    assertArrayEquals(new String[] {"all", "x", "a"}, beside.snapshot().selection().path());
    assertEquals(5, beside.snapshot().selection().weight());
    beside = beside(3, Shape.PLAIN, query(c, c));
    assertEquals(GraphQuery.ROOT, beside.snapshot().selection().node());
    assertEquals(0, beside.snapshot().graph().zoomIndex());
  }

  @Test
  void beside_namesAreComparedAsTheyAreInTheFiles() throws Exception {
    // Both are shown as the same.
    openAll("x;\377 1\n", "x;\376 1\nx;\377 5\nx;f_[k] 7\n");
    long node = whole(query(GraphQuery.ROOT, GraphQuery.ROOT)).graph().node()[2];
    assertEquals(5, beside(2, Shape.PLAIN, query(0, node)).snapshot().selection().weight());
  }

  @Test
  void beside_shape_isThatOfBoth() throws Exception {
    openAll("x;a;f 1\ny;a;f 2\n", "y;a;f 3\ny;a;g 4\n");
    Shape shape = Shape.PLAIN.plus(new Shape.Group(RootOrder.NONE)).plus(new Shape.Reverse());
    SplitAnswer beside = beside(2, shape, query(0, 0));
    assertEquals(List.of("all", "f", "a", "g", "a"), List.of(beside.snapshot().graph().name()));
    GraphSlice own = whole(query(0, 0)).graph();
    assertEquals(List.of("all", "f", "a"), List.of(own.name()));
    beside = beside(2, shape, query(own.node()[2], own.node()[2]));
    assertArrayEquals(new String[] {"all", "f", "a"}, beside.snapshot().selection().path());
  }

  @Test
  void snapshot_nodeOfTheFileBefore_isThatWithItsPath() throws Exception {
    openAll("x;a;b 1\n", "w 1\nx;a;b 2\n");
    long b = node("b");
    files.turn(1);
    Snapshot snapshot = whole(query(b, b));
    assertEquals(2, snapshot.selection().weight());
    assertEquals("b", snapshot.graph().name()[snapshot.graph().zoomIndex()]);
    assertEquals(2, snapshot.reading().number());
  }

  @Test
  void sampleType_ofAFileThatCanBeReadAgain_isShownInItsPlace() throws Exception {
    Path path = Path.of("src/test/resources/flametop/stacks/two.perf");
    files = StackFiles.open(List.of(path), StackInput::open, StackFile.Choice.NONE);
    Snapshot first = read(files.shown());
    assertEquals(List.of("cycles", "page-faults"), first.reading().types());
    assertEquals("cycles", first.reading().types().get(first.reading().type()));
    assertEquals(10_000_000, first.total());
    assertEquals(true, first.reading().says().contains(Capability.MEASURES));
    List<ProcessRow> rows = files.rows(ProcessRow.By.SAMPLE_TYPE, StateSet.ALL).get();
    assertEquals(List.of("cycles", "page-faults"), rows.stream().map(ProcessRow::comm).toList());
    files.sampleType("page-faults");
    Snapshot second = read(files.shown());
    assertEquals(1, second.reading().type());
    assertEquals(7, second.total());
    files.sampleType("");
    assertEquals(10_000_000, read(files.shown()).total());
  }
}

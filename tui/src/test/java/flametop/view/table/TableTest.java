package flametop.view.table;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.profile.answer.Function;
import flametop.profile.answer.NodeKind;
import flametop.profile.answer.NodeKind.ThreadKind;
import flametop.profile.answer.Page;
import flametop.profile.answer.Shape;
import flametop.profile.answer.StateSet;
import flametop.profile.answer.TasksQuery;
import flametop.profile.answer.TasksReport;
import flametop.profile.answer.TopQuery;
import flametop.profile.answer.TopReport;
import flametop.sampler.State;
import flametop.view.base.CellGrid;
import flametop.view.base.Key;
import flametop.view.base.Mouse;
import flametop.view.base.Paint;
import flametop.view.base.Role;
import flametop.view.base.View;
import flametop.view.base.Zone;
import flametop.view.layout.Scene;
import flametop.view.screen.Keys;
import flametop.view.screen.Painter;
import flametop.view.screen.PictureText;
import flametop.view.screen.Pictures;
import flametop.view.screen.ScreenUser;
import flametop.view.screen.TablePictures;
import flametop.view.screen.TimePictures;
import flametop.view.screen.Tree;
import flametop.view.screen.Trees;
import flametop.view.state.Effect;
import flametop.view.state.Questions;
import flametop.view.state.Search;
import flametop.view.state.Step;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class TableTest extends ScreenUser {
  private static final TopTable TOP = new TopTable();
  private static final TasksTable TASKS = new TasksTable();

  private final Tree tree = Trees.server();

  TableTest() {
    state = state.withStates(StateSet.ALL);
  }

  /** Answers the state's question, as a profile does. */
  private Page page() {
    return Questions.page(state, 120) instanceof TopQuery top
        ? TablePictures.top(tree, top)
        : Questions.page(state, 120) instanceof TasksQuery tasks
            ? TablePictures.tasks(tasks)
            : null;
  }

  @Override
  protected Scene scene() {
    return scene(page());
  }

  private Scene scene(Page page) {
    return Scene.of(Pictures.snapshot(tree, state, 120), page, state, 120, 34, Pictures.options());
  }

  private String markedFunction() {
    List<TopReport.Row> rows = ((TopReport) page()).rows();
    return rows.get(TOP.place(state).index(rows, TOP::key)).function().name();
  }

  private int markedPid() {
    List<TasksReport.Row> rows = ((TasksReport) page()).rows();
    return rows.get(TASKS.place(state).index(rows, TASKS::key)).pid();
  }

  private String line(int y) {
    return PictureText.row(scene(), y);
  }

  private int head() {
    return TOP.layout(scene()).head();
  }

  @Test
  void top_down_marksTheFunctionAndKeepsItWhereverItsRowGoes() {
    type("4jjj");
    String marked = markedFunction();
    type("s");
    assertEquals("first by self", state.message());
    assertEquals(marked, markedFunction());
    type("ssssss");
    assertEquals(TopQuery.Order.NAME, TOP.place(state).order());
    assertEquals(marked, markedFunction());
    type("s");
    assertEquals(TopQuery.Order.CPU, TOP.place(state).order());
    assertEquals(marked, markedFunction());
  }

  @Test
  void top_anyRefresh_theMarkIsInSight() {
    type("4");
    Random random = new Random(7);
    TopReport report = (TopReport) page();
    for (int round = 0; round < 200; round++) {
      List<TopReport.Row> rows = new ArrayList<>(report.rows());
      java.util.Collections.shuffle(rows, random);
      rows = rows.subList(0, 1 + random.nextInt(rows.size()));
      TopReport shown =
          new TopReport(List.copyOf(rows), rows.size(), report.functions(), report.total());
      Scene scene = scene(shown);
      TableLayout<TopReport.Row, TopQuery.Order> layout = TOP.layout(scene);
      int index = layout.marked();
      assertTrue(index >= layout.first() && index < layout.end());
      int y = layout.rowOf(index);
      CellGrid grid = Painter.paint(scene);
      assertEquals(Role.SELECT, Paint.role(grid.background(0, y)));
      assertEquals(index, Zone.at(layout.zones(scene.columns), 0, y));
      Key[] keys = {
        Key.of(Key.Kind.DOWN), Key.of(Key.Kind.PAGE_DOWN), Key.of(Key.Kind.UP), Key.of(Key.Kind.END)
      };
      state = Keys.press(scene, keys[random.nextInt(keys.length)]).state();
    }
  }

  @Test
  void top_end_asksForRowsThatWereNotAskedForYet() {
    type("4");
    TopReport few = (TopReport) page();
    TopReport many = new TopReport(few.rows(), 3_811, 3_811, few.total());
    state = Keys.press(scene(many), Key.of(Key.Kind.END)).state();
    assertEquals(3_810, TOP.place(state).place());
    state = Keys.press(scene(many), Key.of(Key.Kind.DOWN)).state();
    assertEquals("nothing below", state.message());
    assertEquals(3_810, TOP.place(state).place());
    assertTrue(((TopQuery) Questions.page(state, 120)).rows() > 3_811);
    state = Keys.press(scene(many), Key.of(Key.Kind.HOME)).state();
    assertEquals(0, TOP.place(state).place());
    assertEquals(256, ((TopQuery) Questions.page(state, 120)).rows());
    assertTrue(Painter.paint(scene(many)).columns() > 0);
  }

  @Test
  void top_clickOnAHead_sortsByIt() {
    type("4");
    mouse(Mouse.Kind.PRESS, line(head()).indexOf("total") + 1, head());
    assertEquals(TopQuery.Order.TOTAL, TOP.place(state).order());
    mouse(Mouse.Kind.PRESS, line(head()).indexOf("asleep"), head());
    assertEquals(TopQuery.Order.SLEEP, TOP.place(state).order());
    mouse(Mouse.Kind.PRESS, line(head()).indexOf("function"), head());
    assertEquals(TopQuery.Order.NAME, TOP.place(state).order());
    mouse(Mouse.Kind.PRESS, line(head()).indexOf("module"), head());
    assertEquals("this column has no order", state.message());
  }

  @Test
  void top_fromTheGraph_marksTheFunctionThatIsSelectedThere() {
    List<String> path = new ArrayList<>(List.of(Pictures.readQuery()));
    path.add("processInputBuffer");
    state = Pictures.selecting(state, tree, path.toArray(String[]::new));
    String selected = "processInputBuffer";
    type("4");
    state = Keys.arrived(scene()).state();
    assertEquals(selected, markedFunction());
    assertEquals(
        selected, ((TopQuery) Questions.page(state, 120)).to().name(), "its row is asked for");
    press(Key.of(Key.Kind.HOME));
    String first = TOP.place(state).marked().name();
    state = Keys.arrived(scene()).state();
    assertEquals(first, TOP.place(state).marked().name());
    type("14");
    assertEquals(first, TOP.place(state).marked().name(), "nothing else was selected meanwhile");
    state = Pictures.selecting(state.withView(View.GRAPH), tree, "redis-server");
    type("4");
    assertEquals(first, TOP.place(state).marked().name(), "a process is no function");
  }

  @Test
  void top_fromAFunctionThatIsNotAmongTheFirst_isOpenedAtTheTop() {
    state = Pictures.selecting(state, tree, Pictures.readQuery());
    type("4");
    TopReport all = (TopReport) page();
    List<TopReport.Row> rows = new ArrayList<>(all.rows());
    String name = Pictures.readQuery()[Pictures.readQuery().length - 1];
    TopReport.Row last =
        rows.stream().filter(r -> r.function().name().equals(name)).findAny().get();
    rows.remove(last);
    while (rows.size() < 60) {
      rows.addAll(List.copyOf(rows));
    }
    rows.add(last);
    TopReport shown = new TopReport(List.copyOf(rows), rows.size(), rows.size(), all.total());
    state = Keys.arrived(scene(shown)).state();
    assertEquals(0, TOP.layout(scene(shown)).marked());
    assertEquals(0, TOP.layout(scene(shown)).first());
  }

  @Test
  void top_sortWhileComparing_isByChangeToo() {
    state = state.withView(View.TOP);
    List<TopQuery.Order> orders = new ArrayList<>();
    for (int i = 0; i < 9; i++) {
      orders.add(TOP.place(state).order());
      state = Keys.press(compared(), Key.of('s')).state();
    }
    // The order of time on a CPU, which is kept for later, means that of self here.
    List<TopQuery.Order> all = new ArrayList<>(List.of(TopQuery.Order.values()));
    all.remove(TopQuery.Order.SELF);
    assertEquals(all, orders);
    state = TOP.with(state, TOP.place(state).by(TopQuery.Order.TOTAL_CHANGE));
    assertTrue(row(compared(), 3).contains("first by change of total"));
    // Where nothing is compared any more it would mean nothing.
    assertTrue(row(scene(), 3).contains("first by time on a CPU"));
    type("s");
    assertEquals(TopQuery.Order.SELF, TOP.place(state).order());
  }

  @Test
  void top_clickOnTheHeadOfAChange_sortsByIt() {
    state = state.withView(View.TOP);
    int head = head();
    int x = row(compared(), head).indexOf("change") + 2;
    state = Keys.mouse(compared(), new Mouse(Mouse.Kind.PRESS, x, head)).state();
    assertEquals(TopQuery.Order.SELF_CHANGE, TOP.place(state).order());
    x = row(compared(), head).lastIndexOf("change") + 2;
    state = Keys.mouse(compared(), new Mouse(Mouse.Kind.PRESS, x, head)).state();
    assertEquals(TopQuery.Order.TOTAL_CHANGE, TOP.place(state).order());
    state = state.withView(View.TASKS);
    x = row(compared(), head).indexOf("change") + 2;
    state = Keys.mouse(compared(), new Mouse(Mouse.Kind.PRESS, x, head)).state();
    assertEquals(TasksQuery.Order.CHANGE, TASKS.place(state).order());
  }

  @Test
  void top_whileComparing_onlyWhatIsBeyondTheNoiseIsColoured() {
    state = state.withView(View.TOP);
    CellGrid grid = Painter.paint(compared());
    int checked = 0;
    for (int y = head() + 2; y < grid.rows() - 3; y++) {
      String row = row(compared(), y);
      int arrow = row.indexOf(row.contains("▲") ? '▲' : '▼');
      checked += arrow >= 0 ? 1 : 0;
      for (int x = 0; x < grid.columns(); x++) {
        Role role = Paint.role(grid.foreground(x, y));
        boolean coloured = role == Role.WORSE || role == Role.BETTER;
        assertTrue(arrow >= 0 || !coloured, row);
      }
      if (arrow >= 0) {
        Role role = row.contains("▲") ? Role.WORSE : Role.BETTER;
        assertEquals(role, Paint.role(grid.foreground(arrow, y)), row);
      }
      if (row.contains("▌ replace")) {
        int x = row.indexOf("replace");
        assertEquals(CellGrid.UNDERLINE, grid.attributes(x, y), "what is gone is underlined");
      }
    }
    assertTrue(checked > 5);
  }

  @Test
  void compare_inTheTables_isAsInTheGraph() {
    for (char view : new char[] {'4', '5'}) {
      type("" + view + 'b');
      assertEquals(1, state.moment().baseline());
      type("B");
      assertEquals(0, state.moment().baseline());
    }
  }

  private Scene compared() {
    return TablePictures.compared(TimePictures.release(), state, new int[] {120, 34});
  }

  private static String row(Scene scene, int y) {
    return PictureText.row(scene, y);
  }

  @Test
  void top_clickOnARow_marksItAndASecondOpensIt() {
    type("4");
    String third = ((TopReport) page()).rows().get(2).function().name();
    mouse(Mouse.Kind.PRESS, 40, head() + 3);
    assertEquals(third, markedFunction());
    mouse(Mouse.Kind.DOUBLE, 40, head() + 3);
    assertTrue(state.view() != View.TOP);
  }

  @Test
  void top_search_narrowsAsItIsTypedAndLeavesTheGraphAlone() {
    type("4/read");
    assertTrue(state.search().typing());
    TopReport report = (TopReport) page();
    assertTrue(report.matching() < report.functions());
    report.rows().forEach(r -> assertTrue(r.function().name().contains("ead")));
    press(Key.of(Key.Kind.ENTER));
    assertEquals(List.of(new Effect.Remember("read")), effects);
    assertFalse(state.search().typing());
    type("1");
    assertNull(state.search());
    type("4");
    assertEquals("read", state.search().text());
    press(Key.of(Key.Kind.ESCAPE));
    assertNull(state.search());
    assertEquals(View.TOP, state.view());
    press(Key.of(Key.Kind.ESCAPE));
    assertEquals(View.GRAPH, state.view());
  }

  @Test
  void top_search_isCompletedFromTheNamesInSight() {
    type("4/heap_u");
    state = state.withSearch(Search.of("heap_u", true));
    press(Key.of(Key.Kind.TAB));
    assertEquals("heap_update", state.search().text());
  }

  @Test
  void top_keepAndDrop_shapeWhatIsShown() {
    type("4");
    String name = markedFunction();
    type("x");
    assertTrue(
        state.chosenShape().toString().contains("not " + name), state.chosenShape().toString());
    assertEquals(View.TOP, state.view());
    type("f");
    assertEquals(2, state.chosenShape().steps().size());
  }

  @Test
  void top_copy_isTheWholeName() {
    type("4");
    String name = markedFunction();
    type("y");
    assertEquals(List.of(new Effect.Copy(name)), effects);
  }

  @Test
  void top_narrowestToWidest_everyRowFitsAndFiguresKeepTheirPlace() {
    type("4");
    for (int columns = Scene.MIN_COLUMNS; columns < 320; columns++) {
      for (View view : new View[] {View.TOP, View.TASKS}) {
        state = state.withView(view);
        Scene scene =
            Scene.of(
                Pictures.snapshot(tree, state, columns),
                page(),
                state,
                columns,
                24,
                Pictures.options());
        CellGrid grid = Painter.paint(scene);
        Table<?, ?, ?> table = view == View.TOP ? TOP : TASKS;
        int y = table.layout(scene).head();
        String head = PictureText.row(grid, y);
        assertFalse(head.contains("…"), columns + ": " + head);
        assertEquals(' ', grid.codePoint(columns - 1, y + 3), columns + " " + view);
      }
    }
  }

  @Test
  void tasks_enter_isTheGraphOfThatProcess() {
    type("5j");
    int pid = markedPid();
    press(Key.of(Key.Kind.ENTER));
    assertEquals(View.GRAPH, state.view());
    assertEquals(Shape.of(new Shape.Processes(Set.of(pid), false)), state.chosenShape());
  }

  @Test
  void tasks_threads_enterIsTheGraphOfThatThread() {
    type("5H");
    assertEquals("a row for each thread", state.message());
    press(Key.of(Key.Kind.ENTER));
    assertEquals(Shape.of(new Shape.Threads(Set.of(2210), false)), state.chosenShape());
  }

  @Test
  void tasks_drop_leavesOutOneAfterTheOther() {
    type("5x");
    assertEquals(View.TASKS, state.view());
    type("jx");
    assertEquals(2, state.chosenShape().steps().size());
  }

  @Test
  void tasks_ofManyThatEnded_areNoFilter() {
    type("5");
    TasksReport.Row many =
        new TasksReport.Row(
            0, 0, 0, 0, "cc1", "", ThreadKind.PROGRAM, 1, 1, 0, 1, null, 0, null, null, null);
    TasksReport report = new TasksReport(List.of(many), 1, 1, 0, 1);
    Step step = Keys.press(scene(report), Key.of(Key.Kind.ENTER));
    assertEquals("these are many processes that ended long ago", step.state().message());
    assertEquals(Shape.PLAIN, step.state().chosenShape());
  }

  @Test
  void tasks_threadsOfAJvm_haveTheirKindInAColumn() {
    type("5");
    TasksReport plain = TablePictures.tasks((TasksQuery) Questions.page(state, 120));
    type("H");
    int head = head();
    assertTrue(!PictureText.row(scene(plain), head).contains("kind"), "no JVM is there");
    TasksReport.Row compiler =
        new TasksReport.Row(
            7,
            8,
            1,
            0,
            "C2 CompilerThre",
            "java Shop",
            ThreadKind.COMPILER,
            1,
            1,
            0,
            1,
            State.SLEEP,
            0,
            null,
            null,
            null);
    Scene scene = scene(new TasksReport(List.of(compiler), 1, 1, 0, 1));
    assertTrue(PictureText.row(scene, head).contains("kind"), PictureText.row(scene, head));
    String row = PictureText.row(scene, head + 1) + PictureText.row(scene, head + 2);
    assertTrue(row.contains(" JIT "), row);
  }

  @Test
  void tasks_sort_keepsTheMark() {
    type("5jj");
    int pid = markedPid();
    type("s");
    assertEquals("first by time queued", state.message());
    assertEquals(pid, markedPid());
    mouse(Mouse.Kind.PRESS, line(head()).indexOf("age"), head());
    assertEquals(TasksQuery.Order.AGE, TASKS.place(state).order());
    assertEquals(pid, markedPid());
  }

  @Test
  void tasks_search_isItsOwn() {
    type("4/read");
    press(Key.of(Key.Kind.ENTER));
    type("5");
    assertNull(state.search());
    type("/postgres");
    assertEquals(2, ((TasksReport) page()).matching());
  }

  @Test
  void tasks_copy_isTheCommandLine() {
    type("5");
    press(Key.of('y'));
    assertEquals(
        List.of(new Effect.Copy("java -Xmx2g -jar /srv/shop/shop.jar --port 8080")), effects);
  }

  @Test
  void tasks_longSleepInD_standsOut() {
    type("5");
    CellGrid grid = Painter.paint(scene());
    boolean stands = false;
    for (int y = head(); y < grid.rows(); y++) {
      if (line(y).contains("checkpointer") || line(y).contains(" 1044 ")) {
        for (int x = 0; x < grid.columns(); x++) {
          stands |= Paint.role(grid.foreground(x, y)) == Role.WORSE;
        }
      }
    }
    assertTrue(stands);
  }

  @Test
  void top_hugeAndStrangeFigures_arePainted() {
    long huge = Long.MAX_VALUE / 4;
    long[] by = new long[State.values().length];
    by[0] = huge;
    TopReport.Row row =
        new TopReport.Row(new Function(NodeKind.USER, "", ""), huge, huge, by, by, false, null);
    TopReport report = new TopReport(List.of(row), 1, 1, 1);
    state = state.withView(View.TOP);
    assertTrue(Painter.paint(scene(report)).columns() > 0);
  }
}

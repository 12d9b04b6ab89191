package flametop.profile.tree;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.array.IntColumn;
import flametop.profile.answer.Function;
import flametop.profile.answer.NodeKind;
import flametop.profile.answer.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.regex.PatternSyntaxException;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ShaperTest {
  private final FunctionTable table = new FunctionTable();
  private final IntColumn origins = new IntColumn();

  private int user(String name) {
    return table.function(NodeKind.USER, "app", name);
  }

  private static Function function(String name) {
    return new Function(NodeKind.USER, "app", name);
  }

  /** Names of the path, or null; frames are single characters, capitals of another module. */
  private String shape(Shape shape, String frames) {
    IntColumn path = new IntColumn();
    path.add(user("above"));
    for (int i = 0; i < frames.length(); i++) {
      char c = frames.charAt(i);
      String module = Character.isUpperCase(c) ? "lib.so" : "app";
      path.add(table.function(NodeKind.USER, module, String.valueOf(c)));
    }
    if (!new Shaper(shape, table).shape(path, 1, origins)) {
      return null;
    }
    StringBuilder names = new StringBuilder();
    for (int i = 1; i < path.size; i++) {
      names.append(table.name(path.items[i]));
    }
    return names.toString();
  }

  @Test
  void shape_recursion_isMergedDirectOrNot() {
    Shape merged = Shape.of(new Shape.Merge());
    assertEquals("abc", shape(merged, "aabbbc"));
    assertEquals("abd", shape(merged, "abcbcbd"));
    assertEquals(List.of(0, 5, 6), list(origins));
    assertEquals("a", shape(merged, "abcda"));
  }

  @Test
  void shape_moduleCollapsed_isOneNodeForEachStay() {
    Shape collapsed = Shape.of(new Shape.Collapse("lib.so"));
    assertEquals("a[lib.so]b[lib.so]", shape(collapsed, "aXYbZ"));
    assertEquals(List.of(0, -1, 3, -1), list(origins));
  }

  @Test
  void shape_focus_isTheOutermostCall() {
    assertEquals("fba", shape(Shape.of(new Shape.Callers(function("f"))), "abfcfd"));
    assertEquals("fcfd", shape(Shape.of(new Shape.Callees(function("f"))), "abfcfd"));
    assertEquals(null, shape(Shape.of(new Shape.Callers(function("f"))), "abc"));
    assertEquals(null, shape(Shape.of(new Shape.Callees(function("f"))), "abc"));
  }

  @Test
  void shape_framesInAndOut_byPatternAndByFunction() {
    assertEquals("abc", shape(Shape.of(new Shape.Matching("b|x", 0, false)), "abc"));
    assertEquals(null, shape(Shape.of(new Shape.Matching("b|x", 0, true)), "abc"));
    assertEquals("abc", shape(Shape.of(new Shape.Through(function("b"), false)), "abc"));
    assertEquals(null, shape(Shape.of(new Shape.Through(function("b"), true)), "abc"));
    // Of the same name, in another module.
    assertEquals("aBc", shape(Shape.of(new Shape.Through(function("B"), true)), "aBc"));
  }

  @Test
  void shape_steps_actInTheirOrderAndReverseLast() {
    Shape focused = Shape.of(new Shape.Callees(function("b")), new Shape.Matching("a", 0, true));
    assertEquals("bc", shape(focused, "abc"));
    assertEquals(null, shape(Shape.of(focused.steps().get(1), focused.steps().get(0)), "abc"));
    Shape reversed = Shape.of(new Shape.Reverse(), new Shape.Callees(function("b")));
    assertEquals("cb", shape(reversed, "abc"));
    assertEquals(List.of(2, 1), list(origins));
  }

  @Test
  void shape_deepStack_isShaped() {
    String deep = "a" + "xyz".repeat(40_000) + "b";
    assertEquals("axyzb", shape(Shape.of(new Shape.Merge()), deep));
    assertEquals(deep.length(), shape(Shape.of(new Shape.Reverse()), deep).length());
  }

  @Test
  void forget_numberMeansAnother_isSeen() {
    user("above");
    int number = user("f");
    Shaper shaper = new Shaper(Shape.of(new Shape.Through(function("f"), false)), table);
    IntColumn path = new IntColumn();
    path.add(number);
    assertTrue(shaper.shape(path, 0, origins));
    table.functions.set(number, function("g"));
    shaper.forget();
    assertFalse(shaper.shape(path, 0, origins));
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void shape_anyStepsAndStacks_areTheNaiveOnes(long seed) {
    Random random = new Random(seed);
    List<Function> functions = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      functions.add(
          new Function(NodeKind.values()[3 + random.nextInt(5)], "m" + i % 3, "f" + i % 5));
    }
    functions.add(new Function(NodeKind.USER, "libjvm.so", "f6"));
    functions.add(new Function(NodeKind.JIT, "[jit]", "Shop.f7"));
    functions.add(new Function(NodeKind.USER, "python3.11", "f8"));
    functions.add(new Function(NodeKind.PYTHON, "[python]", "f9"));
    for (int round = 0; round < 500; round++) {
      Shape shape = NaiveShape.random(random, functions, "f[12]");
      Shaper shaper = new Shaper(shape, table);
      for (int i = 0; i < 40; i++) {
        List<Function> frames =
            random
                .ints(random.nextInt(12), 0, functions.size())
                .mapToObj(functions::get)
                .collect(Collectors.toList());
        IntColumn path = new IntColumn();
        frames.forEach(f -> path.add(table.function(f.kind(), f.module(), f.name())));
        int[] before = path.toArray();
        boolean kept = shaper.shape(path, 0, origins);
        List<Function> expected = NaiveShape.shape(shape, frames);
        List<Function> actual =
            kept
                ? list(path).stream().map(table.functions::get).collect(Collectors.toList())
                : null;
        assertEquals(expected, actual, () -> shape + " of " + frames);
        for (int f = 0; kept && f < path.size; f++) {
          int origin = origins.items[f];
          assertTrue(origin == -1 || before[origin] == path.items[f]);
        }
      }
    }
  }

  @Test
  void steps_replacedAndLifted_areListsAsBefore() {
    Shape one = Shape.of(new Shape.Comms(Set.of("java"), false));
    Shape two = one.with(new Shape.Processes(Set.of(812), false)).plus(new Shape.Reverse());
    assertEquals("comm java › pid 812 › reversed", two.toString());
    Shape other = two.with(new Shape.Comms(Set.of("redis"), false));
    assertEquals("pid 812 › reversed › comm redis", other.toString());
    assertEquals("pid 812 › reversed › comm java", other.as(one, Shape.Comms.class).toString());
    assertEquals("comm java › reversed", two.as(one, Shape.Processes.class).toString());
    assertEquals(one, two.without(Shape.Processes.class).without(Shape.Reverse.class));
    assertNotEquals(one, two);
    assertThrows(PatternSyntaxException.class, () -> new Shape.Matching("(", 0, false));
  }

  private static List<Integer> list(IntColumn of) {
    return java.util.Arrays.stream(of.toArray()).boxed().collect(Collectors.toList());
  }
}

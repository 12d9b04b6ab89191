package flametop.profile.tree;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import flametop.array.IntColumn;
import flametop.profile.answer.Function;
import flametop.profile.answer.NodeKind;
import flametop.profile.answer.Shape;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A runtime's own machinery vanishes from stacks with functions of its language. */
class FoldRuntimesTest {
  private static final Shape FOLDED = Shape.of(new Shape.FoldRuntimes());

  private final FunctionTable table = new FunctionTable();
  private final IntColumn origins = new IntColumn();
  private final Shaper shaper = new Shaper(FOLDED, table);

  /**
   * The names of the frames that are left.
   *
   * @param frames outermost first, as {@code module`name}, with the mark of its kind: {@code
   *     [jit]`Shop.order_[j]}
   */
  private String fold(String... frames) {
    IntColumn path = new IntColumn();
    for (String frame : frames) {
      int quote = frame.indexOf('`');
      String name = frame.substring(quote + 1);
      int mark = name.lastIndexOf("_[");
      NodeKind kind =
          switch (mark < 0 ? "" : name.substring(mark)) {
            case "_[k]" -> NodeKind.KERNEL;
            case "_[j]" -> NodeKind.JIT;
            case "_[i]" -> NodeKind.INLINED;
            case "_[p]" -> NodeKind.PYTHON;
            case "_[h]" -> NodeKind.PHP;
            case "_[r]" -> NodeKind.RUBY;
            case "_[?]" -> NodeKind.UNKNOWN;
            default -> NodeKind.USER;
          };
      path.add(
          table.function(
              kind, frame.substring(0, quote), mark < 0 ? name : name.substring(0, mark)));
    }
    shaper.shape(path, 0, origins);
    return Arrays.stream(path.items, 0, path.size)
        .mapToObj(table::name)
        .collect(Collectors.joining(" "));
  }

  private List<Integer> origins() {
    return Arrays.stream(origins.items, 0, origins.size).boxed().toList();
  }

  @Test
  void fold_java_leavesMethodsAndWhatIsOfOtherModules() {
    assertEquals(
        "start_thread Shop.run Shop.order pthread_cond_wait futex_wait",
        fold(
            "libc.so.6`start_thread",
            "libjvm.so`thread_native_entry",
            "libjvm.so`JavaCalls::call_helper",
            "[jit]`StubRoutines (1)_[j]",
            "[jit]`Shop.run_[j]",
            "[jit]`I2C/C2I adapters_[j]",
            "[jit]`Shop.order_[j]",
            "[jit]`C2 Runtime new_instance_[j]",
            "libjvm.so`Unsafe_Park",
            "libc.so.6`pthread_cond_wait",
            "[kernel]`futex_wait_[k]"));
    assertEquals(List.of(0, 4, 6, 9, 10), origins());
  }

  @Test
  void fold_javaWithoutAFrameOfItsLibrary_isKnownByAHelper() {
    assertEquals(
        "Shop.run Shop.order",
        fold("[jit]`Shop.run_[j]", "[jit]`Shop.order_[j]", "[jit]`StubRoutines (2)_[j]"));
    assertEquals("work glue", fold("[jit]`work_[j]", "[jit]`glue_[j]"), "code of nobody known");
  }

  @Test
  void fold_methodOfJavaThatIsGone_stays() {
    assertEquals(
        "Shop.run [gone before it was named] [jit]",
        fold(
            "libjvm.so`JavaCalls::call_helper",
            "[jit]`Shop.run_[j]",
            "[jit]`[gone before it was named]_[j]",
            "[jit]`[jit]_[?]"));
  }

  @Test
  void fold_python_leavesFunctionsAndExtensionsInTheirPlaces() {
    assertEquals(
        "__libc_start_main <module> total array_sum cblas_dot read",
        fold(
            "python3.11`_start",
            "libc.so.6`__libc_start_main",
            "python3.11`Py_BytesMain",
            "[python]`<module>_[p]",
            "python3.11`_PyEval_EvalFrameDefault",
            "[python]`total_[p]",
            "python3.11`cfunction_call",
            "_multiarray.so`array_sum",
            "libblas.so.3`cblas_dot",
            "libpython3.12.so.1.0`PyErr_CheckSignals",
            "[kernel]`read_[k]"));
  }

  @Test
  void fold_pythonByAMapThatItWrites_isAsByItsFrames() {
    assertEquals(
        "py::main:/a.py py::leaf:/a.py",
        fold(
            "python3.13`Py_RunMain",
            "[jit]`py::main:/a.py_[j]",
            "python3.13`_PyEval_EvalFrameDefault",
            "[jit]`py::leaf:/a.py_[j]",
            "python3.13`long_add"));
  }

  @Test
  void fold_php_leavesFunctionsAndOtherModules() {
    assertEquals(
        "shop/cart.php Cart::total sqlite3_step",
        fold(
            "php-fpm8.2`main",
            "[php]`shop/cart.php_[h]",
            "php-fpm8.2`execute_ex",
            "[php]`Cart::total_[h]",
            "libsqlite3.so.0`sqlite3_step",
            "libphp8.2.so`zend_gc"));
  }

  @Test
  void fold_ruby_leavesFunctionsAndOtherModules() {
    assertEquals(
        "<main> Cart#total parser_parse",
        fold(
            "ruby3.1`main",
            "libruby-3.1.so.3.1.2`vm_exec",
            "[ruby]`<main>_[r]",
            "libruby-3.1.so.3.1.2`rb_ary_each",
            "[ruby]`Cart#total_[r]",
            "parser.so`parser_parse",
            "libruby-3.1.so.3.1.2`rb_str_new"));
  }

  @Test
  void fold_node_leavesInterpretedAndCompiledFunctions() {
    assertEquals(
        "uv_run total (shop/cart.js) next",
        fold(
            "node`node::Start",
            "libuv.so.1`uv_run",
            "node`Builtins_JSEntry",
            "[node]`total (shop/cart.js)_[j]",
            "node`Builtins_InterpreterEntryTrampoline",
            "[jit]`Builtin:ArrayForEach_[j]",
            "[jit]`next_[j]",
            "node`v8::internal::Heap::AllocateRaw"));
    assertEquals(
        "next (shop/cart.js)", fold("node`Builtins_JSEntry", "[jit]`next (shop/cart.js)_[j]"));
  }

  @Test
  void fold_stackWithoutAFunction_staysAsItIs() {
    assertEquals(
        "thread_native_entry GCTaskThread::run StubRoutines (1)",
        fold(
            "libjvm.so`thread_native_entry",
            "libjvm.so`GCTaskThread::run",
            "[jit]`StubRoutines (1)_[j]"));
    assertEquals(
        "Py_BytesMain _PyEval_EvalFrameDefault",
        fold("python3.15`Py_BytesMain", "python3.15`_PyEval_EvalFrameDefault"));
    assertEquals("Builtins_JSEntry uv_run", fold("node`Builtins_JSEntry", "libuv.so.1`uv_run"));
    assertEquals("", fold());
  }

  @Test
  void fold_runtimeWithoutAFunctionInAStackOfAnother_staysAsItIs() {
    assertEquals(
        "total JNI_CreateJavaVM",
        fold("python3.11`Py_RunMain", "[python]`total_[p]", "libjvm.so`JNI_CreateJavaVM"));
    assertEquals(
        "total Shop.run",
        fold(
            "python3.11`Py_RunMain",
            "[python]`total_[p]",
            "libjvm.so`JavaCalls::call_helper",
            "[jit]`Shop.run_[j]"));
    assertEquals(
        "total numba_code", fold("[python]`total_[p]", "[jit]`numba_code_[j]"), "no helper of it");
  }

  @Test
  void fold_frameWithoutASymbolOrInlined_isOfItsFile() {
    assertEquals(
        "Shop.run",
        fold("libjvm.so`libjvm.so+0x10_[?]", "libjvm.so`inlined_[i]", "[jit]`Shop.run_[j]"));
  }

  @Test
  void fold_numbersThatMeanOtherFunctions_areLookedAtAnew() {
    assertEquals("total", fold("[python]`total_[p]", "python3`loop"));
    table.functions.set(1, new Function(NodeKind.USER, "libm.so.6", "sin"));
    shaper.forget();
    assertEquals("total sin", fold("[python]`total_[p]", "libm.so.6`sin"));
  }

  @ParameterizedTest
  @CsvSource({
    "libjvm.so,JAVA",
    "libjvm.so (deleted),JAVA",
    "libjvm,JAVA",
    "libjli.so,JAVA",
    "python,PYTHON",
    "python3,PYTHON",
    "python3.11,PYTHON",
    "libpython3.12.so.1.0,PYTHON",
    "php,PHP",
    "php8.2,PHP",
    "php-fpm8.2,PHP",
    "php-cgi,PHP",
    "libphp8.2.so,PHP",
    "libphp.so,PHP",
    "ruby,RUBY",
    "ruby3.1,RUBY",
    "libruby-3.1.so.3.1.2,RUBY",
    "libruby.so.3.4 (deleted),RUBY",
    "node,NODE",
    "nodejs,NODE",
    "libnode.so.108,NODE"
  })
  void ofImage_fileOfARuntime_isTheRuntime(String file, ManagedRuntime runtime) {
    assertEquals(runtime, ManagedRuntime.ofImage(file));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "libjava.so",
        "libjvmti.so",
        "pythonish",
        "_python.so",
        "phpize8.2",
        "phpdbg8.2",
        "libphpcpp.so",
        "rubygems",
        "jruby",
        "libruby.a",
        "nodemon",
        "node_sqlite3.node",
        "libnodes.so",
        "[jit]",
        " (deleted)",
        "libc.so.6"
      })
  void ofImage_anotherFile_isOfNone(String file) {
    assertNull(ManagedRuntime.ofImage(file));
  }
}

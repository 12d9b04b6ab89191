package flametop.profile.tree;

import flametop.array.IntColumn;
import flametop.profile.answer.NodeKind;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Tells frames of a runtime's own machinery from functions of the program that the runtime runs.
 *
 * <p>A frame in a file of the runtime is machinery. Code that was made at run time does not say
 * whose the code is: the files on the same stack do.
 */
final class RuntimeFrames {
  private static final int KNOWN = 1;

  /** Code that was made at run time. */
  private static final int CODE = 1 << 1;

  /** Code that would be a helper of a JVM. */
  private static final int HELPER_OF_JAVA = 1 << 2;

  /** Code that is a helper of a JVM, whatever else is on the stack. */
  private static final int SURELY_OF_JAVA = 1 << 3;

  /** Code that would be a helper of V8. */
  private static final int HELPER_OF_NODE = 1 << 4;

  /** From this bit on: the runtime in whose file the frame is. */
  private static final int IMAGE = 8;

  /** From this bit on: the runtime that interprets the function. */
  private static final int FUNCTION = 16;

  /** All bits of either. */
  private static final int RUNTIMES = (1 << ManagedRuntime.values().length) - 1;

  private static final int JAVA = 1 << ManagedRuntime.JAVA.ordinal();
  private static final int PYTHON = 1 << ManagedRuntime.PYTHON.ordinal();
  private static final int NODE = 1 << ManagedRuntime.NODE.ordinal();

  /** The module of functions that V8 interprets. */
  private static final String OF_NODE = "[node]";

  /** How a name begins in the map that {@code python3 -X perf} writes. */
  private static final String MAPPED_PYTHON = "py::";

  /** Names that HotSpot gives to its helpers and to no method. */
  private static final Pattern HELPERS_OF_JVM =
      Pattern.compile(
          "Interpreter|vtable chunks|I2C/C2I adapters|MethodHandles adapters"
              + "|StubRoutines \\(.*|(C1|C2|Shared) Runtime .*|.* Runtime1 stub");

  /** Names that V8 gives to its helpers in a map. */
  private static final Pattern HELPERS_OF_V8 =
      Pattern.compile("(Builtin|BytecodeHandler|Handler|Stub):.*");

  private final Functions functions;

  /** What is known of each function; 0 of one that was not looked at. */
  private final IntColumn known = new IntColumn();

  RuntimeFrames(Functions functions) {
    this.functions = functions;
  }

  /** Numbers of functions may mean others from now on. */
  void forget() {
    known.empty();
  }

  /**
   * Takes the machinery out of a stack, if functions of the same runtime are on it.
   *
   * @param of functions
   * @param origin of each, which goes with its function
   * @return how many frames are left
   */
  int fold(int[] of, int[] origin, int size) {
    int all = 0;
    for (int i = 0; i < size; i++) {
      all |= look(of[i]);
    }
    int maker = maker(all);
    int helper = maker == JAVA ? HELPER_OF_JAVA : HELPER_OF_NODE;
    int running = all >> FUNCTION & RUNTIMES;
    if ((all & CODE) != 0 && maker != 0 && (running & maker) == 0) {
      running |= hasMethod(of, size, helper) ? maker : 0;
    }
    if (running == 0) {
      return size;
    }
    boolean foldsHelpers = (running & maker) != 0;
    int kept = 0;
    for (int i = 0; i < size; i++) {
      int its = known.items[of[i]];
      boolean machinery = (its >> IMAGE & running) != 0 || foldsHelpers && (its & helper) != 0;
      if (!machinery) {
        of[kept] = of[i];
        origin[kept++] = origin[i];
      }
    }
    return kept;
  }

  /** The runtime that made the code on a stack; 0 if nothing says so. */
  private static int maker(int all) {
    int seen = (all >> IMAGE | all >> FUNCTION) & RUNTIMES;
    return (seen & JAVA) != 0 || (all & SURELY_OF_JAVA) != 0 ? JAVA : seen & NODE;
  }

  private boolean hasMethod(int[] of, int size, int helper) {
    for (int i = 0; i < size; i++) {
      if ((known.items[of[i]] & (CODE | helper)) == CODE) {
        return true;
      }
    }
    return false;
  }

  private int look(int function) {
    if (known.get(function) == 0) {
      known.set(function, KNOWN | told(function));
    }
    return known.get(function);
  }

  private int told(int function) {
    NodeKind kind = functions.kind(function);
    ManagedRuntime interpreter = ManagedRuntime.ofFunctions(kind);
    if (interpreter != null) {
      return 1 << FUNCTION + interpreter.ordinal();
    }
    return switch (kind) {
      case JIT -> toldOfCode(functions.module(function), functions.name(function));
      case USER, INLINED, UNKNOWN -> ofImage(ManagedRuntime.ofImage(functions.module(function)));
      default -> 0;
    };
  }

  private static int ofImage(@Nullable ManagedRuntime runtime) {
    return runtime == null ? 0 : 1 << IMAGE + runtime.ordinal();
  }

  private static int toldOfCode(String module, String name) {
    // A method has its class before its name; a name in brackets is that of a method, too.
    boolean isMethod = name.contains(".") || name.contains("::") || name.startsWith("[");
    if (module.equals(OF_NODE)) {
      return NODE << FUNCTION;
    }
    if (name.startsWith(MAPPED_PYTHON)) {
      return PYTHON << FUNCTION;
    }
    return CODE
        | (HELPERS_OF_JVM.matcher(name).matches() ? SURELY_OF_JAVA : 0)
        | (isMethod ? 0 : HELPER_OF_JAVA)
        | (HELPERS_OF_V8.matcher(name).matches() ? HELPER_OF_NODE : 0);
  }
}

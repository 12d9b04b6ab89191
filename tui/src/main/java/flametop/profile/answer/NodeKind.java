package flametop.profile.answer;

import flametop.sampler.ModuleKind;
import java.util.Arrays;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The kind of thing that a node of the graph stands for; the kind decides the colour of the node.
 */
public enum NodeKind {
  ROOT,
  /** A process, or the processes of one comm. */
  PROCESS,
  /** A thread, or a CPU. */
  THREAD,
  /**
   * A control group by the last name of its path, below those that it is in; {@code /} is the root.
   */
  CGROUP,
  USER,
  KERNEL,
  JIT,
  INLINED,
  /** A function of Python, which CPython's interpreter runs. */
  PYTHON,
  /** A function of PHP, which PHP's virtual machine runs. */
  PHP,
  /** A function of Ruby, which Ruby's virtual machine runs. */
  RUBY,
  /** A frame without a name. */
  UNKNOWN,
  /**
   * Says why a stack is short, or that its pool has no sample: {@code [truncated]}, {@code [not
   * sampled]}, {@code [naming]}.
   */
  REASON,
  /** Stands for the stacks of threads that wait for work: {@code [idle]}. */
  IDLE;

  private static final Map<ModuleKind, NodeKind> OF_MODULES =
      Map.of(
          ModuleKind.KERNEL, KERNEL,
          ModuleKind.FILE, USER,
          ModuleKind.VDSO, USER,
          ModuleKind.JIT, JIT,
          ModuleKind.PYTHON, PYTHON,
          ModuleKind.PHP, PHP,
          ModuleKind.RUBY, RUBY);

  /** The kind of the functions of a module. */
  public static NodeKind of(ModuleKind module) {
    return OF_MODULES.getOrDefault(module, UNKNOWN);
  }

  /** Whether it stands above the frames, and tells whose they are. */
  public boolean isOwner() {
    return this == PROCESS || this == THREAD || this == CGROUP;
  }

  /**
   * Whether the name of such a node is the name of a function, of which more than the end can be
   * left out.
   */
  public boolean isFrame() {
    return switch (this) {
      case USER, KERNEL, JIT, INLINED, PYTHON, PHP, RUBY, UNKNOWN -> true;
      case ROOT, PROCESS, THREAD, CGROUP, REASON, IDLE -> false;
    };
  }

  /** What a thread of a process is for. All but the first are threads of the runtime itself. */
  public enum ThreadKind {
    /** It runs the program. */
    PROGRAM("", "", ""),
    GC("GC", "GC", "threads of the JVM that collect garbage"),
    COMPILER("JIT compiler", "JIT", "threads of the JVM that compile the program's methods"),
    VM("VM", "VM", "threads of the JVM for its own housekeeping");

    private final String label;
    private final String word;
    private final String sentence;

    ThreadKind(String label, String word, String sentence) {
      this.label = label;
      this.word = word;
      this.sentence = sentence;
    }

    /** The name of the node for such threads; empty for {@link #PROGRAM}, which has none. */
    public String label() {
      return label;
    }

    /** The same in a few letters. */
    public String word() {
      return word;
    }

    /** What such threads do; empty for {@link #PROGRAM}. */
    public String sentence() {
      return sentence;
    }

    /** The kind with this label; null if none has it. */
    public static @Nullable ThreadKind of(String label) {
      return Arrays.stream(values())
          .filter(kind -> kind != PROGRAM && kind.label.equals(label))
          .findFirst()
          .orElse(null);
    }
  }
}

package flametop.sampler;

import java.util.List;

/** Kind of a module. */
public final class ModuleKind extends OpenEnum {
  private static final Maker<ModuleKind> MAKER = new Maker<>(ModuleKind::new);

  public static final ModuleKind KERNEL = MAKER.next("kernel");
  public static final ModuleKind FILE = MAKER.next("file");
  public static final ModuleKind VDSO = MAKER.next("vdso");
  public static final ModuleKind JIT = MAKER.next("jit");
  public static final ModuleKind UNKNOWN = MAKER.next("unknown");

  /** Functions that CPython interprets. */
  public static final ModuleKind PYTHON = MAKER.next("python");

  /** Functions that PHP interprets. */
  public static final ModuleKind PHP = MAKER.next("php");

  /** Functions that Ruby interprets. */
  public static final ModuleKind RUBY = MAKER.next("ruby");

  private static final List<ModuleKind> BY_NUMBER = MAKER.byNumber("kind");

  private ModuleKind(int number, int known, String word) {
    super(number, known, word);
  }

  /** The kind with this number in the stream, 0 to 255. */
  public static ModuleKind of(int number) {
    return BY_NUMBER.get(number);
  }
}

package flametop.sampler;

import java.util.List;

/** Kind of a module. */
public final class ModuleKind extends OpenEnum {
  private static final int KNOWN = 8;

  public static final ModuleKind KERNEL = new ModuleKind(0);
  public static final ModuleKind FILE = new ModuleKind(1);
  public static final ModuleKind VDSO = new ModuleKind(2);
  public static final ModuleKind JIT = new ModuleKind(3);
  public static final ModuleKind UNKNOWN = new ModuleKind(4);

  /** Functions that CPython interprets. */
  public static final ModuleKind PYTHON = new ModuleKind(5);

  /** Functions that PHP interprets. */
  public static final ModuleKind PHP = new ModuleKind(6);

  /** Functions that Ruby interprets. */
  public static final ModuleKind RUBY = new ModuleKind(7);

  private static final List<ModuleKind> BY_NUMBER =
      byNumber(ModuleKind::new, KERNEL, FILE, VDSO, JIT, UNKNOWN, PYTHON, PHP, RUBY);

  private ModuleKind(int number) {
    super(number, KNOWN, "kind " + number);
  }

  /** The kind with this number in the stream, 0 to 255. */
  public static ModuleKind of(int number) {
    return BY_NUMBER.get(number);
  }
}

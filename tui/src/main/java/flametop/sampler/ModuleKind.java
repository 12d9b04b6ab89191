package flametop.sampler;

/**
 * Kind of a module. The stream gives it as a number; one that this version of flametop does not
 * know is known by its number only.
 */
public final class ModuleKind {
  private static final ModuleKind[] BY_NUMBER = new ModuleKind[256];

  public static final ModuleKind KERNEL = new ModuleKind(0);
  public static final ModuleKind FILE = new ModuleKind(1);
  public static final ModuleKind VDSO = new ModuleKind(2);
  public static final ModuleKind JIT = new ModuleKind(3);
  public static final ModuleKind UNKNOWN = new ModuleKind(4);

  private static final int KNOWN = 5;

  static {
    for (int number = KNOWN; number < BY_NUMBER.length; number++) {
      BY_NUMBER[number] = new ModuleKind(number);
    }
  }

  private final int number;

  private ModuleKind(int number) {
    this.number = number;
    BY_NUMBER[number] = this;
  }

  /** The one with this number in the stream, 0 to 255. */
  public static ModuleKind of(int number) {
    return BY_NUMBER[number];
  }

  /** The number in the stream. */
  public int number() {
    return number;
  }

  public boolean isKnown() {
    return number < KNOWN;
  }

  @Override
  public String toString() {
    return "kind " + number;
  }
}

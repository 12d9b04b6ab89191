package flametop.profile.file;

import flametop.array.BytesIndex;
import flametop.profile.answer.FoldedStack.Owner;
import flametop.profile.answer.NodeKind;
import flametop.profile.tree.Functions;
import flametop.sampler.CleanText;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * The names of the frames of files, by number: the bytes of each distinct name once. A name is
 * cleaned when it is first shown.
 *
 * <p>A function is a name, and whether the name stands outermost in its stack: there the name is a
 * comm or a process. The mark of its kind ({@link FoldedName}) is not shown. Profiles of other
 * programs say the module of a frame apart from its name; such a frame is another one in another
 * module.
 */
public final class StackNames implements Functions {
  /** Most chars of a name that are shown. */
  private static final int MAX_NAME = 4_096;

  /** The name that a live machine has for its kernel. */
  private static final String KERNEL = "[kernel]";

  private static final HexFormat HEX = HexFormat.of().withUpperCase();

  /** Stands between a name and its module. */
  private static final byte MODULE = 0;

  /** Memory of a name beside its bytes, at most, while the arrays grow, B. */
  private static final int NAME_BYTES = 128;

  private final int mostNames;
  private final BytesIndex index;
  private NodeKind[] kinds = new NodeKind[1 << 10];
  private final OwnerNames owners;
  private String[] clean = new String[1 << 10];
  private String[] modules = new String[1 << 10];
  private int illFormed;

  /** How many names are known. */
  private int known;

  StackNames() {
    this(
        (int) Math.min(1 << 30, Runtime.getRuntime().maxMemory() / 10),
        (int) Math.min(1 << 26, Runtime.getRuntime().maxMemory() / 5 / NAME_BYTES));
  }

  /**
   * @param mostBytes of all names together
   * @param mostNames how many names there may be
   */
  StackNames(int mostBytes, int mostNames) {
    index = new BytesIndex(mostBytes, mostNames);
    this.mostNames = mostNames;
    owners = new OwnerNames(this);
    intern("all".getBytes(StandardCharsets.UTF_8), 0, 3);
  }

  /** A copy for another thread, which shares the arrays that are never written again. */
  private StackNames(StackNames of) {
    mostNames = of.index.size();
    index = of.index.held();
    known = of.known;
    kinds = of.kinds;
    clean = of.clean;
    modules = of.modules;
    owners = of.owners;
  }

  /** The names that there are now; no more can be made. */
  StackNames held() {
    return new StackNames(this);
  }

  /** The function of the root. */
  static int root() {
    return 0;
  }

  static int function(int name, boolean outermost) {
    return name << 1 | (outermost ? 1 : 0);
  }

  /**
   * The number of the name that stands in {@code text} from {@code from} to before {@code to}; -1
   * if there is no room for another name.
   */
  int intern(byte[] text, int from, int to) {
    return know(index.row(text, from, to));
  }

  /** Keeps what is known of a name that may be new. */
  private int know(int name) {
    if (name < known) {
      return name;
    }
    known++;
    if (name == kinds.length) {
      int grown = 2 * name;
      kinds = Arrays.copyOf(kinds, grown);
      clean = Arrays.copyOf(clean, grown);
      modules = Arrays.copyOf(modules, grown);
    }
    byte[] bytes = index.bytes();
    int from = index.start(name);
    int to = index.end(name);
    int nameEnd = nameEnd(bytes, from, to);
    NodeKind owner = OwnerNames.kind(bytes, nameEnd, to);
    kinds[name] = owner == null ? FoldedName.kind(bytes, from, nameEnd) : owner;
    if (!isWellFormed(name)) {
      illFormed++;
    }
    return name;
  }

  /**
   * Where the name of a function ends, if that name stands in {@code text} from {@code from} on,
   * before a {@code ;} or {@code to}; -1 if another name stands there.
   */
  int endOf(int function, byte[] text, int from, int to) {
    int begin = index.start(function >> 1);
    int stop = index.end(function >> 1);
    int end = from + stop - begin;
    return (end == to || end < to && text[end] == ';')
            && Arrays.equals(index.bytes(), begin, stop, text, from, end)
        ? end
        : -1;
  }

  /** The number of a name as a file writes it; -1 if there is none. */
  int find(byte[] text) {
    return index.find(text, 0, text.length);
  }

  /** The name of a function as the file writes the name. */
  byte[] text(int function) {
    return Arrays.copyOfRange(index.bytes(), index.start(function >> 1), index.end(function >> 1));
  }

  static boolean isOutermost(int function) {
    return (function & 1) != 0;
  }

  private boolean isWellFormed(int name) {
    byte[] bytes = index.bytes();
    int from = index.start(name);
    int to = index.end(name);
    for (int i = from; i < to; i++) {
      if (bytes[i] < 0) {
        try {
          StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes, from, to - from));
          return true;
        } catch (CharacterCodingException e) {
          return false;
        }
      }
    }
    return true;
  }

  /** Bytes that are no UTF-8 become {@code \\xNN}: names that differ in them alone stay apart. */
  private static String escaped(byte[] text, int from, int length) {
    ByteBuffer bytes = ByteBuffer.wrap(text, from, Math.min(length, 4 * MAX_NAME));
    CharBuffer chars = CharBuffer.allocate(bytes.remaining());
    StringBuilder out = new StringBuilder();
    CharsetDecoder decoder = StandardCharsets.UTF_8.newDecoder();
    while (true) {
      CoderResult result = decoder.decode(bytes, chars, true);
      out.append(chars.flip());
      chars.clear();
      if (!result.isMalformed()) {
        return out.toString();
      }
      for (int i = 0; i < result.length(); i++) {
        out.append("\\x").append(HEX.toHexDigits(bytes.get()));
      }
    }
  }

  /** Where the name of a frame ends and what says its module begins; {@code to} without that. */
  static int nameEnd(byte[] text, int from, int to) {
    int at = from;
    while (at < to && text[at] != MODULE) {
      at++;
    }
    return at;
  }

  /**
   * A frame as {@link #intern} takes it: the name with the mark of its kind, and the module behind
   * a byte that no text has, unless the name says the module.
   */
  static byte[] text(NodeKind kind, String name, String module) {
    String clean = name.isEmpty() ? "-" : name.replace('\0', ' ');
    String file = module(module);
    String text =
        file.isEmpty() || kind.isOwner() || file.equals(moduleOf(clean, kind))
            ? FoldedName.of(kind, clean)
            : FoldedName.of(kind, clean) + (char) MODULE + file.replace('\0', ' ');
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** The owners among the names. */
  OwnerNames owners() {
    return owners;
  }

  @Override
  public Owner owner(int function) {
    Owner owner = OwnerNames.owner(text(function));
    return owner == null ? Owner.of(name(function)) : owner;
  }

  /** How many names there may be. */
  int most() {
    return mostNames;
  }

  /** How many names are not in UTF-8. */
  int illFormed() {
    return illFormed;
  }

  @Override
  public int functions() {
    return 2 * index.size();
  }

  @Override
  public String name(int function) {
    int name = function >> 1;
    if (clean[name] == null) {
      int stop = nameEnd(index.bytes(), index.start(name), index.end(name));
      int end = FoldedName.end(index.bytes(), index.start(name), stop);
      int length = end - index.start(name);
      String text =
          isWellFormed(name)
              ? CleanText.clean(index.bytes(), index.start(name), length, MAX_NAME)
              : CleanText.clean(escaped(index.bytes(), index.start(name), length), MAX_NAME);
      clean[name] = text.isEmpty() ? "-" : text;
    }
    return clean[name];
  }

  @Override
  public NodeKind kind(int function) {
    if (function == root()) {
      return NodeKind.ROOT;
    }
    NodeKind kind = kinds[function >> 1];
    return kind == NodeKind.USER && (function & 1) != 0 ? NodeKind.PROCESS : kind;
  }

  /**
   * The module that stands beside the function in the name: {@code module`function} (DTrace,
   * VTune), {@code function [module]} (bcc), {@code [module]} where the function is not known
   * (perf); {@code _[k]} is the kernel. Most names have none.
   */
  @Override
  public String module(int function) {
    int name = function >> 1;
    if (function == root() || kind(function).isOwner()) {
      return "";
    }
    if (modules[name] == null) {
      int stop = index.end(name);
      int end = nameEnd(index.bytes(), index.start(name), stop);
      modules[name] =
          end < stop
              ? module(CleanText.clean(index.bytes(), end + 1, stop - end - 1, MAX_NAME))
              : moduleOf(name(function), kinds[name]);
    }
    return modules[name];
  }

  private static String moduleOf(String name, NodeKind kind) {
    int quote = name.indexOf('`');
    String module = quote > 0 ? name.substring(0, quote) : "";
    if (module.isEmpty()
        && kind != NodeKind.REASON
        && kind != NodeKind.IDLE
        && name.endsWith("]")) {
      int open = name.lastIndexOf('[');
      if (open == 0 || open > 0 && name.charAt(open - 1) == ' ') {
        module = name.substring(open + 1, name.length() - 1);
        module = module.indexOf(' ') < 0 ? module : "";
      }
    }
    String file = module(module);
    return file.isEmpty() && kind == NodeKind.KERNEL ? KERNEL : file;
  }

  /** A module as it is shown: the file without its folders, one word for the kernel. */
  private static String module(String path) {
    String file = path.substring(path.lastIndexOf('/') + 1);
    return switch (file) {
      case "kernel", "kernel.kallsyms", "[kernel.kallsyms]", "[guest.kernel.kallsyms]" -> KERNEL;
      case "unknown", "[unknown]", "naming", "older" -> "";
      default -> file;
    };
  }

  /** The function with the name that a file would write. */
  @Override
  public int function(NodeKind kind, String module, String name) {
    if (kind == NodeKind.ROOT) {
      return root();
    }
    byte[] text = text(kind, name, module);
    return function(internAnyway(text), kind == NodeKind.PROCESS);
  }

  /** The number of a name that a step makes: such names are few. */
  int internAnyway(byte[] text) {
    return know(index.rowAnyway(text));
  }
}

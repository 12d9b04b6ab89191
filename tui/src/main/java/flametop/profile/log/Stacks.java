package flametop.profile.log;

import flametop.array.IntColumn;
import flametop.profile.answer.Function;
import flametop.profile.answer.NodeKind;
import flametop.profile.tree.Functions;
import flametop.profile.tree.Slots;
import flametop.sampler.IdSpace;
import flametop.sampler.ModuleKind;
import flametop.sampler.NameSource;
import flametop.sampler.WalkEnd;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * Modules, frames, stacks and functions. A frame is a place in a module, a function is what a node
 * of the graph stands for: kind, file name of the module, name. The first three have {@link Slots};
 * a stack is named by its slot outside of here. Functions are interned.
 *
 * <p>A stack is <i>named</i> when all its frames have their function. A second after it was seen,
 * frames that still have none get {@code module+0x…} until their name comes.
 */
public final class Stacks implements Functions {
  /** Stack of time that no sample has placed yet. */
  public static final int NOT_SAMPLED = -1;

  /**
   * Stack of time that a task neither ran, waited nor slept: interrupts on its CPU, or the
   * hypervisor.
   */
  public static final int STOLEN = -2;

  /** Stack of time so long ago that it is not known any more. */
  static final int OLDER = -3;

  private static final int REASONS = -4;

  private static final long PATIENCE_NANOS = 1_000_000_000L;
  private static final Pattern SOFTIRQ =
      Pattern.compile(
          "_*do_softirq|handle_softirqs(\\.\\w+)*|_*irq_exit_rcu|irq_exit|run_ksoftirqd");

  /** Function of the root of the graph. */
  public static final int ALL = 0;

  /** Function of the node below which a stack stands that has no names yet. */
  public static final int NAMING = 1;

  private static final int NO_FUNCTION = -1;

  /** Told when the path of a stack is another than before. */
  public interface Listener {
    void renamed(int stack);
  }

  private final Names names;

  private final Slots moduleSlots = new Slots();
  private final Slots frameSlots = new Slots();
  private final Slots stackSlots = new Slots();

  private String[] modulePath = new String[64];
  private String[] moduleFile = new String[64];
  private String[] moduleBuildId = new String[64];
  private ModuleKind[] moduleKind = new ModuleKind[64];

  private int[] frameId = new int[1024];
  private int[] frameModule = new int[1024];
  private long[] frameOffset = new long[1024];
  private int[] frameFunction = new int[1024];
  private byte[] frameFlags = new byte[1024];
  private int[] frameWaiters = new int[1024];

  private static final byte GUESSED = 1;
  private static final byte IS_ROOT = 2;
  private static final byte ASKED = 4;
  private static final byte STANDIN = 8;
  private static final byte SOFTIRQ_ENTRY = 16;
  private static final byte RENAMED = 32;

  /** Whether any frame is {@code RENAMED}; its stacks are looked for all at once. */
  private boolean renames;

  /**
   * Stacks that wait for the name of a frame, and what is free: lists through {@code waiterNext}.
   */
  private int waiters;

  private int freeWaiter = -1;
  private int[] waiterStack = new int[1024];
  private int[] waiterNext = new int[1024];

  private int[][] stackFrames = new int[1024][];
  private WalkEnd[] stackEnd = new WalkEnd[1024];
  private int[] stackUser = new int[1024];
  private int[] stackMissing = new int[1024];
  private long[] stackSeen = new long[1024];
  private boolean[] stackShown = new boolean[1024];
  private boolean[] stackChanged = new boolean[1024];

  private int[] changed = new int[64];
  private int changedCount;

  /** Stacks that wait for names, in the order they came. */
  private final ArrayDeque<Integer> patience = new ArrayDeque<>();

  private int functions;
  private long functionsMade;
  private Function[] function = new Function[1024];
  private final IntColumn freeFunctions = new IntColumn();
  private final int constants;
  private final Map<Function, Integer> known = new HashMap<>();
  private final int notSampled;
  private final int stolen;
  private final int older;
  private final int noStack;
  private final int[] reason = new int[WalkEnd.all().length];

  public Stacks(Names names) {
    this.names = names;
    function(NodeKind.ROOT, "", "all");
    function(NodeKind.REASON, "", "[naming]");
    notSampled = function(NodeKind.REASON, "", "[not sampled]");
    stolen = function(NodeKind.REASON, "", "[irq or stolen]");
    older = function(NodeKind.REASON, "", "[older]");
    noStack = function(NodeKind.REASON, "", "[no stack]");
    for (WalkEnd end : WalkEnd.all()) {
      reason[end.number()] =
          end == WalkEnd.ROOT ? noStack : function(NodeKind.REASON, "", "[" + end.reason() + "]");
    }
    constants = functions;
  }

  /** The stack of a sight without one. */
  public static int missing(WalkEnd why) {
    return REASONS - why.number();
  }

  @Override
  public int function(NodeKind kind, String module, String name) {
    Function key = new Function(kind, module, name);
    Integer found = known.get(key);
    if (found != null) {
      return found;
    }
    int number;
    if (freeFunctions.size > 0) {
      number = freeFunctions.items[--freeFunctions.size];
    } else {
      number = functions++;
      if (number == function.length) {
        function = Arrays.copyOf(function, 2 * number);
      }
    }
    functionsMade++;
    function[number] = key;
    known.put(key, number);
    return number;
  }

  /** All functions are below. */
  @Override
  public int functions() {
    return functions;
  }

  /** Stacks and functions that are kept. */
  public int size() {
    return stackSlots.size() + frameSlots.size() + known.size();
  }

  /** Memory that they take, about. */
  public long bytes() {
    return 200L * stackSlots.size() + 40L * frameSlots.size() + 150L * known.size();
  }

  /** How many there ever were. */
  public long made() {
    return stackSlots.taken() + frameSlots.taken() + functionsMade;
  }

  /** The slot of a stack. */
  public int slot(int stack) {
    return stackSlots.of(stack);
  }

  @Override
  public NodeKind kind(int function) {
    return this.function[function].kind();
  }

  @Override
  public String module(int function) {
    return this.function[function].module();
  }

  @Override
  public String name(int function) {
    return this.function[function].name();
  }

  public void moduleSeen(int id, ModuleKind kind, String path, String buildId) {
    int module = moduleSlots.introduce(id);
    if (module >= modulePath.length) {
      int length = Math.max(module + 1, 2 * modulePath.length);
      modulePath = Arrays.copyOf(modulePath, length);
      moduleFile = Arrays.copyOf(moduleFile, length);
      moduleBuildId = Arrays.copyOf(moduleBuildId, length);
      moduleKind = Arrays.copyOf(moduleKind, length);
    }
    modulePath[module] = path;
    moduleFile[module] = path.substring(path.lastIndexOf('/') + 1);
    moduleBuildId[module] = buildId;
    moduleKind[module] = kind;
  }

  public void frameSeen(int id, int module, long offset, boolean guessed) {
    int frame = frameSlots.introduce(id);
    if (frame >= frameModule.length) {
      int length = Math.max(frame + 1, 2 * frameModule.length);
      frameId = Arrays.copyOf(frameId, length);
      frameModule = Arrays.copyOf(frameModule, length);
      frameOffset = Arrays.copyOf(frameOffset, length);
      frameFunction = Arrays.copyOf(frameFunction, length);
      frameFlags = Arrays.copyOf(frameFlags, length);
      frameWaiters = Arrays.copyOf(frameWaiters, length);
    }
    frameId[frame] = id;
    frameModule[frame] = moduleSlots.of(module);
    frameOffset[frame] = offset;
    frameFunction[frame] = NO_FUNCTION;
    frameFlags[frame] = guessed ? GUESSED : 0;
    frameWaiters[frame] = -1;
  }

  /**
   * @param frames ids; the array is kept
   * @param now time of the stream, ns
   */
  public void stackSeen(int id, WalkEnd end, int user, int[] frames, long now) {
    for (int i = 0; i < frames.length; i++) {
      frames[i] = frameSlots.of(frames[i]);
    }
    int stack = stackSlots.introduce(id);
    if (stack >= stackFrames.length) {
      int length = Math.max(stack + 1, 2 * stackFrames.length);
      stackFrames = Arrays.copyOf(stackFrames, length);
      stackEnd = Arrays.copyOf(stackEnd, length);
      stackUser = Arrays.copyOf(stackUser, length);
      stackMissing = Arrays.copyOf(stackMissing, length);
      stackSeen = Arrays.copyOf(stackSeen, length);
      stackShown = Arrays.copyOf(stackShown, length);
      stackChanged = Arrays.copyOf(stackChanged, length);
    }
    stackFrames[stack] = frames;
    stackEnd[stack] = end;
    stackUser[stack] = user;
    stackSeen[stack] = now;
    int missing = 0;
    for (int frame : frames) {
      if (nameless(frame)) {
        missing++;
        wait(stack, frame);
      }
    }
    stackMissing[stack] = missing;
    stackShown[stack] = missing == 0;
    if (missing > 0) {
      patience.add(stack);
    }
  }

  /** The id that a frame has in the stream; {@link Slots#NONE} if the stream has forgotten it. */
  public int id(int frame) {
    return frameSlots.introduced(frame) ? frameId[frame] : Slots.NONE;
  }

  /** Whether a frame has no name yet; asks for it if nobody has. */
  private boolean nameless(int frame) {
    if (frameFunction[frame] != NO_FUNCTION && (frameFlags[frame] & STANDIN) == 0) {
      return false;
    }
    if ((frameFlags[frame] & ASKED) == 0) {
      frameFlags[frame] |= ASKED;
      Names.Name name = names.want(frameId[frame], place(frame));
      if (name != null) {
        set(frame, name);
        return false;
      }
    }
    return true;
  }

  private void wait(int stack, int frame) {
    int waiter = freeWaiter;
    if (waiter >= 0) {
      freeWaiter = waiterNext[waiter];
    } else {
      waiter = waiters++;
      if (waiter == waiterStack.length) {
        waiterStack = Arrays.copyOf(waiterStack, 2 * waiter);
        waiterNext = Arrays.copyOf(waiterNext, 2 * waiter);
      }
    }
    waiterStack[waiter] = stack;
    waiterNext[waiter] = frameWaiters[frame];
    frameWaiters[frame] = waiter;
  }

  private int freeWaiter(int waiter) {
    int next = waiterNext[waiter];
    waiterNext[waiter] = freeWaiter;
    freeWaiter = waiter;
    return next;
  }

  /** The name of a frame came; stacks that it completes are {@link #takeChanged changed}. */
  public void named(int id, NameSource source, String text) {
    int frame = frameSlots.of(id);
    Names.Name name = new Names.Name(source, text);
    names.answered(place(frame), name);
    boolean first = frameFunction[frame] == NO_FUNCTION || (frameFlags[frame] & STANDIN) != 0;
    int before = frameFunction[frame];
    set(frame, name);
    if (!first) {
      // A map of code made at run time came after the first answer.
      if (before != frameFunction[frame]) {
        frameFlags[frame] |= RENAMED;
        renames = true;
      }
      return;
    }
    for (int w = frameWaiters[frame]; w >= 0; w = freeWaiter(w)) {
      int stack = waiterStack[w];
      stackMissing[stack]--;
      if (stackMissing[stack] == 0 || stackShown[stack]) {
        stackShown[stack] = true;
        change(stack);
      }
    }
    frameWaiters[frame] = -1;
  }

  private void set(int frame, Names.Name name) {
    int module = frameModule[frame];
    NodeKind kind =
        name.source() == NameSource.UNKNOWN
            ? NodeKind.UNKNOWN
            : name.source() == NameSource.REASON ? NodeKind.REASON : kind(moduleKind[module]);
    String file = kind == NodeKind.REASON ? "" : moduleFile[module];
    frameFunction[frame] = function(kind, file, name.text());
    frameFlags[frame] &= ~STANDIN;
    if (name.source() == NameSource.ROOT) {
      frameFlags[frame] |= IS_ROOT;
    }
    if (kind == NodeKind.KERNEL && SOFTIRQ.matcher(name.text()).matches()) {
      frameFlags[frame] |= SOFTIRQ_ENTRY;
    }
  }

  private static NodeKind kind(ModuleKind module) {
    if (module == ModuleKind.KERNEL) {
      return NodeKind.KERNEL;
    }
    if (module == ModuleKind.JIT) {
      return NodeKind.JIT;
    }
    boolean user = module == ModuleKind.FILE || module == ModuleKind.VDSO;
    return user ? NodeKind.USER : NodeKind.UNKNOWN;
  }

  private Names.Place place(int frame) {
    int module = frameModule[frame];
    boolean same = moduleKind[module] == ModuleKind.KERNEL || !moduleBuildId[module].isEmpty();
    return same
        ? new Names.Place(modulePath[module], moduleBuildId[module], frameOffset[frame])
        : null;
  }

  private void change(int stack) {
    if (!stackChanged[stack]) {
      stackChanged[stack] = true;
      if (changedCount == changed.length) {
        changed = Arrays.copyOf(changed, 2 * changedCount);
      }
      changed[changedCount++] = stack;
    }
  }

  private void changeRenamed() {
    for (int stack = 0; stack < stackSlots.count(); stack++) {
      int[] frames = stackFrames[stack];
      for (int i = 0; frames != null && stackShown[stack] && i < frames.length; i++) {
        if ((frameFlags[frames[i]] & RENAMED) != 0) {
          change(stack);
          break;
        }
      }
    }
    for (int frame = 0; frame < frameFlags.length; frame++) {
      frameFlags[frame] &= ~RENAMED;
    }
  }

  /** Stacks that waited long enough for names are shown without them. */
  public void impatient(long now) {
    while (!patience.isEmpty() && now - stackSeen[patience.peek()] >= PATIENCE_NANOS) {
      int stack = patience.remove();
      if (!stackShown[stack]) {
        for (int frame : stackFrames[stack]) {
          if (frameFunction[frame] == NO_FUNCTION) {
            int module = frameModule[frame];
            String file = moduleFile[module].isEmpty() ? "[unknown]" : moduleFile[module];
            frameFunction[frame] =
                function(
                    NodeKind.UNKNOWN,
                    moduleFile[module],
                    file + "+0x" + Long.toHexString(frameOffset[frame]));
            frameFlags[frame] |= STANDIN;
          }
        }
        stackShown[stack] = true;
        change(stack);
      }
    }
  }

  /** These ids of the stream are given anew. */
  public void forget(IdSpace space, int[] ids) {
    Slots slots =
        switch (space) {
          case MODULE -> moduleSlots;
          case FRAME -> frameSlots;
          case STACK -> stackSlots;
          case PROCESS, TASK -> throw new IllegalArgumentException("no id of a stack: " + space);
        };
    for (int id : ids) {
      slots.forget(id);
    }
  }

  /**
   * Frees stacks, frames, modules and functions that nothing refers to any more. No change may be
   * waiting to be {@link #takeChanged taken}.
   *
   * @param kept stacks that somebody refers to
   * @param keptFunctions functions that somebody refers to; more are added here
   */
  public void sweep(BitSet kept, BitSet keptFunctions) {
    patience.forEach(kept::set);
    stackSlots.sweep(kept, stack -> stackFrames[stack] = null);
    BitSet keptFrames = new BitSet(frameSlots.count());
    for (int stack = 0; stack < stackSlots.count(); stack++) {
      if (stackSlots.used(stack)) {
        for (int frame : stackFrames[stack]) {
          keptFrames.set(frame);
        }
      }
    }
    for (int frame = 0; frame < frameSlots.count(); frame++) {
      if (frameSlots.used(frame)) {
        int before = -1;
        for (int w = frameWaiters[frame]; w >= 0; ) {
          if (stackSlots.used(waiterStack[w])) {
            before = w;
            w = waiterNext[w];
          } else if (before < 0) {
            w = frameWaiters[frame] = freeWaiter(w);
          } else {
            w = waiterNext[before] = freeWaiter(w);
          }
        }
      }
    }
    frameSlots.sweep(keptFrames, frame -> {});
    BitSet keptModules = new BitSet(moduleSlots.count());
    keptFunctions.set(0, constants);
    for (int frame = 0; frame < frameSlots.count(); frame++) {
      if (frameSlots.used(frame)) {
        keptModules.set(frameModule[frame]);
        if (frameFunction[frame] != NO_FUNCTION) {
          keptFunctions.set(frameFunction[frame]);
        }
      }
    }
    moduleSlots.sweep(
        keptModules,
        module -> {
          modulePath[module] = null;
          moduleFile[module] = null;
          moduleBuildId[module] = null;
        });
    for (int of = 0; of < functions; of++) {
      if (function[of] != null && !keptFunctions.get(of)) {
        known.remove(function[of]);
        function[of] = null;
        freeFunctions.add(of);
      }
    }
  }

  /** Tells of every stack whose path changed since the last call. */
  public void takeChanged(Listener listener) {
    if (renames) {
      renames = false;
      changeRenamed();
    }
    for (int i = 0; i < changedCount; i++) {
      stackChanged[changed[i]] = false;
      listener.renamed(changed[i]);
    }
    changedCount = 0;
  }

  /** Whether the path of a stack is more than {@link #NAMING}. */
  boolean shown(int stack) {
    return stack < 0 || stackShown[stack];
  }

  public WalkEnd end(int stack) {
    return stackEnd[stack];
  }

  /** Frames, outermost first: so many {@link #user user} frames, then kernel frames. */
  public int[] frames(int stack) {
    return stackFrames[stack];
  }

  public int user(int stack) {
    return stackUser[stack];
  }

  public int moduleOf(int frame) {
    return frameModule[frame];
  }

  public boolean guessed(int frame) {
    return (frameFlags[frame] & GUESSED) != 0;
  }

  /** Name of a module's file, without its folder. */
  public String moduleFile(int module) {
    return moduleFile[module];
  }

  /** Whether the kernel half of a stack handles a soft interrupt, as far as its names are known. */
  public boolean softirq(int stack) {
    if (stack >= 0) {
      int[] frames = stackFrames[stack];
      for (int i = stackUser[stack]; i < frames.length; i++) {
        if ((frameFlags[frames[i]] & SOFTIRQ_ENTRY) != 0) {
          return true;
        }
      }
    }
    return false;
  }

  /**
   * The function of the innermost frame, or of the innermost that is not the kernel's; null if
   * there is none, or its name is not known yet.
   */
  public Function innermost(int stack, boolean outsideKernel) {
    if (stack < 0 || !stackShown[stack]) {
      return null;
    }
    int index = (outsideKernel ? stackUser[stack] : stackFrames[stack].length) - 1;
    return index < 0 ? null : function[frameFunction[stackFrames[stack][index]]];
  }

  /**
   * The frame of the function at {@code index} of a path that {@link #path} gives; -1 if it stands
   * for none.
   */
  public int frame(int stack, boolean roots, int index) {
    if (!shown(stack) || stack < 0) {
      return -1;
    }
    int[] frames = stackFrames[stack];
    int at = stackEnd[stack] != WalkEnd.ROOT || frames.length == 0 ? 1 : 0;
    for (int frame : frames) {
      if (roots || (frameFlags[frame] & IS_ROOT) == 0) {
        if (at == index) {
          return frame;
        }
        at++;
      }
    }
    return -1;
  }

  /**
   * Appends the functions of a stack, outermost first, to what stands before it.
   *
   * @param guessed takes whether each was guessed
   */
  public void path(int stack, boolean roots, IntColumn path, IntColumn guessed) {
    if (stack < 0) {
      path.add(
          switch (stack) {
            case NOT_SAMPLED -> notSampled;
            case STOLEN -> stolen;
            case OLDER -> older;
            default -> reason[REASONS - stack];
          });
      guessed.add(0);
      return;
    }
    if (!stackShown[stack]) {
      path.add(NAMING);
      guessed.add(0);
      return;
    }
    int[] frames = stackFrames[stack];
    boolean reasoned =
        frames.length > 0 && function[frameFunction[frames[0]]].kind() == NodeKind.REASON;
    if (!reasoned && (stackEnd[stack] != WalkEnd.ROOT || frames.length == 0)) {
      path.add(reason[stackEnd[stack].number()]);
      guessed.add(0);
    }
    for (int frame : frames) {
      if (roots || (frameFlags[frame] & IS_ROOT) == 0) {
        path.add(frameFunction[frame]);
        guessed.add(frameFlags[frame] & GUESSED);
      }
    }
  }
}

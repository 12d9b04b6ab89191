package flametop.profile.log;

import flametop.array.IntColumn;
import flametop.array.LongColumn;
import flametop.profile.answer.Function;
import flametop.profile.answer.NodeKind;
import flametop.profile.tree.Slots;
import flametop.sampler.IdSpace;
import flametop.sampler.ModuleKind;
import flametop.sampler.NameSource;
import flametop.sampler.WalkEnd;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Modules, frames, stacks and functions. A frame is a place in a module, a function is what a node
 * of the graph stands for: kind, file name of the module, name. The first three have {@link Slots};
 * a stack is named by its slot outside of here. Functions are interned.
 *
 * <p>A stack is <i>named</i> when all its frames have their function. A second after it was seen,
 * frames that still have none get {@code module+0x…} until their name comes.
 */
public final class Stacks extends InternedFunctions {
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

  /** What the kernel adds to the path of a file that was replaced. */
  private static final String DELETED = " (deleted)";

  private static final long PATIENCE_NANOS = 1_000_000_000L;
  private static final Pattern SOFTIRQ =
      Pattern.compile(
          "_*do_softirq|handle_softirqs(\\.\\w+)*|_*irq_exit_rcu|irq_exit|run_ksoftirqd");

  /** Function of the root of the graph. */
  public static final int ALL = 0;

  /** Function of the node below which a stack stands that has no names yet. */
  public static final int NAMING = 1;

  /** Function of the frame that stands for the stacks of idle threads. */
  public static final int IDLE = 2;

  private static final int NO_FUNCTION = -1;

  /** Told when the path of a stack is another than before. */
  public interface Listener {
    void renamed(int stack);
  }

  private final Names names;

  private final Slots moduleSlots = new Slots();
  private final Slots frameSlots = new Slots();
  private final Slots stackSlots = new Slots();

  private record Module(ModuleKind kind, String path, String file, String buildId) {
    boolean isJvm() {
      boolean named = file.equals(JvmThreads.LIBRARY) || file.equals(JvmThreads.LIBRARY + DELETED);
      return kind == ModuleKind.FILE && named;
    }
  }

  private static final class Stack {
    final int[] frames;
    final WalkEnd end;

    /** How many of the frames, the first ones, are no kernel frames. */
    final int user;

    /** When the stack was seen, ns. */
    final long seen;

    /** Frames without a name. */
    int missing;

    boolean shown;
    boolean changed;
    boolean isOfJvm;

    /** Whether the stack {@linkplain WorkWaits waits for work}; null: not judged yet. */
    @Nullable Boolean idle;

    Stack(WalkEnd end, int user, int[] frames, long seen) {
      this.end = end;
      this.user = user;
      this.frames = frames;
      this.seen = seen;
    }
  }

  // By slot; null where nothing is kept.
  private final List<Module> modules = new ArrayList<>();
  private final List<Stack> stacks = new ArrayList<>();

  private final IntColumn frameId = new IntColumn();
  private final IntColumn frameModule = new IntColumn();
  private final LongColumn frameOffset = new LongColumn();
  private final IntColumn frameFunction = new IntColumn();
  private final IntColumn frameFlags = new IntColumn();
  private final Waiters waiters = new Waiters();

  private static final int GUESSED = 1;
  private static final int IS_ROOT = 2;
  private static final int ASKED = 4;
  private static final int STANDIN = 8;
  private static final int SOFTIRQ_ENTRY = 16;
  private static final int RENAMED = 32;
  private static final int LIMITED = 64;
  private static final int ADDRESS = 128;

  /** Whether any frame is {@code RENAMED}; its stacks are looked for all at once. */
  private boolean renames;

  private final IntColumn changed = new IntColumn();

  /** Stacks that wait for names, in the order they came. */
  private final ArrayDeque<Integer> patience = new ArrayDeque<>();

  /** Functions that are always kept are below. */
  private final int constants;

  private final int notSampled;
  private final int stolen;
  private final int older;
  private final int noStack;
  private final int[] reason = new int[WalkEnd.all().size()];

  public Stacks(Names names) {
    this.names = names;
    function(NodeKind.ROOT, "", "all");
    function(NodeKind.REASON, "", "[naming]");
    function(NodeKind.IDLE, "", "[idle]");
    notSampled = function(NodeKind.REASON, "", "[not sampled]");
    stolen = function(NodeKind.REASON, "", "[irq or stolen]");
    older = function(NodeKind.REASON, "", "[older]");
    noStack = function(NodeKind.REASON, "", "[no stack]");
    for (WalkEnd end : WalkEnd.all()) {
      reason[end.number()] =
          end == WalkEnd.ROOT ? noStack : function(NodeKind.REASON, "", "[" + end.reason() + "]");
    }
    constants = functions();
  }

  /** The stack of a sight without one. */
  public static int missing(WalkEnd why) {
    return REASONS - why.number();
  }

  /** Adds a stack to those that are kept; what is no stack is below zero. */
  static void keep(int stack, BitSet kept) {
    if (stack >= 0) {
      kept.set(stack);
    }
  }

  /** Stacks and functions that are kept. */
  public int size() {
    return stackSlots.size() + frameSlots.size() + kept();
  }

  /** Memory that they take, about. */
  public long bytes() {
    return 200L * stackSlots.size() + 40L * frameSlots.size() + 150L * kept();
  }

  /** How many there ever were. */
  public long made() {
    return stackSlots.taken() + frameSlots.taken() + functionsMade();
  }

  /** The slot of a stack. */
  public int slot(int stack) {
    return stackSlots.of(stack);
  }

  public void moduleSeen(int id, ModuleKind kind, String path, String buildId) {
    String file = path.substring(path.lastIndexOf('/') + 1);
    Slots.put(modules, moduleSlots.introduce(id), new Module(kind, path, file, buildId));
  }

  public void frameSeen(int id, int module, long offset, boolean guessed) {
    int frame = frameSlots.introduce(id);
    frameId.set(frame, id);
    frameModule.set(frame, moduleSlots.of(module));
    frameOffset.set(frame, offset);
    frameFunction.set(frame, NO_FUNCTION);
    frameFlags.set(frame, guessed ? GUESSED : 0);
  }

  /**
   * @param frames ids; the array is kept
   * @param now time of the stream, ns
   */
  public void stackSeen(int id, WalkEnd end, int user, int[] frames, long now) {
    for (int i = 0; i < frames.length; i++) {
      frames[i] = frameSlots.of(frames[i]);
    }
    int slot = stackSlots.introduce(id);
    Stack stack = new Stack(end, user, frames, now);
    Slots.put(stacks, slot, stack);
    for (int frame : frames) {
      stack.isOfJvm |= modules.get(frameModule.items[frame]).isJvm();
      if (nameless(frame)) {
        stack.missing++;
        waiters.add(frame, slot);
      }
    }
    stack.shown = stack.missing == 0;
    if (stack.missing > 0) {
      patience.add(slot);
    }
  }

  /** Whether a frame of a stack is in the library of a JVM. */
  public boolean isOfJvm(int stack) {
    return stack >= 0 && stacks.get(stack).isOfJvm;
  }

  /** The id that a frame has in the stream; {@link Slots#NONE} if the stream has forgotten it. */
  public int id(int frame) {
    return frameSlots.introduced(frame) ? frameId.items[frame] : Slots.NONE;
  }

  private boolean has(int frame, int flag) {
    return (frameFlags.items[frame] & flag) != 0;
  }

  private boolean hasName(int frame) {
    return frameFunction.items[frame] != NO_FUNCTION && !has(frame, STANDIN);
  }

  /** Whether a frame has no name yet; asks for it if nobody has. */
  private boolean nameless(int frame) {
    if (hasName(frame)) {
      return false;
    }
    if (!has(frame, ASKED)) {
      frameFlags.items[frame] |= ASKED;
      Names.Name name = names.want(frameId.items[frame], place(frame));
      if (name != null) {
        set(frame, name);
        return false;
      }
    }
    return true;
  }

  /** The name of a frame came; stacks that it completes are {@link #takeChanged changed}. */
  public void named(int id, NameSource source, String text) {
    int frame = frameSlots.of(id);
    Names.Name name = new Names.Name(source, text);
    names.answered(place(frame), name);
    boolean first = !hasName(frame);
    int before = frameFunction.items[frame];
    set(frame, name);
    if (!first) {
      // A map of code made at run time came after the first answer.
      if (before != frameFunction.items[frame]) {
        frameFlags.items[frame] |= RENAMED;
        renames = true;
      }
      return;
    }
    waiters.take(
        frame,
        slot -> {
          Stack stack = stacks.get(slot);
          stack.missing--;
          if (stack.missing == 0 || stack.shown) {
            stack.shown = true;
            change(slot);
          }
        });
  }

  private void set(int frame, Names.Name name) {
    Module module = modules.get(frameModule.items[frame]);
    boolean limited = name.source() == NameSource.LIMIT;
    NodeKind kind =
        limited || name.source() == NameSource.UNKNOWN
            ? NodeKind.UNKNOWN
            : name.source() == NameSource.REASON ? NodeKind.REASON : NodeKind.of(module.kind);
    String file = kind == NodeKind.REASON ? "" : module.file;
    frameFunction.items[frame] = function(kind, file, name.text());
    boolean start = name.source() == NameSource.FUNCTION_START;
    boolean softirq = kind == NodeKind.KERNEL && SOFTIRQ.matcher(name.text()).matches();
    frameFlags.items[frame] &= ~(STANDIN | LIMITED | ADDRESS);
    frameFlags.items[frame] |=
        (limited ? LIMITED : 0)
            | (kind == NodeKind.UNKNOWN || start ? ADDRESS : 0)
            | (name.source() == NameSource.ROOT ? IS_ROOT : 0)
            | (softirq ? SOFTIRQ_ENTRY : 0);
  }

  /** The place of a frame; null if the frame is in no file that stays what it is. */
  private Names.@Nullable Place place(int frame) {
    Module module = modules.get(frameModule.items[frame]);
    return module.kind == ModuleKind.KERNEL || !module.buildId.isEmpty()
        ? new Names.Place(module.path, module.buildId, frameOffset.items[frame])
        : null;
  }

  private void change(int slot) {
    stacks.get(slot).idle = null;
    if (!stacks.get(slot).changed) {
      stacks.get(slot).changed = true;
      changed.add(slot);
    }
  }

  private void changeRenamed() {
    for (int slot = 0; slot < stacks.size(); slot++) {
      Stack stack = stacks.get(slot);
      for (int i = 0; stack != null && stack.shown && i < stack.frames.length; i++) {
        if (has(stack.frames[i], RENAMED)) {
          change(slot);
          break;
        }
      }
    }
    for (int frame = 0; frame < frameFlags.size; frame++) {
      frameFlags.items[frame] &= ~RENAMED;
    }
  }

  /** Stacks that waited long enough for names are shown without them. */
  public void impatient(long now) {
    while (!patience.isEmpty() && now - stacks.get(patience.peek()).seen >= PATIENCE_NANOS) {
      int slot = patience.remove();
      Stack stack = stacks.get(slot);
      if (!stack.shown) {
        for (int frame : stack.frames) {
          if (frameFunction.items[frame] == NO_FUNCTION) {
            String file = modules.get(frameModule.items[frame]).file;
            String name = (file.isEmpty() ? "[unknown]" : file) + "+0x";
            name += Long.toHexString(frameOffset.items[frame]);
            frameFunction.items[frame] = function(NodeKind.UNKNOWN, file, name);
            frameFlags.items[frame] |= STANDIN;
          }
        }
        stack.shown = true;
        change(slot);
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
    stackSlots.sweep(kept, slot -> stacks.set(slot, null));
    BitSet keptFrames = new BitSet(frameSlots.count());
    for (Stack stack : stacks) {
      for (int i = 0; stack != null && i < stack.frames.length; i++) {
        keptFrames.set(stack.frames[i]);
      }
    }
    for (int frame = 0; frame < frameSlots.count(); frame++) {
      waiters.keep(frame, stackSlots::used);
    }
    frameSlots.sweep(keptFrames, frame -> {});
    BitSet keptModules = new BitSet(moduleSlots.count());
    keptFunctions.set(0, constants);
    for (int frame = 0; frame < frameSlots.count(); frame++) {
      if (frameSlots.used(frame)) {
        keptModules.set(frameModule.items[frame]);
        if (frameFunction.items[frame] != NO_FUNCTION) {
          keptFunctions.set(frameFunction.items[frame]);
        }
      }
    }
    moduleSlots.sweep(keptModules, module -> modules.set(module, null));
    free(keptFunctions);
  }

  /** Tells of every stack whose path changed since the last call. */
  public void takeChanged(Listener listener) {
    if (renames) {
      renames = false;
      changeRenamed();
    }
    for (int i = 0; i < changed.size; i++) {
      stacks.get(changed.items[i]).changed = false;
      listener.renamed(changed.items[i]);
    }
    changed.clear();
  }

  public WalkEnd end(int stack) {
    return stacks.get(stack).end;
  }

  /** Frames, outermost first: so many {@link #user user} frames, then kernel frames. */
  public int[] frames(int stack) {
    return stacks.get(stack).frames;
  }

  public int user(int stack) {
    return stacks.get(stack).user;
  }

  public int moduleOf(int frame) {
    return frameModule.items[frame];
  }

  public boolean guessed(int frame) {
    return has(frame, GUESSED);
  }

  /** Whether a frame has no symbol since there is no budget to read it. */
  public boolean nameLimited(int frame) {
    return has(frame, LIMITED);
  }

  /** Whether all frames of a stack have their names. */
  public boolean named(int stack) {
    return stacks.get(stack).missing == 0;
  }

  /**
   * Whether the answer to the question for the name of a frame was that there is none: the frame
   * shows an address, or the address where its function starts.
   */
  public boolean hasNoName(int frame) {
    return has(frame, ADDRESS);
  }

  /** The kind of the functions of a module. */
  public NodeKind moduleKind(int module) {
    return NodeKind.of(modules.get(module).kind);
  }

  /** Name of a module's file, without its folder. */
  public String moduleFile(int module) {
    return modules.get(module).file;
  }

  /** Whether the kernel half of a stack handles a soft interrupt, as far as its names are known. */
  public boolean softirq(int stack) {
    if (stack >= 0) {
      int[] frames = frames(stack);
      for (int i = user(stack); i < frames.length; i++) {
        if (has(frames[i], SOFTIRQ_ENTRY)) {
          return true;
        }
      }
    }
    return false;
  }

  /** The function of the innermost frame; null if there is none, or its name is not known yet. */
  public @Nullable Function innermost(int stack) {
    return isShown(stack) ? function(stack, frames(stack).length - 1) : null;
  }

  /**
   * The innermost function of the program itself: neither the kernel's nor one by which a C library
   * calls the kernel. Where all are of the C library, the innermost of these; null if there is
   * none, or names are not known yet.
   */
  public @Nullable Function innermostOwn(int stack) {
    if (!isShown(stack)) {
      return null;
    }
    int user = user(stack);
    for (int index = user - 1; index >= 0; index--) {
      Function function = function(stack, index);
      if (function != null
          && function.kind().isFrame()
          && !WorkWaits.isCLibrary(function.module())) {
        return function;
      }
    }
    return function(stack, user - 1);
  }

  /**
   * Whether a thread that sleeps with this stack waits for work, as far as names are known. The
   * answer is kept until a name of the stack changes.
   */
  public boolean idle(int stack) {
    if (!isShown(stack)) {
      return false;
    }
    Stack of = stacks.get(stack);
    if (of.idle == null) {
      List<Function> functions =
          Arrays.stream(of.frames).mapToObj(frame -> get(frameFunction.items[frame])).toList();
      of.idle = WorkWaits.idle(functions, of.user, of.end == WalkEnd.ROOT);
    }
    return of.idle;
  }

  /** Whether the path of a stack with frames is more than {@link #NAMING}. */
  private boolean isShown(int stack) {
    return stack >= 0 && stacks.get(stack).shown;
  }

  private @Nullable Function function(int stack, int index) {
    return index < 0 ? null : get(frameFunction.items[frames(stack)[index]]);
  }

  /**
   * The frame of the function at {@code index} of a path that {@link #path} gives; -1 if it stands
   * for none.
   */
  public int frame(int stack, boolean roots, int index) {
    if (!isShown(stack)) {
      return -1;
    }
    int[] frames = stacks.get(stack).frames;
    int at = stacks.get(stack).end != WalkEnd.ROOT || frames.length == 0 ? 1 : 0;
    for (int frame : frames) {
      if (roots || !has(frame, IS_ROOT)) {
        if (at == index) {
          return frame;
        }
        at++;
      }
    }
    return -1;
  }

  /**
   * Appends the functions of a stack, outermost first, to a path.
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
    Stack of = stacks.get(stack);
    if (!of.shown) {
      path.add(NAMING);
      guessed.add(0);
      return;
    }
    int[] functions = frameFunction.items;
    int[] flags = frameFlags.items;
    boolean reasoned = of.frames.length > 0 && kind(functions[of.frames[0]]) == NodeKind.REASON;
    if (!reasoned && (of.end != WalkEnd.ROOT || of.frames.length == 0)) {
      path.add(reason[of.end.number()]);
      guessed.add(0);
    }
    for (int frame : of.frames) {
      if (roots || (flags[frame] & IS_ROOT) == 0) {
        path.add(functions[frame]);
        guessed.add(flags[frame] & GUESSED);
      }
    }
  }
}

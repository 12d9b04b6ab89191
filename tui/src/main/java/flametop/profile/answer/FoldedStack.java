package flametop.profile.answer;

import flametop.sampler.State;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One stack with its time.
 *
 * @param names outermost first, clean; the first is the root order's ({@code comm}, {@code
 *     comm-pid}, …)
 * @param kinds of each name
 * @param modules file name of the module of each; empty where there is none
 * @param before the value that is compared with; 0 if nothing is compared
 * @param value amount, or samples
 * @param shares whose it is; their values add up to {@code value}. Empty where it is not known
 */
public record FoldedStack(
    String[] names,
    NodeKind[] kinds,
    String[] modules,
    long before,
    long value,
    List<Share> shares) {
  /** A stack that is compared with nothing. */
  public FoldedStack(
      String[] names, NodeKind[] kinds, String[] modules, long value, List<Share> shares) {
    this(names, kinds, modules, 0, value, shares);
  }

  /** Whether a frame of the stack is a function. */
  public boolean passesThrough(Function function) {
    for (int i = 0; i < names.length; i++) {
      if (names[i].equals(function.name())
          && modules[i].equals(function.module())
          && kinds[i] == function.kind()) {
        return true;
      }
    }
    return false;
  }

  /**
   * The part of a process or a thread in one state.
   *
   * @param pid 0 where it is not told apart any more
   * @param process its comm
   * @param tid 0 where it is that of all threads of the process, or is not known
   * @param thread its comm; empty if it is not known
   * @param state null where it is not known
   * @param value amount or samples, above 0
   * @param samples passes and samples of the CPU clock that saw it
   */
  public record Share(
      int pid,
      String process,
      int tid,
      String thread,
      @Nullable State state,
      long value,
      long samples) {
    /** The name of the state; empty where the state is not known. */
    public String stateLabel() {
      return state == null ? "" : state.label();
    }

    /** The same with another value. */
    public Share withValue(long other) {
      return new Share(pid, process, tid, thread, state, other, samples);
    }

    /** The two as one. */
    public Share plus(Share other) {
      return new Share(
          pid, process, tid, thread, state, value + other.value, samples + other.samples);
    }
  }

  /**
   * Whose a stack of a file is, as far as the file says.
   *
   * @param comm name of the process, or of what stands for one; a graph has it as outermost frame
   * @param pid 0 if the file does not say it
   * @param thread name of the thread; empty if the file does not say it
   * @param tid 0 if the file does not say it
   * @param cgroup path of the control group; empty if the file does not say it
   * @param state null if the file does not say it
   */
  public record Owner(
      String comm, int pid, String thread, int tid, String cgroup, @Nullable State state) {
    /** An owner of which only the name is known. */
    public static Owner of(String comm) {
      return new Owner(comm, 0, "", 0, "", null);
    }

    /** Whether there is more than the name. */
    public boolean isDetailed() {
      return pid > 0 || tid > 0 || !thread.isEmpty() || !cgroup.isEmpty() || state != null;
    }

    /** The name of the thread; that of the process where the file has no other. */
    public String threadName() {
      return thread.isEmpty() ? comm : thread;
    }

    /** The part of a stack that is this owner's. */
    public Share share(long value) {
      return new Share(
          pid, comm, tid, tid > 0 || !thread.isEmpty() ? threadName() : "", state, value, 0);
    }
  }
}

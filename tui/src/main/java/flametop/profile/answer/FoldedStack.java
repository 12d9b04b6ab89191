package flametop.profile.answer;

import flametop.sampler.State;
import java.util.List;

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
   * @param tid 0 where it is that of all threads of the process
   * @param thread its comm; empty without a tid
   * @param value amount or samples, above 0
   * @param samples passes and samples of the CPU clock that saw it
   */
  public record Share(
      int pid, String process, int tid, String thread, State state, long value, long samples) {
    /** The same with another value. */
    public Share withValue(long other) {
      return new Share(pid, process, tid, thread, state, other, samples);
    }

    /** The two as one. */
    public Share plus(Share other) {
      return new Share(
          pid, process, tid, thread, state, value + other.value, samples + other.samples);
    }

    public boolean sameAs(Share other) {
      return pid == other.pid
          && tid == other.tid
          && state == other.state
          && process.equals(other.process)
          && thread.equals(other.thread);
    }
  }
}

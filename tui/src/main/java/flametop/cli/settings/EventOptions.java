package flametop.cli.settings;

import flametop.sampler.CleanText;
import flametop.sampler.KernelSource;
import flametop.sampler.SamplerException;
import java.util.List;
import picocli.CommandLine.Option;

/** Which sources of events are on. */
public final class EventOptions {
  private static final int MAX_SPEC = 500;

  @Option(
      names = {"-e", "--event"},
      order = 7,
      paramLabel = "SPEC",
      description = {
        "a source of events, such as fault; events lists all",
        "Counts the events of a source, and takes stacks of some of them: fault, major-fault, switch, migrate (of the kernel); cycles, instructions, cache-miss, branch-miss (of the processor), each with :PERIOD; usdt:PROVIDER:NAME with -p, or usdt:FILE:PROVIDER:NAME; uprobe:FILE:FUNCTION and uretprobe:FILE:FUNCTION; kprobe:FUNCTION and kretprobe:FUNCTION; longjmp; wake and lock; tracepoint:CATEGORY:NAME, with /FILTER/ on its fields. Functions and names may be globs or /regular expressions/. Behind it, ,weight=arg1 (or a field, ret, dur, bytes) says what an event weighs, and ,unit=bytes what that is counted in. Repeatable."
      })
  private List<String> specs = List.of();

  @Option(
      names = "--force-probes",
      order = 8,
      hidden = true,
      description = {
        "more than 1000 probes for one source, too",
        "Puts in more than 1,000 probes for one source, too. Each call of a probed function takes longer, by some hundred ns to some µs: many of them slow the machine down."
      })
  private boolean force;

  /** Refuses a source that cannot be understood, before anything begins. */
  public void agree() throws SamplerException {
    for (String text : specs) {
      try {
        KernelSource.checkSpec(text);
      } catch (SamplerException e) {
        throw e.kind() == SamplerException.Kind.USAGE
            ? new SamplerException(
                e.kind(), "-e " + CleanText.clean(text, MAX_SPEC) + ": " + e.getMessage())
            : e;
      }
    }
  }

  /** Switches a source on. */
  public interface Switch {
    void on(int number, String spec);
  }

  /**
   * Switches all sources on.
   *
   * @param kernel what they are sources of
   * @param sources switches one on
   */
  public void switchOn(KernelSource kernel, Switch sources) {
    if (force) {
      kernel.forceProbes();
    }
    for (int i = 0; i < specs.size(); i++) {
      sources.on(i, specs.get(i));
    }
  }

  /**
   * The sources as they were given; the place of a source in the list is its number in the stream.
   */
  public List<String> specs() {
    return specs;
  }
}

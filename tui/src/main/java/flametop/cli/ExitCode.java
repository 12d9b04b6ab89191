package flametop.cli;

import flametop.cli.help.Reference.Entry;
import flametop.sampler.SamplerException;
import java.util.ArrayList;
import java.util.List;

/** How flametop ends, for all commands. */
public enum ExitCode {
  DONE(0, "Done."),
  FAILED(1, "Something failed; the message says what."),
  USAGE(2, "The command line is wrong."),
  NOT_POSSIBLE(
      3,
      "Not possible here: the kernel, privileges or packages are missing; the message says which."),
  TARGET_GONE(
      4,
      "The target (process, thread, control group) is not there, or has ended; or no source of events is as asked for."),
  INTERRUPTED(130, "A signal ended it early, such as that of Ctrl-C; the output is written.");

  private final int number;
  private final String sentence;

  ExitCode(int number, String sentence) {
    this.number = number;
    this.sentence = sentence;
  }

  /** The code as the shell sees it. */
  public int number() {
    return number;
  }

  /** All codes, with those that are not flametop's own, and when flametop ends with each. */
  static List<Entry> entries() {
    List<Entry> entries = new ArrayList<>();
    for (ExitCode code : values()) {
      entries.add(new Entry("" + code.number, code.sentence));
    }
    entries.add(
        new Entry(
            "128 + n",
            "Another signal n ended it; `record` writes its output at TERM and HUP too."));
    entries.add(new Entry("any", "With `-- COMMAND`: the exit code of the command."));
    return entries;
  }

  /** The code for a failure of this kind, which has the same name. */
  static ExitCode of(SamplerException.Kind kind) {
    return valueOf(kind.name());
  }
}

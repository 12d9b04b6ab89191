package flametop.cli;

import flametop.sampler.SamplerException;

/** How flametop ends, for all commands. */
public enum ExitCode {
  DONE(0),
  /** Something went wrong. */
  FAILED(1),
  /** The command line is wrong. */
  USAGE(2),
  /** This host, kernel or user cannot do it. */
  NOT_POSSIBLE(3),
  /** The process or thread is not there, or ended too early. */
  TARGET_GONE(4),
  /** A signal ended it early, such as that of Ctrl-C; what was sampled is written. */
  INTERRUPTED(130);

  private final int number;

  ExitCode(int number) {
    this.number = number;
  }

  /** As the shell sees it. */
  public int number() {
    return number;
  }

  /** The code for a failure of this kind. */
  static ExitCode of(SamplerException.Kind kind) {
    return switch (kind) {
      case FAILED -> FAILED;
      case NOT_POSSIBLE -> NOT_POSSIBLE;
      case TARGET_GONE -> TARGET_GONE;
    };
  }
}

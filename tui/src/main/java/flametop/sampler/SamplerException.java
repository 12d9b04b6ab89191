package flametop.sampler;

import java.io.IOException;

/**
 * Sampling cannot begin or go on. The message is one line for people: what happened, to which
 * thing, what mends it.
 */
public final class SamplerException extends IOException {
  /** The kinds of failures, in the order of their codes, of which the first is 1. */
  public enum Kind {
    FAILED,
    USAGE,
    NOT_POSSIBLE,
    TARGET_GONE
  }

  private final Kind kind;

  public SamplerException(Kind kind, String message) {
    super(message);
    this.kind = kind;
  }

  /**
   * @param text {@code CODE\tmessage}, as the native side writes it; a text without a known code
   *     counts as failed
   */
  public SamplerException(String text) {
    this(kindOf(text), CleanText.clean(text.substring(text.indexOf('\t') + 1), 2_000));
  }

  public Kind kind() {
    return kind;
  }

  private static Kind kindOf(String text) {
    for (Kind k : Kind.values()) {
      if (text.startsWith(k.ordinal() + 1 + "\t")) {
        return k;
      }
    }
    return Kind.FAILED;
  }
}

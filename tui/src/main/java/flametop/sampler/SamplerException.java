package flametop.sampler;

import java.io.IOException;

/**
 * Sampling cannot begin or go on. The message is one line for people: what happened, to which
 * thing, what mends it.
 */
public final class SamplerException extends IOException {
  /** The kinds of failures; each has an exit code of its own. */
  public enum Kind {
    FAILED(1),
    USAGE(2),
    NOT_POSSIBLE(3),
    TARGET_GONE(4);

    private final int code;

    Kind(int code) {
      this.code = code;
    }
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
      if (text.startsWith(k.code + "\t")) {
        return k;
      }
    }
    return Kind.FAILED;
  }
}

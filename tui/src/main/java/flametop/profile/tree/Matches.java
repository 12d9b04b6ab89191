package flametop.profile.tree;

import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Which functions match a pattern; kept as long as the pattern is the same. */
public final class Matches extends Known {
  /** Far more than a plain expression needs, and done within a millisecond. */
  private static final int LOOKS = 10_000;

  private static final int LOOKS_PER_CHARACTER = 64;

  /** An expression that is too costly for so many names is given up. */
  private static final int MOST_EXHAUSTED = 50;

  private final Functions functions;

  /** Null before the first. */
  private @Nullable Pattern pattern;

  private int exhausted;

  public Matches(Functions functions) {
    this.functions = functions;
  }

  /** Takes a pattern, of which the next questions are. */
  public void use(Pattern wanted) {
    if (!same(pattern, wanted)) {
      pattern = wanted;
      forget();
    }
  }

  @Override
  void forget() {
    super.forget();
    exhausted = 0;
  }

  /** Whether two patterns, or none, match the same. */
  public static boolean same(@Nullable Pattern a, @Nullable Pattern b) {
    return a == b
        || a != null && b != null && a.pattern().equals(b.pattern()) && a.flags() == b.flags();
  }

  /** How often a text may be looked at. */
  public static int looks(String text) {
    return LOOKS + LOOKS_PER_CHARACTER * text.length();
  }

  @Override
  boolean ask(int function) {
    if (pattern == null) {
      throw new IllegalStateException("no pattern is in use");
    }
    if (exhausted > MOST_EXHAUSTED) {
      return false;
    }
    String name = functions.name(function);
    try {
      return pattern.matcher(new BoundedText(name, looks(name))).find();
    } catch (BoundedText.Exhausted e) {
      exhausted++;
      return false;
    } catch (StackOverflowError e) {
      // Some patterns recurse for every character, and names may be long.
      return false;
    }
  }
}

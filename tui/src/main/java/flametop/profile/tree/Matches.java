package flametop.profile.tree;

import java.util.Arrays;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Which functions match a pattern; kept as long as the pattern is the same. */
public final class Matches {
  private static final byte MATCHES = 1;
  private static final byte DIFFERS = 2;

  /** Far more than a plain expression needs, and done within a millisecond. */
  private static final int LOOKS = 10_000;

  private static final int LOOKS_PER_CHARACTER = 64;

  /** An expression that is too costly for so many names is given up. */
  private static final int MOST_EXHAUSTED = 50;

  /** Null: what is known of functions is of no pattern. */
  private @Nullable Pattern pattern;

  private int exhausted;
  private byte[] of = new byte[0];

  /** Functions may be others from now on. */
  public void forget() {
    pattern = null;
  }

  public void use(Pattern wanted, int functions) {
    if (!same(pattern, wanted)) {
      pattern = wanted;
      exhausted = 0;
      of = new byte[functions];
    } else if (functions > of.length) {
      of = Arrays.copyOf(of, 2 * functions);
    }
  }

  public boolean matches(Functions functions, int function) {
    if (of[function] == 0) {
      if (pattern == null) {
        throw new IllegalStateException("no pattern is in use");
      }
      of[function] = find(pattern, functions.name(function)) ? MATCHES : DIFFERS;
    }
    return of[function] == MATCHES;
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

  private boolean find(Pattern pattern, String name) {
    if (exhausted > MOST_EXHAUSTED) {
      return false;
    }
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

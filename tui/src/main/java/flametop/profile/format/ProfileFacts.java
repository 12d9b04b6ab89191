package flametop.profile.format;

import java.util.List;

/**
 * What a profile says of itself.
 *
 * @param beginNanos when it begins, ns since 1970; 0 if it does not say so
 * @param lengthNanos how long it is; 0 if it does not say so
 * @param period one sample is taken for so much of the period's type; 0 if it does not say so
 * @param comments lines for people
 */
public record ProfileFacts(
    long beginNanos,
    long lengthNanos,
    String periodType,
    String periodUnit,
    long period,
    List<String> comments) {
  /** It says nothing. */
  public static final ProfileFacts NONE = new ProfileFacts(0, 0, "", "", 0, List.of());

  /** The same with other comments. */
  public ProfileFacts withComments(List<String> others) {
    return new ProfileFacts(beginNanos, lengthNanos, periodType, periodUnit, period, others);
  }
}

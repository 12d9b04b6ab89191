package flametop.export;

import flametop.profile.FoldedStack;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * What is exported: the same numbers in every format.
 *
 * @param unit of the values
 * @param stacks in the unit, in order of their names, no two with the same path
 * @param total sum of their values
 */
public record StackExport(Provenance provenance, Unit unit, List<FoldedStack> stacks, long total) {
  /**
   * Turns the profile's numbers into the unit. What is less than one goes on to the next, so that
   * every sum is right to one.
   *
   * @param measured in ns, or in samples if that is the unit; in order of their names
   */
  public static StackExport of(Provenance provenance, Unit unit, List<FoldedStack> measured) {
    List<FoldedStack> stacks = new ArrayList<>(measured.size());
    long total = 0;
    long rest = 0;
    for (FoldedStack stack : measured) {
      List<FoldedStack.Share> shares = new ArrayList<>(stack.shares().size());
      long value = 0;
      if (stack.shares().isEmpty()) {
        rest += stack.value();
        value = rest / unit.parts();
        rest -= value * unit.parts();
      }
      for (FoldedStack.Share share : stack.shares()) {
        rest += share.value();
        long whole = rest / unit.parts();
        rest -= whole * unit.parts();
        if (whole > 0) {
          shares.add(share.withValue(whole));
          value += whole;
        }
      }
      if (value > 0) {
        stacks.add(new FoldedStack(stack.names(), stack.kinds(), stack.modules(), value, shares));
        total += value;
      }
    }
    return new StackExport(provenance, unit, stacks, total);
  }

  /** How much it is, for people: {@code 1,234 stacks, 12.345 s of task time}. */
  public String describe() {
    return String.format(
        Locale.ROOT,
        unit == Unit.US ? "%,d stacks, %.3f s of task time" : "%,d stacks, %,.0f samples",
        stacks.size(),
        unit == Unit.US ? total / 1e6 : (double) total);
  }
}

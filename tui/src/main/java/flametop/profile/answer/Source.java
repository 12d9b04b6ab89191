package flametop.profile.answer;

import flametop.sampler.Call;
import java.util.List;

/**
 * Where a node of the graph is in the source. A node is a function; threads were seen at several
 * places in it.
 *
 * @param node as it was asked for
 * @param name of the node
 * @param weight its amount in the states asked for
 * @param places heaviest first
 * @param others how many places more there are
 */
public record Source(long node, String name, long weight, List<Place> places, int others) {
  /**
   * One place, or several of the same line.
   *
   * @param weight amount seen there
   * @param calls the function and what was inlined into it there, outermost first; empty where that
   *     is not known
   * @param missing why not; empty as long as the answer is awaited
   */
  public record Place(long weight, List<Call> calls, String missing) {}
}

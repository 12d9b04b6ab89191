package flametop.profile;

import java.util.Set;

/**
 * Narrows what is shown, the past included; sampling goes on as started. Empty sets admit all;
 * within a set any may match, between the sets all must.
 *
 * @param tgids processes
 * @param comms of the thread or of its process, clean
 * @param uids users
 */
public record TaskFilter(Set<Integer> tgids, Set<String> comms, Set<Integer> uids) {
  public static final TaskFilter NONE = new TaskFilter(Set.of(), Set.of(), Set.of());
}

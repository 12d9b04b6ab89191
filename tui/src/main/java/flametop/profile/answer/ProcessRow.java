package flametop.profile.answer;

/**
 * A row of the pick list of processes; of the lists of comms and control groups, where {@code pid}
 * is 0 and {@code processes} may be above one.
 *
 * @param comm or path of a control group, as in {@link Shape.Cgroups}
 * @param weight amount in the window and states asked for
 * @param total the same of all processes
 * @param tasksByState its tasks now, by {@link flametop.sampler.State#ordinal()}
 */
public record ProcessRow(
    int pid,
    int processes,
    int uid,
    String comm,
    String commandLine,
    long weight,
    long total,
    int[] tasksByState,
    boolean alive) {}

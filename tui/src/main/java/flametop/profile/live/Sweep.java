package flametop.profile.live;

import flametop.profile.log.ChangeLog;
import flametop.profile.log.OwnerTimes;
import flametop.profile.log.Owners;
import flametop.profile.log.Stacks;
import flametop.profile.log.TaskStates;
import flametop.profile.tree.Paths;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Frees the owners, processes, stacks, frames, modules and functions that the stream has forgotten
 * and that nothing here refers to any more. A sweep goes over all that may refer to them. So the
 * next one is due when a quarter as much was made as this one kept: each new thing costs the same.
 */
final class Sweep {
  private static final int SOONEST = 16_384;

  private final ChangeLog log;
  private final Intake intake;
  private final Owners owners;
  private final Stacks stacks;
  private long due = SOONEST;

  Sweep(ChangeLog log, Intake intake, Owners owners, Stacks stacks) {
    this.log = log;
    this.intake = intake;
    this.owners = owners;
    this.stacks = stacks;
  }

  boolean due() {
    return owners.made() + stacks.made() >= due;
  }

  /**
   * @param folds all folds
   * @param retired the paths of trees that were shown before
   * @param times all times of tasks
   * @param tasks of a moment that is held; null if none is
   */
  void run(
      List<LogFold> folds,
      List<Paths> retired,
      List<OwnerTimes> times,
      @Nullable TaskStates tasks) {
    BitSet keptOwners = new BitSet();
    BitSet keptStacks = new BitSet();
    BitSet keptFunctions = new BitSet();
    log.mark(keptOwners, keptStacks);
    intake.mark(keptOwners, keptStacks);
    if (tasks != null) {
      tasks.mark(keptOwners, keptStacks);
    }
    // History that is compared with may be gone from the log.
    times.forEach(of -> of.mark(keptOwners));
    folds.forEach(fold -> fold.trie.mark(keptOwners, keptStacks, keptFunctions));
    for (Paths paths : retired) {
      for (int node = 0; node < paths.nodes(); node++) {
        keptFunctions.set(paths.function(node));
      }
    }
    intake.quality().keep(keptStacks);
    owners.sweep(
        keptOwners,
        owner -> times.forEach(of -> of.ownerFreed(owner)),
        process -> folds.forEach(fold -> fold.processFreed(process)));
    stacks.sweep(keptStacks, keptFunctions);
    folds.forEach(LogFold::swept);
    due = owners.made() + stacks.made() + Math.max(SOONEST, (owners.size() + stacks.size()) / 4);
  }
}

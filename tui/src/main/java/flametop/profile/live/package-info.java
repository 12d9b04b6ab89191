/**
 * The profile of a running machine or a recorded stream: the intake fills the log, folds place its
 * time on tries, and the profile answers questions on a thread of its own. Others touch {@link
 * flametop.profile.live.Profile} alone. This room never knows a screen, and no file of stacks.
 */
@NullMarked
package flametop.profile.live;

import org.jspecify.annotations.NullMarked;

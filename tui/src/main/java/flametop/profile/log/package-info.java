/**
 * The history of a run: the log of changes, the tasks that own time, the stacks, and the accounts
 * that turn samples into changes. One thread writes here; readers go over the log with a cursor of
 * their own. This room never knows a graph, and never a question of the screen.
 */
@NullMarked
package flametop.profile.log;

import org.jspecify.annotations.NullMarked;

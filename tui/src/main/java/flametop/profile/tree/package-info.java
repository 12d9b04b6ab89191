/**
 * Call trees, whatever they are folded from: the graph that is shown, its next shape, lookups by
 * name, searches, the list of functions, the visible part. A {@link flametop.profile.tree.Store}
 * folds its stacks into a {@link flametop.profile.tree.CallTree} of each shape; the readers change
 * no tree. This room never knows where time comes from.
 */
@NullMarked
package flametop.profile.tree;

import org.jspecify.annotations.NullMarked;

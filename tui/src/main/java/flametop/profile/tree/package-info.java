/**
 * Reading of any call tree: lookups by name, searches, the list of functions, the visible part of a
 * graph. Live tries and trees of files hand their nodes in as a {@link
 * flametop.profile.tree.CallTree}; the readers change none of them. This room never knows where
 * time comes from.
 */
@NullMarked
package flametop.profile.tree;

import org.jspecify.annotations.NullMarked;

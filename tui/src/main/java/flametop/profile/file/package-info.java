/**
 * Stacks that a file holds: reading of all formats, folding into a tree, the reversed tree, and the
 * answers to the same questions that a live profile answers. Others touch {@link
 * flametop.profile.file.StackFiles}. This room never knows the log, a task or a clock.
 */
@NullMarked
package flametop.profile.file;

import org.jspecify.annotations.NullMarked;

/**
 * Profiles of other programs. A reader finds the stacks of one format in bytes that nobody has
 * checked, and hands the stacks to a sink.
 */
@NullMarked
package flametop.profile.format;

import org.jspecify.annotations.NullMarked;

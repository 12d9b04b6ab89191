/**
 * The usage of the machine: CPUs, idle states, load. The intake writes one record at a time; the
 * profile reads a report for each picture. This room never knows a stack.
 */
@NullMarked
package flametop.profile.host;

import org.jspecify.annotations.NullMarked;

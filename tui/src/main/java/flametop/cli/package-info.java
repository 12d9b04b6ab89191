/**
 * The command line: commands, options, settings, exit codes, and the messages of failures. All
 * other rooms are put together here, and none of them knows this one.
 */
@NullMarked
package flametop.cli;

import org.jspecify.annotations.NullMarked;

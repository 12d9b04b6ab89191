/**
 * What the program says of itself: commands, options, keys, formats and exit codes as entries, for
 * {@code flametop help}, for completion in shells, and for {@code docs/}. Only the commands
 * themselves and the keys are asked. This room never knows what a command does.
 */
@NullMarked
package flametop.cli.help;

import org.jspecify.annotations.NullMarked;

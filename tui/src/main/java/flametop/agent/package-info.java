/**
 * Sampling without an end, whose profiles go to a store of others: makes a profile of each
 * interval, keeps profiles in a spool, sends the oldest, and counts what became of each. Knows
 * neither a command line nor a screen.
 */
@NullMarked
package flametop.agent;

import org.jspecify.annotations.NullMarked;

/**
 * Stacks as files of others: folded, speedscope, pprof, HTML, SVG. Everything that flametop writes
 * for good goes through {@link flametop.export.OutputFile}, and is there whole or not at all. This
 * room never knows a screen, nor who asks.
 */
@NullMarked
package flametop.export;

import org.jspecify.annotations.NullMarked;

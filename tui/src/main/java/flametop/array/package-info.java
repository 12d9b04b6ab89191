/**
 * Columns: growing arrays by row, and an index that finds the row of a key. Any room may keep its
 * rows in columns. This room never knows what a row stands for.
 */
@NullMarked
package flametop.array;

import org.jspecify.annotations.NullMarked;

/**
 * The tables: functions, tasks, CPUs, idle states, quality. Each is one class: its columns, its
 * rows, and its verbs; {@code Table} sorts, scrolls, marks, searches and paints for all of them.
 * Like the screen above, this room may use painters and keys; it never knows another view.
 */
@NullMarked
package flametop.view.table;

import org.jspecify.annotations.NullMarked;

/**
 * The choices of the user, immutable: view, place, search, lists, tables, shape, key bindings, and
 * what the outside world is asked to do. Keys make the next state of the one before; anybody reads
 * it. This room never knows how wide a screen is, nor where anything stands on one.
 */
@NullMarked
package flametop.view.state;

import org.jspecify.annotations.NullMarked;

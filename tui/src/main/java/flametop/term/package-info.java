/**
 * The screen on a terminal: takes the terminal, turns its bytes into events, asks the source for
 * pictures, writes the cells that changed, gives the terminal back. This room never knows the
 * meaning of a key, nor how a picture is made.
 */
@NullMarked
package flametop.term;

import org.jspecify.annotations.NullMarked;

/**
 * The meaning of keys and of the mouse: pure functions from a scene, a state and an action to the
 * next step. Keys may touch nothing; effects are requests to the world. This room never knows a
 * colour; only the layout tells it the place of a thing.
 */
@NullMarked
package flametop.view.keys;

import org.jspecify.annotations.NullMarked;

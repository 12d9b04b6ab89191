/**
 * The cells of a picture: pure functions from a scene to a grid, one painter a panel. A painter may
 * touch the grid alone. This room never knows a key; only the layout tells it the place of a thing.
 */
@NullMarked
package flametop.view.paint;

import org.jspecify.annotations.NullMarked;

/**
 * The cells of a picture: pure functions from a scene to a grid, one painter a panel. A painter may
 * touch the grid alone. This room never knows what a key does, and asks nobody where a thing stands
 * but the layout.
 */
package flametop.view.paint;

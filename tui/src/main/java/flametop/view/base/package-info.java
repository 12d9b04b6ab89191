/**
 * The words of the screen: actions, keys, roles and paints, the grid of cells, names in less room,
 * zones. Every room above uses these values, and none of them holds anything of a picture. This
 * room never knows the state of the user.
 */
@NullMarked
package flametop.view.base;

import org.jspecify.annotations.NullMarked;

/**
 * The places of things in one picture: a scene of snapshot, state and size, and its zones. Painters
 * and keys read zones; nobody else knows the place of a thing. This room never paints, and never
 * decides what a key does.
 */
@NullMarked
package flametop.view.layout;

import org.jspecify.annotations.NullMarked;

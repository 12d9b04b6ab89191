/**
 * The places of things in one picture: a scene of snapshot, state and size, and its zones. Painters
 * and keys read zones, and nobody else says where something stands. This room never paints, and
 * never decides what a key does.
 */
package flametop.view.layout;

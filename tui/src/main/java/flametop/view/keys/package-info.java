/**
 * The meaning of keys and of the mouse: pure functions from a scene, a state and an action to the
 * next step. Keys may touch nothing; effects say what the world is asked to do. This room never
 * knows a colour, and asks nobody where a thing stands but the layout.
 */
package flametop.view.keys;

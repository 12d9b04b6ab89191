/**
 * The whole screen: the keys and the painter of each view, put together. The terminal and the
 * command line enter here: {@link flametop.view.screen.Keys} takes what the user does, {@link
 * flametop.view.screen.Painter} paints a scene. This room never knows a terminal.
 */
@NullMarked
package flametop.view.screen;

import org.jspecify.annotations.NullMarked;

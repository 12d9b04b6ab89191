/**
 * The terminal as a device: the bytes that it is sent, and the bytes that it sends as keys, as
 * events of the mouse and as reports. The screen touches {@link flametop.term.device.FlameTerminal}
 * and {@link flametop.term.device.TerminalInput}. This room never knows what a screen shows, nor
 * what a key does.
 */
@NullMarked
package flametop.term.device;

import org.jspecify.annotations.NullMarked;

/**
 * The terminal as a device: bytes that go there, and bytes that come back as keys, as events of the
 * mouse and as reports. The screen touches {@link flametop.term.device.FlameTerminal} and {@link
 * flametop.term.device.TerminalInput}. This room never knows what a screen shows, nor what a key
 * does.
 */
@NullMarked
package flametop.term.device;

import org.jspecify.annotations.NullMarked;

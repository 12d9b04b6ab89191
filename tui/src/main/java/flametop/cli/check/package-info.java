/** The self-test: flametop tries itself on this machine. */
@NullMarked
package flametop.cli.check;

import org.jspecify.annotations.NullMarked;

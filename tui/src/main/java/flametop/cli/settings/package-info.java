/** What the user has set: options that several commands have, and the settings file. */
@NullMarked
package flametop.cli.settings;

import org.jspecify.annotations.NullMarked;

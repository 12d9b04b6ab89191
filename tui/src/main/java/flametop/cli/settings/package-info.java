/**
 * What the user has set: options that several commands have, the settings file, what is remembered.
 */
@NullMarked
package flametop.cli.settings;

import org.jspecify.annotations.NullMarked;

package flametop.profile.file;

import flametop.profile.answer.NodeKind;

/**
 * A stack of a file, or of two that are compared.
 *
 * @param names outermost first, clean
 * @param kinds of each name
 * @param before what it counted before; 0 if nothing is compared
 * @param now what it counts
 */
public record ComparedStack(String[] names, NodeKind[] kinds, long before, long now) {}

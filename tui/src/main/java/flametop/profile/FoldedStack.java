package flametop.profile;

/**
 * One line of folded stacks.
 *
 * @param names outermost first, clean; the first is the root order's ({@code comm}, {@code
 *     comm-pid}, …)
 * @param kinds of each name
 * @param value ns or samples
 */
public record FoldedStack(String[] names, NodeKind[] kinds, long value) {}

package flametop.profile;

/**
 * Who calls a function, and what it calls, within the shape of the graph. Of recursive calls the
 * outermost counts, so both have the same total.
 *
 * @param callers the function at its top (below what the graph is grouped by), its callers below it
 * @param callees the function at its top, what it calls below it
 * @param total ns with the function on the stack, in the states asked for
 * @param selection the selected node
 * @param refolding the past is still being folded
 */
public record Sandwich(
    Function function,
    GraphSlice callers,
    GraphSlice callees,
    long total,
    Selection selection,
    boolean refolding)
    implements Page {}

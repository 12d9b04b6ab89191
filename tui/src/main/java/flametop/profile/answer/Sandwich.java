package flametop.profile.answer;

import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Who calls a function, and what it calls, within the shape of the graph. Of recursive calls the
 * outermost counts, so both have the same total. Whatever the graph is grouped by, a sandwich is
 * not: it has one function in its middle.
 *
 * @param callers its root, below that the function, below that its callers
 * @param callees its root, below that the function, below that what it calls
 * @param total amount with the function on the stack, in the states asked for
 * @param self amount of that in the function itself, also where it was called by itself
 * @param totalByState amounts with the function on the stack by {@link
 *     flametop.sampler.State#ordinal()}, all states
 * @param selection the selected node
 * @param search what was looked for; null if nothing was
 * @param refolding the past is still being folded
 */
public record Sandwich(
    Function function,
    GraphSlice callers,
    GraphSlice callees,
    long total,
    long self,
    long[] totalByState,
    Selection selection,
    @Nullable Pattern search,
    boolean refolding)
    implements Page {}

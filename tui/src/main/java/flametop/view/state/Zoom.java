package flametop.view.state;

import flametop.profile.answer.Siblings;
import org.jspecify.annotations.Nullable;

/**
 * One step into the graph.
 *
 * @param node the node that fills the width
 * @param siblings the only children that are shown: an opened run of thin frames; null for all
 *     children
 */
public record Zoom(long node, @Nullable Siblings siblings) {}

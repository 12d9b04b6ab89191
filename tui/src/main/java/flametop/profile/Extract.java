package flametop.profile;

import java.util.List;

/**
 * Stacks taken out of the profile at a moment.
 *
 * @param stacks in order of their names; no two have the same path
 */
public record Extract(Moment moment, List<FoldedStack> stacks) {}

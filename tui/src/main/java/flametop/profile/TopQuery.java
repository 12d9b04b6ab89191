package flametop.profile;

import java.util.regex.Pattern;

/**
 * Which functions a {@link TopReport} is to list.
 *
 * @param windowNanos the last so many ns; {@link Long#MAX_VALUE}: all since the start
 * @param states whose time counts
 * @param bySelf ordered by what is spent in the function itself; else also by what it calls
 * @param rows at most so many
 * @param search only functions whose name matches; null for all
 */
public record TopQuery(long windowNanos, StateSet states, boolean bySelf, int rows, Pattern search)
    implements PageQuery {}

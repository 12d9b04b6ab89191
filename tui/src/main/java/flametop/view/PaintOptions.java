package flametop.view;

import java.util.function.IntFunction;

/**
 * What a picture depends on beside the snapshot and the state.
 *
 * @param host for the header
 * @param target what is sampled, for the header
 * @param origin where it comes from
 * @param ascii nothing but ASCII is drawn, edges are at whole cells
 * @param plain there are no colours: what they say is said by characters
 * @param users names of users by number
 */
public record PaintOptions(
    String host,
    String target,
    Origin origin,
    boolean ascii,
    boolean plain,
    IntFunction<String> users) {}

package flametop.view.state;

import flametop.view.base.Origin;
import java.util.List;
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
 * @param keymap which key does what
 * @param notices what is wrong with what the user has set, a line each
 */
public record PaintOptions(
    String host,
    String target,
    Origin origin,
    boolean ascii,
    boolean plain,
    IntFunction<String> users,
    Keymap keymap,
    List<String> notices) {}

package flametop.view.state;

import flametop.view.base.Origin;
import java.util.List;
import java.util.function.IntFunction;

/**
 * The things beside snapshot and state that a picture depends on.
 *
 * @param host for the header
 * @param target what is sampled, for the header
 * @param origin where the stacks come from
 * @param ascii whether only ASCII is drawn, with edges at whole cells
 * @param plain whether characters take the place of colours
 * @param users names of users by number
 * @param keymap which key does what
 * @param notices faults in the settings of the user, a line each
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

package flametop.export;

import flametop.profile.format.Numbering;
import flametop.profile.format.SampleLog.Frame;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;

/** The locations of stacks: a frame with those that are inlined into it there, outermost first. */
final class Locations {
  private final IntFunction<Frame> frames;
  private final Numbering<List<Integer>> all = new Numbering<>();

  /** By frame that no other is inlined into: its location. */
  private final Map<Integer, Integer> alone = new HashMap<>();

  /**
   * @param frames the frame of a number
   */
  Locations(IntFunction<Frame> frames) {
    this.frames = frames;
  }

  /** Numbers of the locations of a stack, from 1 on, innermost first. */
  long[] of(int[] path, int depth) {
    long[] locations = new long[depth];
    int first = depth;
    for (int i = 0; i < depth; ) {
      int end = i + 1;
      while (end < depth && frames.apply(path[end]).isWithin(frames.apply(path[end - 1]))) {
        end++;
      }
      Integer one = end == i + 1 ? alone.get(path[i]) : null;
      if (one == null) {
        List<Integer> called = Arrays.stream(path, i, end).boxed().toList();
        one = all.of(called) + 1;
        if (called.size() == 1) {
          alone.put(path[i], one);
        }
      }
      locations[--first] = one;
      i = end;
    }
    return Arrays.copyOfRange(locations, first, depth);
  }

  /** The frames of all locations, by number less 1. */
  List<List<Integer>> all() {
    return all.all();
  }
}

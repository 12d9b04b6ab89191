package flametop.profile.live;

import flametop.profile.answer.Function;
import flametop.profile.answer.RootOrder;
import flametop.profile.answer.Shape;
import flametop.profile.log.ChangeLog;
import flametop.profile.log.Spot;
import flametop.profile.log.Stacks;
import flametop.profile.log.Window;
import flametop.profile.tree.NaiveShape;
import flametop.sampler.State;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Histories made at random, and what they would be by the plainest way. */
abstract class RandomHistoryFixture {
  static final long MS = World.MS;
  static final int STATES = State.values().length;
  static final int EVERY_STATE = (1 << STATES) - 1;

  /** Rounding, ns: of each entry less than one. */
  static final double NEAR = 100;

  /** One entry of the log, and when it was seen. */
  record Change(long time, int owner, int stack, int spot, long base, int open, long samples) {
    int state() {
      return Spot.state(spot);
    }

    /** ns in a window that it is in, or behind. */
    long nanos(Window window) {
      long head = base + open * window.headTold();
      return isBefore(window) ? head - base - open * window.tailTold() : head;
    }

    /** Passes and samples in that window. */
    long samples(Window window) {
      long head = samples + open * window.headPass();
      return isBefore(window) ? head - samples - open * window.tailPass() : head;
    }

    private boolean isBefore(Window window) {
      return !window.whole() && time <= window.tailTime();
    }
  }

  static List<Change> changes(World world) {
    List<Change> changes = new ArrayList<>();
    ChangeLog.Cursor cursor = world.log.start();
    while (world.log.more(cursor)) {
      long time = world.log.nextTime(cursor);
      world.log.forward(
          cursor,
          (owner, stack, spot, base, open, samples) ->
              changes.add(new Change(time, owner, stack, spot, base, open, samples)));
    }
    return changes;
  }

  static Shape shape(Random random, Stacks stacks) {
    List<Function> functions = new ArrayList<>();
    for (int f = 0; f < stacks.functions(); f++) {
      functions.add(new Function(stacks.kind(f), stacks.module(f), stacks.name(f)));
    }
    Shape shape = NaiveShape.random(random, functions, "f[02]");
    for (int i = random.nextInt(3); i > 0; i--) {
      shape = shape.plus(NaiveShape.randomTasks(random));
    }
    int order = random.nextInt(2 * RootOrder.values().length);
    return order >= RootOrder.values().length
        ? shape
        : shape.plus(new Shape.Group(RootOrder.values()[order]));
  }
}

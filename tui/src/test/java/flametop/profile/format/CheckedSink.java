package flametop.profile.format;

import flametop.profile.answer.FoldedStack.Owner;
import flametop.profile.answer.NodeKind;

/** Counts what a reader hands on, and fails at what no reader may hand on. */
final class CheckedSink implements StackSink {
  private static final int MOST_FRAMES = 1 << 12;

  private int measures;
  private int frames;
  private int depthBefore;
  long stacks;
  long said;

  @Override
  public int measure(String name, Unit unit, boolean preferred) {
    check(unit.digits() >= 0 && unit.digits() < 10 && unit.parts() > 0, unit);
    check(!unit.name().isEmpty() && unit.name().length() <= 32, unit.name());
    return measures++;
  }

  @Override
  public boolean wants(int measure) {
    return true;
  }

  @Override
  public int frame(NodeKind kind, String name, String module, Place place) {
    check(place.line() >= 0 && place.column() >= 0, place);
    return frames == MOST_FRAMES ? NO_FRAME : frames++;
  }

  @Override
  public int owner(Owner of) {
    check(of.pid() >= 0 && of.tid() >= 0, of);
    return frame(NodeKind.PROCESS, of.comm(), "");
  }

  @Override
  public void owners() {}

  @Override
  public void stack(int measure, int[] stack, int shared, int depth, long value) {
    check(measure >= 0 && measure < measures, measure);
    check(depth >= 0 && depth <= stack.length, depth);
    check(shared >= 0 && shared <= Math.min(depth, depthBefore), shared);
    for (int i = shared; i < depth; i++) {
      check(stack[i] >= NO_FRAME && stack[i] < frames, stack[i]);
    }
    depthBefore = depth;
    stacks++;
  }

  @Override
  public void leaveOut(String reason) {
    said++;
  }

  @Override
  public void note(String text) {
    check(text.length() < 1_000, text);
    said++;
  }

  private static void check(boolean holds, Object of) {
    if (!holds) {
      throw new IllegalStateException(String.valueOf(of));
    }
  }
}

package flametop.view.base;

import flametop.profile.answer.NodeKind;
import flametop.sampler.State;

/**
 * The purpose of a colour. A theme gives each role a colour, or a pair to shade between; the
 * painter knows roles only.
 */
public enum Role {
  GROUND,
  CHROME,
  TEXT,
  DIM,
  ACCENT,
  SELECT,
  USER,
  KERNEL,
  JIT,
  INLINED,
  PYTHON,
  PHP,
  RUBY,
  UNKNOWN,
  REASON,
  PROCESS,
  GROUP,
  RUN,
  QUEUED,
  DISK,
  ASLEEP,
  BETTER,
  WORSE,
  LOW,
  MID,
  HIGH,
  /**
   * Text upon a frame: the colour of the ground or of text, whichever reads better there. No theme
   * names it.
   */
  INK,
  /**
   * A point of the ramp from {@link #LOW} over {@link #MID} to {@link #HIGH}. No theme names it.
   */
  HEAT;

  private static final Role[] BY_STATE = {RUN, QUEUED, ASLEEP, DISK, DIM};

  /** Whether themes give the role a colour. */
  public boolean themed() {
    return this != INK && this != HEAT;
  }

  public static Role of(NodeKind kind) {
    return switch (kind) {
      case ROOT -> GROUP;
      case PROCESS, THREAD, CGROUP -> PROCESS;
      case USER -> USER;
      case KERNEL -> KERNEL;
      case JIT -> JIT;
      case INLINED -> INLINED;
      case PYTHON -> PYTHON;
      case PHP -> PHP;
      case RUBY -> RUBY;
      case UNKNOWN -> UNKNOWN;
      case REASON -> REASON;
      case IDLE -> ASLEEP;
    };
  }

  public static Role of(State state) {
    return BY_STATE[Math.min(state.ordinal(), BY_STATE.length - 1)];
  }
}

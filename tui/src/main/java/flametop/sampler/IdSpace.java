package flametop.sampler;

/** The kinds of things that ids of the stream name, in the order of the stream's numbers. */
public enum IdSpace {
  PROCESS,
  TASK,
  MODULE,
  FRAME,
  STACK
}

package flametop.sampler;

/** What an id of the stream is of; in the order of the stream's numbers. */
public enum IdSpace {
  PROCESS,
  TASK,
  MODULE,
  FRAME,
  STACK
}

package flametop.sampler;

/** Where a name comes from; the ordinals are the numbers of the stream. */
public enum NameSource {
  SYMBOL,
  FUNCTION_START,
  UNKNOWN,
  ROOT,
  /** No frame: says why the outer part of the stack is missing. */
  REASON
}

package flametop.sampler;

/** Kind of a module; the ordinals are the numbers of the stream. */
public enum ModuleKind {
  KERNEL,
  FILE,
  VDSO,
  JIT,
  UNKNOWN
}

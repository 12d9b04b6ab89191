package flametop.sampler;

final class Sampler { static final int BUFFER_BYTES = 1 << 20; }

package flametop.sampler;

/**
 * One figure of what flametop itself uses.
 *
 * @param name of a part, or of a process
 * @param value ns of CPU since the stream began, or bytes resident now
 */
public record OwnPart(String name, long value) {}

package flametop.sampler;

/**
 * One figure of flametop's own use of CPU or memory.
 *
 * @param name of a part, or of a process
 * @param value ns of CPU since the stream began, or bytes resident now
 */
public record OwnPart(String name, long value) {}

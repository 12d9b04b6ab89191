package flametop.export;

import java.nio.file.Path;

/**
 * A file of folded stacks that was written.
 *
 * @param bytes its size
 * @param stacks lines of stacks in it
 * @param total sum of their numbers
 */
public record FoldedFile(Path path, long bytes, long stacks, long total) {}

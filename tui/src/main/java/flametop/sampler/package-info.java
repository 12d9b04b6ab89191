/**
 * The stream of samples: the source that makes it or replays it, the thread that takes its batches,
 * the reader of its records, and the budget of sampling. Rooms above receive records as a {@link
 * flametop.sampler.StreamVisitor}. This room never knows what becomes of a record.
 */
@NullMarked
package flametop.sampler;

import org.jspecify.annotations.NullMarked;

package flametop.profile.log;

import org.jspecify.annotations.Nullable;

/**
 * The entries of the packed chunks that were read last. Cursors go on by one mark at a time, so
 * each cursor that moves reads one chunk many times.
 */
final class UnpackedChunks {
  /** One chunk for each cursor that moves. */
  private static final int MOST = 4;

  private final Packing packing;
  private final int chunkEntries;

  /** The chunk read last is the first. */
  private final @Nullable Chunk[] chunks = new Chunk[MOST];

  /** The entries of each of {@link #chunks}; null until its place is first used. */
  private final @Nullable Entries[] entries = new Entries[MOST];

  UnpackedChunks(Packing packing, int chunkEntries) {
    this.packing = packing;
    this.chunkEntries = chunkEntries;
  }

  /** Returns the entries of a packed chunk; they are good until another chunk is asked for. */
  Entries entries(Chunk chunk) {
    int at = 0;
    while (at < MOST - 1 && chunks[at] != chunk) {
      at++;
    }
    Entries found = entries[at];
    if (found == null) {
      found = new Entries(chunkEntries);
    }
    if (chunks[at] != chunk) {
      packing.unpack(chunk.packed, found);
    }
    System.arraycopy(chunks, 0, chunks, 1, at);
    System.arraycopy(entries, 0, entries, 1, at);
    chunks[0] = chunk;
    entries[0] = found;
    return found;
  }

  /** Forgets a chunk that goes away; its entries' memory is used again. */
  void forget(Chunk chunk) {
    for (int i = 0; i < MOST; i++) {
      chunks[i] = chunks[i] == chunk ? null : chunks[i];
    }
  }
}

package flametop.profile.file;

import flametop.profile.answer.FoldedStack;
import flametop.profile.format.ProfileFormat;
import flametop.profile.format.ProfileReader;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Reads inputs, and hands them to the thread that folds: text in pieces of whole lines. There are a
 * few pieces, so reading waits for folding.
 */
final class StackReader {
  private static final int PIECE_BYTES = 1 << 19;
  private static final int PIECES = 3;

  /** The longest line that is read: a hundred thousand frames with long names. */
  private static final int MAX_LINE = 64 << 20;

  /** How many stacks of a replay are handed on together. */
  private static final int STACKS = 1 << 10;

  private final Consumer<Runnable> folding;
  private final BooleanSupplier closed;
  private final BlockingQueue<byte[]> free = new ArrayBlockingQueue<>(PIECES);

  /**
   * @param folding runs work on the thread that folds
   * @param closed whether nobody wants the stacks any more
   */
  StackReader(Consumer<Runnable> folding, BooleanSupplier closed) {
    this.folding = folding;
    this.closed = closed;
    for (int i = 0; i < PIECES; i++) {
      free.add(new byte[PIECE_BYTES]);
    }
  }

  /**
   * Reads all of an input: folded stacks as lines, or what its first bytes say that it is.
   *
   * @param profile takes the stacks of other formats
   */
  void read(StackInput input, StackLines lines, ProfileStacks profile)
      throws IOException, InterruptedException {
    if (input.replay() != null) {
      replay(input.replay(), lines, profile);
      return;
    }
    Whole stream = new Whole(input);
    ProfileFormat format = FormatGuess.format(stream.head);
    if (format == null) {
      profile.miss();
      readText(stream, lines);
      return;
    }
    String missing;
    profile.begin();
    try {
      format.reader().read(new ProfileReader.Source(stream, input.plainFile()), profile);
    } finally {
      missing = profile.end();
    }
    if (missing != null) {
      throw new IOException(missing);
    }
  }

  /** The bytes of an input, of which the first are looked at before. */
  private final class Whole extends BytesInput {
    private final StackInput input;

    /** As many first bytes as tell the format. */
    private final byte[] head;

    /** Why no more could be read of the head; null if all could. What came is read all the same. */
    private @Nullable IOException failed;

    private int at;

    Whole(StackInput input) {
      this.input = input;
      byte[] first = new byte[FormatGuess.LOOKED_AT];
      int length = 0;
      int count = 0;
      try {
        while (count >= 0
            && !closed.getAsBoolean()
            && FormatGuess.isOpen(Arrays.copyOf(first, length))) {
          if (length == first.length) {
            first = Arrays.copyOf(first, 2 * length);
          }
          count = input.read(first, length, first.length - length);
          length += Math.max(0, count);
        }
      } catch (IOException e) {
        failed = e;
      }
      head = Arrays.copyOf(first, length);
    }

    @Override
    public int read(byte[] into, int from, int room) throws IOException {
      if (at < head.length) {
        int count = Math.min(room, head.length - at);
        System.arraycopy(head, at, into, from, count);
        at += count;
        return count;
      }
      if (failed != null) {
        throw failed;
      }
      return input.read(into, from, room);
    }
  }

  private void replay(StackInput.Replay replay, StackLines into, ProfileStacks log)
      throws IOException {
    List<FoldedStack> stacks = new ArrayList<>();
    try {
      replay.read(
          stack -> {
            log.replayed(stack);
            stacks.add(stack);
            if (stacks.size() == STACKS) {
              hand(stacks, into);
            }
          });
    } finally {
      hand(stacks, into);
    }
  }

  private void hand(List<FoldedStack> stacks, StackLines into) {
    List<FoldedStack> handed = List.copyOf(stacks);
    stacks.clear();
    folding.accept(() -> handed.forEach(into::fold));
  }

  private void readText(InputStream input, StackLines into)
      throws IOException, InterruptedException {
    byte[] piece = free.take();
    int length = 0;
    boolean skips = false;
    boolean ended = false;
    try {
      while (!closed.getAsBoolean()) {
        if (length == piece.length) {
          if (length >= MAX_LINE) {
            if (!skips) {
              folding.accept(into::tooLong);
            }
            skips = true;
            length = 0;
          } else {
            piece = Arrays.copyOf(piece, 2 * length);
          }
        }
        int count = input.read(piece, length, piece.length - length);
        if (count < 0) {
          ended = true;
          break;
        }
        int end = lastLineEnd(piece, length, length + count);
        length += count;
        if (end == 0) {
          continue;
        }
        int begin = 0;
        if (skips) {
          begin = firstLineEnd(piece, length);
          skips = false;
        }
        byte[] next = free.take();
        int rest = length - end;
        if (next.length < 2 * rest || next.length > PIECE_BYTES) {
          next = new byte[Math.max(PIECE_BYTES, 2 * rest)];
        }
        System.arraycopy(piece, end, next, 0, rest);
        hand(into, piece, begin, end);
        piece = next;
        length = rest;
      }
    } finally {
      // A line that something failed in has no number, or a part of one.
      boolean last = ended && !skips && length > 0;
      if (last) {
        piece = Arrays.copyOf(piece, length + 1);
        piece[length] = '\n';
      }
      hand(into, piece, 0, last ? length + 1 : 0);
    }
  }

  private static int lastLineEnd(byte[] piece, int from, int to) {
    for (int i = to; i > from; i--) {
      if (piece[i - 1] == '\n') {
        return i;
      }
    }
    return 0;
  }

  private static int firstLineEnd(byte[] piece, int to) {
    int at = 0;
    while (at < to && piece[at] != '\n') {
      at++;
    }
    return Math.min(to, at + 1);
  }

  private void hand(StackLines into, byte[] piece, int from, int to) {
    folding.accept(
        () -> {
          into.fold(piece, from, to);
          free.add(piece);
        });
  }
}

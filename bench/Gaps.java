// SPDX-License-Identifier: Apache-2.0
// java bench/Gaps.java STREAM HZ: how even the passes of a recorded stream are, as `key value` lines.

import java.io.DataInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;

class Gaps {
  private static final int FILE_HEADER = 20;
  private static final int FACTS_LENGTH = 12;
  private static final int BATCH_HEADER = 24;
  private static final int TIME = 8;
  private static final int FLAGS = 20;
  private static final int PASS = 1;

  public static void main(String[] args) throws IOException {
    double tick = 1e9 / Double.parseDouble(args[1]);
    long first = 0;
    long last = 0;
    long worst = 0;
    long passes = 0;
    boolean started = false;
    try (DataInputStream in = new DataInputStream(Files.newInputStream(Path.of(args[0])))) {
      in.skipNBytes(read(in, FILE_HEADER).getInt(FACTS_LENGTH));
      for (ByteBuffer batch; (batch = read(in, BATCH_HEADER)) != null; ) {
        in.skipNBytes(batch.getInt(0) - BATCH_HEADER);
        if ((batch.getShort(FLAGS) & PASS) == 0) {
          continue;
        }
        if (!started) {
          // The first pass reads everything and opens every file: start-up. The clock begins after it.
          started = true;
          continue;
        }
        long time = batch.getLong(TIME);
        worst = passes > 0 ? Math.max(worst, time - last) : 0;
        first = passes > 0 ? first : time;
        last = time;
        passes++;
      }
    }
    System.out.printf("passes %d%n", passes);
    System.out.printf("passes.share %.4f%n", passes / (Math.floor((last - first) / tick + 0.5) + 1));
    System.out.printf("worst_gap.ticks %.2f%n", worst / tick);
  }

  private static ByteBuffer read(DataInputStream in, int bytes) throws IOException {
    byte[] read = in.readNBytes(bytes);
    return read.length < bytes ? null : ByteBuffer.wrap(read).order(ByteOrder.LITTLE_ENDIAN);
  }
}

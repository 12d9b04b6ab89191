package flametop.term.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.Test;

class FrameStreamTest {
  private final LinkedBlockingQueue<String> writes = new LinkedBlockingQueue<>();
  private final CountDownLatch line = new CountDownLatch(1);

  private OutputStream slow(boolean waits) {
    return new OutputStream() {
      @Override
      public void write(int b) {
        throw new UnsupportedOperationException();
      }

      @Override
      public void write(byte[] bytes, int offset, int length) throws IOException {
        try {
          if (waits) {
            line.await();
          }
        } catch (InterruptedException e) {
          throw new IOException(e);
        }
        writes.add(new String(bytes, offset, length, StandardCharsets.UTF_8));
      }
    };
  }

  @Test
  void flush_manyWrites_isOneWriteBetweenTheMarks() throws Exception {
    FrameStream stream = new FrameStream(slow(false));
    String text = "x".repeat(100_000);
    for (byte b : text.getBytes(StandardCharsets.US_ASCII)) {
      stream.write(b);
    }
    stream.flush();
    assertEquals("\033[?2026h" + text + "\033[?2026l", writes.take());
    assertTrue(stream.drain(120_000));
    stream.flush();
    assertTrue(writes.isEmpty());
    stream.close();
  }

  @Test
  void isBusy_slowTerminal_untilItIsWritten() throws Exception {
    FrameStream stream = new FrameStream(slow(true));
    stream.write('a');
    stream.flush();
    assertTrue(stream.isBusy());
    assertFalse(stream.drain(1));
    line.countDown();
    assertTrue(stream.drain(120_000));
    assertFalse(stream.isBusy());
    stream.close();
  }

  @Test
  void flush_terminalGone_saysSo() throws Exception {
    FrameStream stream =
        new FrameStream(
            new OutputStream() {
              @Override
              public void write(int b) throws IOException {
                throw new IOException("Input/output error");
              }
            });
    stream.write('a');
    stream.flush();
    stream.drain(120_000);
    stream.write('b');
    assertTrue(
        assertThrows(IOException.class, stream::flush)
            .getMessage()
            .contains("the terminal cannot be written"));
  }
}

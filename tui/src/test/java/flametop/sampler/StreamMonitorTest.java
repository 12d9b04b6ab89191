package flametop.sampler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

class StreamMonitorTest {
  private static final int NOTICE = 13;
  private static final int PASS = 1;

  private final StreamMonitor monitor = new StreamMonitor(new QuietSource(), false);
  private final BatchSink seen = monitor.before(new QuietSource.Sink());
  private int sequence;

  private void say(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    ByteBuffer body = ByteBuffer.allocate(3 + bytes.length).order(ByteOrder.LITTLE_ENDIAN);
    body.put((byte) 1).putShort((short) bytes.length).put(bytes);
    byte[] record = StreamBytes.record(NOTICE, body.array());
    byte[] batch = StreamBytes.batch(sequence, sequence++, PASS, record);
    seen.accept(ByteBuffer.wrap(batch).order(ByteOrder.LITTLE_ENDIAN), batched -> {});
  }

  @Test
  void takeNotices_moreThanAreKept_eachIsToldOnce() {
    for (int i = 0; i < 3_000; i++) {
      say("notice " + i);
      say("notice " + i);
      assertEquals(List.of("notice " + i), monitor.takeNotices());
    }
    assertEquals(List.of(), monitor.takeNotices());
  }

  @Test
  void notices_nobodyTakes_areBounded() {
    for (int i = 0; i < 3_000; i++) {
      say("notice " + i);
    }
    assertTrue(monitor.notices().contains("notice 0"));
    assertEquals(1_000, monitor.notices().size());
  }
}

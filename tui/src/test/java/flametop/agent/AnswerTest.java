package flametop.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;

import flametop.export.Protobuf;
import java.time.Instant;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What answers of stores mean. */
class AnswerTest {
  private static final Instant NOW = Instant.parse("2026-11-28T12:00:00Z");

  @ParameterizedTest
  @CsvSource({
    "400, REFUSED",
    "401, REFUSED",
    "404, REFUSED",
    "408, KEPT",
    "413, REFUSED",
    "429, KEPT",
    "500, KEPT",
    "503, KEPT",
    "302, KEPT",
    "101, REFUSED"
  })
  void of_status_fateOfTheProfile(int status, Answer.Fate fate) {
    assertEquals(fate, Answer.of(status, "", "", NOW).fate());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "7 | 7",
        "'Sat, 28 Nov 2026 12:00:30 GMT' | 30",
        "'Sat, 28 Nov 2026 11:00:00 GMT' | 0",
        "'Sat, 28 Nov 2099 11:00:00 GMT' | 0",
        "-1 | 0",
        "99999999999999999999 | 0",
        "soon | 0",
        "'' | 0"
      })
  void of_retryAfter_secondsOrDate(String header, long seconds) {
    assertEquals(seconds * 1_000_000_000L, Answer.of(503, header, "", NOW).askedNanos());
  }

  @Test
  void rejected_partialSuccess_itsNumber() {
    byte[] answer = new Protobuf().field(1, new Protobuf().field(2, "why").field(1, 300)).take();
    assertEquals(300, Store.OTLP.rejected(answer));
    assertEquals(0, Store.OTLP.rejected(new byte[0]));
    assertEquals(0, Store.PARCA.rejected(answer));
  }

  @Test
  void rejected_anyBytes_noFailure() {
    Random random = new Random(3);
    for (int i = 0; i < 100_000; i++) {
      byte[] bytes = new byte[random.nextInt(24)];
      random.nextBytes(bytes);
      if (bytes.length > 0 && random.nextBoolean()) {
        bytes[0] = 10;
      }
      long rejected = Store.OTLP.rejected(bytes);
      assertEquals(rejected, Math.max(0, rejected));
    }
  }
}

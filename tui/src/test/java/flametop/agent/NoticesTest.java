package flametop.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class NoticesTest {
  private final List<String> out = new ArrayList<>();
  private final AtomicLong now = new AtomicLong();
  private final Notices notices = new Notices(out::add, now::get);

  @Test
  void say_theSameInTurns_eachOnceAnHour() {
    for (int second = 0; second < 3_600; second++) {
      notices.say("store", second % 2 == 0 ? "away" : "busy");
      now.addAndGet(TimeUnit.SECONDS.toNanos(1));
    }
    assertEquals(List.of("away", "busy"), out);
    notices.say("store", "away");
    assertEquals(List.of("away", "busy", "away"), out);
  }

  @Test
  void settle_afterAFailure_saidOnceAndTheNextFailureIsNew() {
    notices.settle("store", "back");
    notices.say("store", "away");
    notices.settle("store", "back");
    notices.settle("store", "back");
    notices.say("store", "away");
    assertEquals(List.of("away", "back", "away"), out);
  }

  @Test
  void say_hostileText_cleanAndBounded() {
    notices.say("store", "\u001b[2J" + "x".repeat(10_000));
    assertTrue(out.get(0).length() <= 500 && out.get(0).indexOf('\u001b') < 0, out::toString);
  }
}

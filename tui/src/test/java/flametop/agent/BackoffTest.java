package flametop.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class BackoffTest {
  private final Backoff backoff = new Backoff(new Random(1));

  @Test
  void failed_again_twiceAsLongUpToAMinute() {
    long whole = Backoff.FIRST_NANOS;
    for (int i = 0; i < 100; i++) {
      long wait = backoff.failed(0);
      assertTrue(wait >= whole / 2 && wait <= whole, i + ": " + wait);
      whole = Math.min(2 * whole, Backoff.MOST_NANOS);
    }
    backoff.succeeded();
    assertTrue(backoff.failed(0) <= Backoff.FIRST_NANOS);
  }

  @Test
  void failed_storeAsks_atLeastThatAndNoMoreThanFiveMinutes() {
    assertEquals(TimeUnit.SECONDS.toNanos(20), backoff.failed(TimeUnit.SECONDS.toNanos(20)));
    assertEquals(Backoff.MOST_ASKED_NANOS, backoff.failed(TimeUnit.DAYS.toNanos(900)));
    assertTrue(backoff.failed(-5) > 0);
  }

  @Test
  void failed_otherAgents_otherWaits() {
    Set<Long> waits = new TreeSet<>();
    for (int seed = 0; seed < 50; seed++) {
      waits.add(new Backoff(new Random(seed)).failed(0));
    }
    assertTrue(waits.size() > 45, waits::toString);
  }
}

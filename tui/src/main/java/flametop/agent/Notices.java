package flametop.agent;

import flametop.sampler.CleanText;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/** Lines for people: the same one is said again after an hour at the earliest. Any thread. */
public final class Notices {
  private static final long SILENCE_NANOS = TimeUnit.HOURS.toNanos(1);
  private static final int MOST_KEPT = 64;
  private static final int MOST_CHARS = 500;

  private final Consumer<String> out;
  private final LongSupplier clock;
  private final Map<String, Long> said = new LinkedHashMap<>();

  public Notices(Consumer<String> out) {
    this(out, System::nanoTime);
  }

  Notices(Consumer<String> out, LongSupplier clock) {
    this.out = out;
    this.clock = clock;
  }

  /**
   * Says a line, unless it was said lately.
   *
   * @param topic what the line is about, for {@link #settle}
   */
  public synchronized void say(String topic, String line) {
    String key = topic + "\n" + line;
    long now = clock.getAsLong();
    Long before = said.get(key);
    if (before != null && now - before < SILENCE_NANOS) {
      return;
    }
    said.remove(key);
    said.put(key, now);
    if (said.size() > MOST_KEPT) {
      said.remove(said.keySet().iterator().next());
    }
    out.accept(CleanText.clean(line, MOST_CHARS));
  }

  /** Says a line, also if it was said lately. */
  public synchronized void again(String topic, String line) {
    said.remove(topic + "\n" + line);
    say(topic, line);
  }

  /**
   * What was said about a topic is over.
   *
   * @param line says so, if anything was said
   */
  synchronized void settle(String topic, String line) {
    if (said.keySet().removeIf(key -> key.startsWith(topic + "\n"))) {
      out.accept(CleanText.clean(line, MOST_CHARS));
    }
  }
}

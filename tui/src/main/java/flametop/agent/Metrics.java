package flametop.agent;

import flametop.export.StateExport;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.LongSupplier;

/** What became of the profiles, as counters since the start, in Prometheus' text. Any thread. */
public final class Metrics {
  final AtomicLong made = new AtomicLong();
  final AtomicLong sent = new AtomicLong();
  final AtomicLong sentBytes = new AtomicLong();
  final AtomicLong rejected = new AtomicLong();
  final AtomicLong requests = new AtomicLong();
  final AtomicLong retries = new AtomicLong();

  /** Found in the spool at the start. */
  final AtomicLong found = new AtomicLong();

  final AtomicLong samplesLost = new AtomicLong();
  final AtomicLong passesLate = new AtomicLong();

  /** Milliseconds since 1970; 0: never. */
  final AtomicLong lastSuccess = new AtomicLong();

  private final AtomicLongArray dropped = new AtomicLongArray(Drop.values().length);
  private final AtomicLongArray nanos = new AtomicLongArray(StateExport.Column.values().length);
  private volatile LongSupplier spoolBytes = () -> 0;
  private volatile LongSupplier spoolProfiles = () -> 0;

  void dropped(Drop why) {
    dropped.incrementAndGet(why.ordinal());
  }

  /** Profiles made since the start. */
  public long made() {
    return made.get();
  }

  /** Profiles that the store took. */
  public long sent() {
    return sent.get();
  }

  /** Profiles given up. */
  public long dropped() {
    long sum = 0;
    for (Drop why : Drop.values()) {
      sum += dropped.get(why.ordinal());
    }
    return sum;
  }

  long droppedBy(Drop why) {
    return dropped.get(why.ordinal());
  }

  /** Adds the time that a profile has, by {@link StateExport.Column#ordinal()}. */
  void profiled(long[] totals) {
    made.incrementAndGet();
    for (int i = 0; i < totals.length; i++) {
      nanos.addAndGet(i, totals[i]);
    }
  }

  void spool(LongSupplier bytes, LongSupplier profiles) {
    spoolBytes = bytes;
    spoolProfiles = profiles;
  }

  /** Version 0.0.4 of the text. */
  public String text() {
    StringBuilder out = new StringBuilder();
    counter(out, "profiles_made_total", "Profiles made, one an interval.", made.get());
    counter(out, "profiles_found_total", "Profiles found in the spool at the start.", found.get());
    counter(out, "profiles_sent_total", "Profiles that the store took.", sent.get());
    head(out, "profiles_dropped_total", "counter", "Profiles given up, by the reason.");
    for (Drop why : Drop.values()) {
      labelled(out, "profiles_dropped_total", "reason", why.label(), dropped.get(why.ordinal()));
    }
    counter(
        out,
        "profiles_rejected_total",
        "Parts of profiles that the store took the rest of (partial success of OTLP).",
        rejected.get());
    counter(out, "requests_total", "Requests to the store.", requests.get());
    counter(out, "retries_total", "Requests that were made again later.", retries.get());
    counter(out, "sent_bytes_total", "Bytes of the profiles that were sent.", sentBytes.get());
    head(out, "profiled_nanoseconds_total", "counter", "Time of tasks in the profiles made.");
    for (StateExport.Column column : StateExport.Column.values()) {
      labelled(
          out, "profiled_nanoseconds_total", "state", column.type(), nanos.get(column.ordinal()));
    }
    counter(out, "samples_lost_total", "Samples of the CPU clock lost.", samplesLost.get());
    counter(out, "passes_late_total", "Passes that were late, and not made.", passesLate.get());
    gauge(out, "spool_bytes", "Bytes of the profiles that wait.", spoolBytes.getAsLong());
    gauge(out, "spool_profiles", "Profiles that wait.", spoolProfiles.getAsLong());
    head(
        out,
        "last_success_timestamp_seconds",
        "gauge",
        "When the store took a profile last, in seconds since 1970; 0: never.");
    long last = lastSuccess.get();
    out.append(
        String.format(
            Locale.ROOT,
            "flametop_agent_last_success_timestamp_seconds %d.%03d\n",
            last / 1_000,
            last % 1_000));
    return out.toString();
  }

  private static void counter(StringBuilder out, String name, String help, long value) {
    single(out, name, "counter", help, value);
  }

  private static void gauge(StringBuilder out, String name, String help, long value) {
    single(out, name, "gauge", help, value);
  }

  private static void single(StringBuilder out, String name, String type, String help, long value) {
    head(out, name, type, help);
    out.append("flametop_agent_").append(name).append(' ').append(value).append('\n');
  }

  private static void head(StringBuilder out, String name, String type, String help) {
    out.append("# HELP flametop_agent_").append(name).append(' ').append(help).append('\n');
    out.append("# TYPE flametop_agent_").append(name).append(' ').append(type).append('\n');
  }

  private static void labelled(
      StringBuilder out, String name, String label, String value, long number) {
    out.append("flametop_agent_").append(name).append('{').append(label).append("=\"");
    out.append(value).append("\"} ").append(number).append('\n');
  }
}

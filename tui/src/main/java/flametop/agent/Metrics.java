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
    metric(out, "profiles_made_total", "Profiles made, one an interval.", made);
    metric(out, "profiles_found_total", "Profiles found in the spool at the start.", found);
    metric(out, "profiles_sent_total", "Profiles that the store took.", sent);
    head(out, "profiles_dropped_total", "Profiles given up, by the reason.");
    for (Drop why : Drop.values()) {
      String reason = "{reason=\"" + why.label() + "\"}";
      line(out, "profiles_dropped_total" + reason, dropped.get(why.ordinal()));
    }
    metric(
        out,
        "profiles_rejected_total",
        "Parts of profiles that the store took the rest of (partial success of OTLP).",
        rejected);
    metric(out, "requests_total", "Requests to the store.", requests);
    metric(out, "retries_total", "Requests that were made again later.", retries);
    metric(out, "sent_bytes_total", "Bytes of the profiles that were sent.", sentBytes);
    head(out, "profiled_nanoseconds_total", "Time of tasks in the profiles made.");
    for (StateExport.Column column : StateExport.Column.values()) {
      String state = "{state=\"" + column.type() + "\"}";
      line(out, "profiled_nanoseconds_total" + state, nanos.get(column.ordinal()));
    }
    metric(out, "samples_lost_total", "Samples of the CPU clock lost.", samplesLost);
    metric(out, "passes_late_total", "Passes that were late, and not made.", passesLate);
    metric(out, "spool_bytes", "Bytes of the profiles that wait.", spoolBytes.getAsLong());
    metric(out, "spool_profiles", "Profiles that wait.", spoolProfiles.getAsLong());
    long last = lastSuccess.get();
    metric(
        out,
        "last_success_timestamp_seconds",
        "When the store took a profile last, in seconds since 1970; 0: never.",
        String.format(Locale.ROOT, "%d.%03d", last / 1_000, last % 1_000));
    return out.toString();
  }

  private static void metric(StringBuilder out, String name, String help, Object value) {
    head(out, name, help);
    line(out, name, value);
  }

  private static void head(StringBuilder out, String name, String help) {
    String type = name.endsWith("_total") ? "counter" : "gauge";
    out.append("# HELP flametop_agent_").append(name).append(' ').append(help).append('\n');
    out.append("# TYPE flametop_agent_").append(name).append(' ').append(type).append('\n');
  }

  private static void line(StringBuilder out, String name, Object value) {
    out.append("flametop_agent_").append(name).append(' ').append(value).append('\n');
  }
}

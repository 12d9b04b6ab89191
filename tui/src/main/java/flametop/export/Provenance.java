package flametop.export;

import flametop.profile.answer.EventsReport;
import flametop.profile.answer.Extract;
import flametop.profile.answer.Measure;
import flametop.profile.answer.Snapshot;
import flametop.profile.answer.StateSet;
import flametop.profile.answer.TimeRange;
import flametop.sampler.CleanText;
import flametop.sampler.SourceTotals;
import flametop.sampler.State;
import flametop.sampler.StreamFacts;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The origin of an export: all that a reader needs to judge the export who was not there. All text
 * is clean.
 *
 * @param program name and version
 * @param host name of the machine, or of the file
 * @param endNanos last moment of the export, ns since 1970; 0 if not known
 * @param coveredNanos length of the time before the last moment that the export covers
 * @param periodNanos ns between two samples of a CPU, or between two passes if the CPU clock is
 *     off; as started
 * @param cpuClock whether the CPU clock is on
 * @param facts the facts that go into the file, in words
 */
public record Provenance(
    String program,
    String host,
    long endNanos,
    long coveredNanos,
    long periodNanos,
    boolean cpuClock,
    List<Fact> facts) {
  /** One line: {@code window: the last 30.0 s}. */
  public record Fact(String key, String value) {}

  /** Chars of a spec: more than a line takes. */
  private static final int MAX_SPEC = 1_024;

  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss 'UTC'", Locale.ROOT)
          .withZone(ZoneOffset.UTC);

  /**
   * The provenance of an extract of a profile.
   *
   * @param program name and version
   * @param facts of the stream
   * @param scope the bounds of the extract
   * @param states whose time counts
   */
  public static Provenance of(
      String program, StreamFacts facts, Extract.Scope scope, StateSet states) {
    Map<String, String> said = new LinkedHashMap<>();
    said.put("program", program);
    said.put("host", facts.host());
    said.put("kernel", ("Linux " + facts.kernel() + " " + facts.arch()).trim());
    said.put("target", facts.wholeHost() ? "all tasks" : facts.target());
    scope
        .source()
        .ifPresentOrElse(of -> measure(said, of), () -> said.put("states", describe(states)));
    if (!scope.shape().steps().isEmpty()) {
      said.put("filter", scope.shape().toString());
    }
    if (scope.zoom().length > 1) {
      said.put("below", String.join(" > ", scope.zoom()));
    }
    long ago = scope.agoNanos();
    String range = ago == 0 ? "" : text(", a range %.1f s ago", ago / 1e9);
    said.put("window", window(scope.time(), facts) + range);
    scope.baseline().ifPresent(with -> said.put("compared with", window(with, facts)));
    if (scope.source().isEmpty()
        && states.contains(State.DISK)
        && !facts.blockedMissing().isEmpty()) {
      said.put("D and S", "told apart by samples: " + facts.blockedMissing());
    }
    boolean changed =
        !scope.ended() && (scope.passHz() != facts.passHz() || scope.cpuHz() != facts.cpuHz());
    said.put(
        "rates",
        rates(facts.passHz(), facts.cpuHz())
            + (changed ? "; at its end " + rates(scope.passHz(), scope.cpuHz()) : ""));
    said.put("losses", losses(scope.losses()));
    int hz = facts.cpuHz() > 0 ? facts.cpuHz() : Math.max(1, facts.passHz());
    return new Provenance(
        program,
        facts.host(),
        wall(scope.time(), facts),
        scope.time().nanos(),
        1_000_000_000L / hz,
        facts.cpuHz() > 0,
        said.entrySet().stream().map(of -> new Fact(of.getKey(), of.getValue())).toList());
  }

  private static String losses(Snapshot.Losses of) {
    return text(
            "%,d samples lost, %,d passes late, %.1f %% of stacks short",
            of.lostSamples(), of.latePasses(), 100 * of.shortShare())
        + (of.guessedShare() == 0
            ? ""
            : text(
                ", %.1f %% of samples have a guessed frame ([guessed])", 100 * of.guessedShare()))
        + (of.nameLimited() == 0 ? "" : text(", %,d samples with a name limit", of.nameLimited()));
  }

  /** What the values measure, and how many of the events they know by a stack. */
  private static void measure(Map<String, String> said, EventsReport.Row of) {
    SourceTotals totals = of.totals();
    Measure measure = of.measure();
    said.put("measure", CleanText.clean(of.spec(), MAX_SPEC) + ", in " + measure.unit());
    said.put(
        "counted",
        text(
            "%,d events since the start, %s in all; %,d stacks copied, %,d lost; %s; %.1f %% of the weight not sampled",
            totals.hits(),
            measure.text(totals.weight()),
            totals.taken(),
            totals.lost(),
            totals.rate() == 0
                ? "each event has a stack at its end"
                : "1 stack per " + measure.text(totals.rate()) + " at its end",
            100 * of.notSampledShare()));
  }

  /**
   * The same, with a fact that says how often passes and samples of the CPU clock saw the stacks.
   */
  Provenance withSamples(long samples) {
    List<Fact> list = new ArrayList<>(facts);
    list.add(new Fact("seen", text("%,d times, by passes and samples", samples)));
    return new Provenance(
        program, host, endNanos, coveredNanos, periodNanos, cpuClock, List.copyOf(list));
  }

  /** What a period is of, in formats that name its type. */
  String clock() {
    return cpuClock ? "cpu" : "wall";
  }

  /** The most important facts in a few words, for a title. */
  public String title() {
    StringBuilder title = new StringBuilder(host);
    for (Fact fact : facts) {
      switch (fact.key()) {
        case "target", "measure", "states", "filter", "below" ->
            title.append(" · ").append(fact.value());
        default -> {}
      }
    }
    if (endNanos > 0) {
      title.append(text(" · %.1f s · ", coveredNanos / 1e9)).append(time(endNanos));
    }
    return title.toString();
  }

  /** One line a fact, {@code key: value}. */
  public List<String> lines() {
    return facts.stream().map(fact -> fact.key() + ": " + fact.value()).toList();
  }

  private static String text(String format, Object... of) {
    return String.format(Locale.ROOT, format, of);
  }

  private static String rates(int passHz, int cpuHz) {
    return text(
        "%d passes a second, %s",
        passHz, cpuHz > 0 ? cpuHz + " samples a second of each CPU" : "CPU clock off");
  }

  /** The end of a range, ns since 1970. */
  private static long wall(TimeRange range, StreamFacts facts) {
    return facts.wallNanos() + range.to() - facts.monotonicNanos();
  }

  private static String window(TimeRange range, StreamFacts facts) {
    long end = wall(range, facts);
    return text("%.1f s, from %s to %s", range.nanos() / 1e9, time(end - range.nanos()), time(end));
  }

  private static String time(long wallNanos) {
    return TIME.format(Instant.ofEpochSecond(0, wallNanos));
  }

  private static String describe(StateSet states) {
    return states.equals(StateSet.ALL)
        ? "all"
        : Arrays.stream(State.values())
            .filter(states::contains)
            .map(State::label)
            .collect(Collectors.joining(", "));
  }
}

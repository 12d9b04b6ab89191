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
import java.util.List;
import java.util.Locale;
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
    List<Fact> list = new ArrayList<>();
    Snapshot.Losses losses = scope.losses();
    list.add(new Fact("program", program));
    list.add(new Fact("host", facts.host()));
    list.add(new Fact("kernel", ("Linux " + facts.kernel() + " " + facts.arch()).trim()));
    list.add(new Fact("target", facts.wholeHost() ? "all tasks" : facts.target()));
    scope.source().ifPresent(of -> measure(list, of));
    if (scope.source().isEmpty()) {
      list.add(new Fact("states", describe(states)));
    }
    if (!scope.shape().steps().isEmpty()) {
      list.add(new Fact("filter", scope.shape().toString()));
    }
    if (scope.zoom().length > 1) {
      list.add(new Fact("below", String.join(" > ", scope.zoom())));
    }
    list.add(
        new Fact(
            "window",
            window(scope.time(), facts)
                + (scope.agoNanos() == 0
                    ? ""
                    : text(", a range %.1f s ago", scope.agoNanos() / 1e9))));
    scope.baseline().ifPresent(with -> list.add(new Fact("compared with", window(with, facts))));
    if (scope.source().isEmpty()
        && states.contains(State.DISK)
        && !facts.blockedMissing().isEmpty()) {
      list.add(new Fact("D and S", "told apart by samples: " + facts.blockedMissing()));
    }
    boolean changed =
        !scope.ended() && (scope.passHz() != facts.passHz() || scope.cpuHz() != facts.cpuHz());
    list.add(
        new Fact(
            "rates",
            rates(facts.passHz(), facts.cpuHz())
                + (changed ? "; at its end " + rates(scope.passHz(), scope.cpuHz()) : "")));
    list.add(
        new Fact(
            "losses",
            text(
                "%,d samples lost, %,d passes late, %.1f %% of stacks short%s%s",
                losses.lostSamples(),
                losses.latePasses(),
                100 * losses.shortShare(),
                losses.guessedShare() == 0
                    ? ""
                    : text(
                        ", %.1f %% of samples have a guessed frame ([guessed])",
                        100 * losses.guessedShare()),
                losses.nameLimited() == 0
                    ? ""
                    : text(", %,d samples with a name limit", losses.nameLimited()))));
    int hz = facts.cpuHz() > 0 ? facts.cpuHz() : Math.max(1, facts.passHz());
    return new Provenance(
        program,
        facts.host(),
        wall(scope.time(), facts),
        scope.time().nanos(),
        1_000_000_000L / hz,
        facts.cpuHz() > 0,
        List.copyOf(list));
  }

  /** What the values measure, and how many of the events they know by a stack. */
  private static void measure(List<Fact> list, EventsReport.Row of) {
    SourceTotals totals = of.totals();
    Measure measure = of.measure();
    list.add(new Fact("measure", CleanText.clean(of.spec(), MAX_SPEC) + ", in " + measure.unit()));
    list.add(
        new Fact(
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
                100 * of.notSampledShare())));
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

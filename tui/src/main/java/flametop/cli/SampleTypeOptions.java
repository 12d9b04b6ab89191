package flametop.cli;

import picocli.CommandLine.Option;

/** Which values of a profile are shown. */
final class SampleTypeOptions {
  @Option(
      names = "--sample-type",
      paramLabel = "NAME",
      description = {
        "which values of a profile that has several",
        "Which type of values is shown of a profile that has several, such as alloc_space of pprof, an event of perf, or allocation of JFR. Without it the type that the profile prefers, or its first; the notices name the others."
      })
  private String wanted = "";

  /** Name of the type; empty: what the profile prefers. */
  String wanted() {
    return wanted;
  }
}

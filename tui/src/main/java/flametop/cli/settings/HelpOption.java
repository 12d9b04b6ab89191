package flametop.cli.settings;

import picocli.CommandLine.Option;

/** The option that prints the help of a command; the short help has no line for it. */
public final class HelpOption {
  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      hidden = true,
      description = {"this text", "Prints the help."})
  @SuppressWarnings("unused") // picocli looks at the annotation
  private boolean help;
}

package flametop.cli;

import flametop.sampler.CleanText;
import flametop.term.LiveScreen;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import picocli.CommandLine;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.ParameterException;

/** The command line {@code flametop}. */
public final class Main {
  private static final int MAX_MESSAGE = 2_000;

  private Main() {}

  /** Runs a command and ends the JVM with its {@link ExitCode}. */
  public static void main(String[] args) {
    Interruption interruption = new Interruption();
    Thread.setDefaultUncaughtExceptionHandler(
        (thread, thrown) ->
            complain(
                new PrintWriter(System.err, true, StandardCharsets.UTF_8),
                Failure.of(thrown).message()));
    if (args.length == 0
        || args[0].startsWith("-")
        || args[0].equals("view")
        || args[0].equals("diff")) {
      LiveScreen.prepare();
    }
    int code = commandLine(interruption).execute(args);
    interruption.end(code);
  }

  static CommandLine commandLine(Interruption interruption) {
    CommandLine line = new CommandLine(new ScreenCommand());
    line.addSubcommand(new RecordCommand(interruption));
    line.addSubcommand(new ViewCommand());
    line.addSubcommand(new DiffCommand());
    line.addSubcommand(new CheckCommand());
    line.setParameterExceptionHandler(Main::misused);
    line.setExecutionExceptionHandler(
        (thrown, command, result) -> {
          Failure failure = Failure.of(thrown);
          complain(command.getErr(), failure.message());
          return failure.code().number();
        });
    line.setUsageHelpLongOptionsMaxWidth(18);
    line.setUsageHelpAutoWidth(false);
    line.setUsageHelpWidth(80);
    return line;
  }

  /** One line about what went wrong. */
  static void complain(PrintWriter err, String message) {
    err.println("flametop: " + message);
    err.flush();
  }

  private static int misused(ParameterException e, String[] args) {
    String text = CleanText.clean(String.valueOf(e.getMessage()).replace('\n', ' '), MAX_MESSAGE);
    String name = e.getCommandLine().getCommandSpec().qualifiedName();
    complain(e.getCommandLine().getErr(), text + " (" + name + " --help shows what there is)");
    return ExitCode.USAGE.number();
  }

  /** The version, as the build wrote it into the jar. */
  static final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
      String version = Main.class.getPackage().getImplementationVersion();
      return new String[] {"flametop " + (version == null ? "of an unknown version" : version)};
    }
  }
}

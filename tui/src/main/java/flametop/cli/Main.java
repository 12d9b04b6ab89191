package flametop.cli;

import flametop.sampler.CleanText;
import flametop.term.LiveScreen;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import picocli.CommandLine;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.ParameterException;

/** The command line {@code flametop}. */
public final class Main {
  private static final Set<String> NO_PROGRAM = Set.of("check", "view", "diff");

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
    int code = run(interruption, args);
    interruption.end(code);
  }

  /** Runs a command; what stands behind {@code --} is the program that it is to start. */
  private static int run(Interruption interruption, String[] args) {
    int end = Arrays.asList(args).indexOf("--");
    if (end < 0) {
      return commandLine(interruption, List.of()).execute(args);
    }
    List<String> program = List.of(Arrays.copyOfRange(args, end + 1, args.length));
    if (program.isEmpty() || end > 0 && NO_PROGRAM.contains(args[0])) {
      String text =
          program.isEmpty()
              ? "-- comes before a program to start: flametop record -o out.folded -- make"
              : args[0] + " starts no program";
      complain(new PrintWriter(System.err, true, StandardCharsets.UTF_8), text);
      return ExitCode.USAGE.number();
    }
    return commandLine(interruption, program).execute(Arrays.copyOf(args, end));
  }

  /**
   * @param program with its arguments, to be started and sampled; empty: none
   */
  static CommandLine commandLine(Interruption interruption, List<String> program) {
    CommandLine line = new CommandLine(new ScreenCommand(program));
    line.addSubcommand(new RecordCommand(interruption, program));
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
      return new String[] {text()};
    }

    /** {@code flametop 0.1.0}. */
    static String text() {
      String version = Main.class.getPackage().getImplementationVersion();
      return "flametop " + (version == null ? "of an unknown version" : version);
    }
  }
}

package flametop.cli;

import flametop.cli.StandardOutput.ReaderGone;
import flametop.cli.help.CompletionCommand;
import flametop.cli.help.HelpCommand;
import flametop.sampler.CleanText;
import flametop.term.EarlyLoading;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** The command line {@code flametop}. */
public final class Main {
  /** The commands that start no program: behind {@code --} there are files. */
  private static final Set<String> NO_PROGRAM =
      Set.of("agent", "check", "events", "view", "diff", "convert", "help", "completion");

  /** The commands whose short help has a line for itself; in the others other options need it. */
  private static final Set<String> HELP_SHOWN = Set.of("check", "events");

  private static final int MAX_MESSAGE = 2_000;

  /** As the shell sees a program that SIGPIPE ended. */
  private static final int BROKEN_PIPE = 128 + 13;

  private Main() {}

  /** Runs a command and ends the JVM with its {@link ExitCode}. */
  public static void main(String[] args) {
    Interruption interruption = new Interruption();
    Thread.setDefaultUncaughtExceptionHandler(
        (thread, thrown) -> complain(stderr(), Failure.of(thrown).message()));
    boolean live = args.length == 0 || args[0].startsWith("-");
    if (live || args[0].equals("view") || args[0].equals("diff")) {
      EarlyLoading.start(live);
    }
    int code = run(interruption, args);
    interruption.end(code);
  }

  static PrintWriter stderr() {
    return new PrintWriter(System.err, true, StandardCharsets.UTF_8);
  }

  /** Runs a command; what stands behind {@code --} is the program that it is to start. */
  private static int run(Interruption interruption, String[] args) {
    int end = Arrays.asList(args).indexOf("--");
    if (end < 0 || NO_PROGRAM.contains(args[0])) {
      return execute(interruption, args, List.of());
    }
    List<String> program = List.of(Arrays.copyOfRange(args, end + 1, args.length));
    if (program.isEmpty()) {
      complain(
          stderr(), "-- comes before a program to start: flametop record -o out.folded -- make");
      return ExitCode.USAGE.number();
    }
    return execute(interruption, Arrays.copyOf(args, end), program);
  }

  private static int execute(Interruption interruption, String[] args, List<String> program) {
    try {
      Callable<Integer> command = withoutOptions(args, program);
      if (command != null) {
        return command.call();
      }
      CommandLine line = commandLine(interruption, program);
      StandardOutput stdout = new StandardOutput();
      line.setOut(new PrintWriter(stdout, false, StandardCharsets.UTF_8));
      int code = line.execute(DebuginfodOptions.parted(args));
      line.getOut().flush();
      if (stdout.failure() == null || code != ExitCode.DONE.number()) {
        return code;
      }
      throw ReaderGone.isCauseOf(stdout.failure())
          ? stdout.failure()
          : new IOException("cannot write to stdout; is there room where it goes?");
    } catch (Exception e) {
      return failed(e, stderr());
    }
  }

  /**
   * The screen that a command line without options opens; null for any other. There is nothing to
   * parse in it, and only to read the annotations of all options takes a third of the time until
   * the first picture.
   */
  static @Nullable Callable<Integer> withoutOptions(String[] args, List<String> program) {
    if (args.length == 0) {
      return new ScreenCommand(program);
    }
    List<Path> paths = new ArrayList<>();
    for (int i = 1; i < args.length; i++) {
      if (args[i].isEmpty() || args[i].charAt(0) == '-') {
        return null;
      }
      paths.add(Path.of(args[i]));
    }
    return args[0].equals("view") && !paths.isEmpty() ? new ViewCommand(paths) : null;
  }

  private static int failed(Exception thrown, PrintWriter err) {
    if (ReaderGone.isCauseOf(thrown)) {
      return BROKEN_PIPE;
    }
    Failure failure = Failure.of(thrown);
    complain(err, failure.message());
    return failure.code().number();
  }

  /**
   * @param program with its arguments, to be started and sampled; empty: none
   */
  static CommandLine commandLine(Interruption interruption, List<String> program) {
    CommandLine line = new CommandLine(new ScreenCommand(program));
    line.addSubcommand(new RecordCommand(interruption, program));
    line.addSubcommand(new TopCommand(interruption, program));
    line.addSubcommand(new AgentCommand(interruption));
    line.addSubcommand(new ViewCommand(List.of()));
    line.addSubcommand(new DiffCommand());
    line.addSubcommand(new ConvertCommand());
    line.addSubcommand(new CheckCommand());
    line.addSubcommand(new EventsCommand());
    line.addSubcommand(new HelpCommand(ExitCode.entries()));
    line.addSubcommand(new CompletionCommand());
    line.getSubcommands().values().forEach(Main::addHelp);
    line.setParameterExceptionHandler(Main::misused);
    line.setExecutionStrategy(Main::carriedOut);
    line.setExecutionExceptionHandler(
        (thrown, command, result) -> failed(thrown, command.getErr()));
    line.setHelpFactory(ShortHelp::new);
    line.setUsageHelpLongOptionsMaxWidth(18);
    line.setUsageHelpAutoWidth(false);
    line.setUsageHelpWidth(80);
    // A file of that name may be meant, and nobody is asked to keep arguments in files.
    line.setExpandAtFiles(false);
    return line;
  }

  /** The option that prints the help of a command. */
  private static void addHelp(CommandLine command) {
    command
        .getCommandSpec()
        .addOption(
            OptionSpec.builder("-h", "--help")
                .usageHelp(true)
                .hidden(!HELP_SHOWN.contains(command.getCommandName()))
                .description("this text", "Prints the help.")
                .build());
  }

  /**
   * Options of the screen say nothing to a command behind them: they are not dropped in silence.
   */
  private static int carriedOut(CommandLine.ParseResult parsed) {
    if (parsed.hasSubcommand()
        && !parsed.matchedOptions().isEmpty()
        && !parsed.isUsageHelpRequested()
        && !parsed.isVersionHelpRequested()) {
      String option = parsed.matchedOptions().get(0).longestName();
      String command = parsed.subcommand().commandSpec().name();
      throw new ParameterException(
          parsed.commandSpec().commandLine(),
          option + " stands before " + command + "; options come after it");
    }
    return new CommandLine.RunLast().execute(parsed);
  }

  /**
   * A help that fits a screen: it has the first line of the description of each option. The second
   * line is a sentence for {@code docs/}.
   */
  private static final class ShortHelp extends CommandLine.Help {
    ShortHelp(CommandSpec command, ColorScheme colors) {
      super(command, colors);
    }

    @Override
    public IOptionRenderer createDefaultOptionRenderer() {
      IOptionRenderer whole = super.createDefaultOptionRenderer();
      return (option, labels, colors) -> Arrays.copyOf(whole.render(option, labels, colors), 1);
    }
  }

  /** One line about what went wrong. */
  static void complain(PrintWriter err, String message) {
    err.println("flametop: " + message);
    err.flush();
  }

  private static int misused(ParameterException e, String[] args) {
    String message = e instanceof UnmatchedArgumentException u ? unmatched(u) : e.getMessage();
    String text = CleanText.clean(String.valueOf(message).replace('\n', ' '), MAX_MESSAGE);
    String name = e.getCommandLine().getCommandSpec().qualifiedName();
    complain(e.getCommandLine().getErr(), text + " (" + name + " --help shows what there is)");
    return ExitCode.USAGE.number();
  }

  /** Numbers that no option takes are those of {@code -p $(pgrep NAME)}. */
  private static @Nullable String unmatched(UnmatchedArgumentException e) {
    boolean areNumbers = e.getUnmatched().stream().allMatch(word -> word.matches("[0-9]+"));
    return areNumbers && !e.getUnmatched().isEmpty()
        ? "several numbers of processes or threads stand behind one -p or -t with commas between"
            + " them: -p $(pgrep -d, NAME)"
        : e.getMessage();
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

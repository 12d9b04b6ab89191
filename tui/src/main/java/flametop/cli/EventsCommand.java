package flametop.cli;

import flametop.sampler.CleanText;
import flametop.sampler.KernelSource;
import flametop.sampler.KernelSource.ListedSource;
import flametop.sampler.KernelSource.SourceList;
import flametop.sampler.SamplerException;
import flametop.sampler.Target;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Lists the sources of events of this host. */
@Command(
    name = "events",
    sortOptions = false,
    separator = " ",
    // The help of the screen fits a screen, and its option -e names the command.
    hidden = true,
    description = "Lists the sources of events of this machine, or of a process, too.",
    footer = {
      "",
      "Columns, with tabs between: what -e takes; its arguments or fields; why it",
      "cannot be had and what mends that (empty: it can be had).",
      "Exit code: 0 there are some, 4 there are none."
    })
final class EventsCommand implements Callable<Integer> {
  private static final int MAX_TEXT = 500;

  @Spec private CommandSpec spec;

  @Parameters(
      arity = "0..1",
      paramLabel = "PATTERN",
      description = {
        "a part of the name, a glob, or /a regular expression/",
        "Which sources are listed: those whose text has this in it; those that a glob (tracepoint:sched:*) or a regular expression between slashes (/^usdt:.*throw/) fits to. All without it."
      })
  private @Nullable String pattern;

  @Option(
      names = "-p",
      paramLabel = "PID",
      split = TargetOptions.BETWEEN,
      splitSynopsisLabel = ",",
      converter = TargetOptions.Id.class,
      description = {
        "probes and functions of this process, too",
        "Lists the USDT probes and the functions of the program and of the libraries of these processes, too. The option may be repeated, and takes a list: -p 12,34."
      })
  private List<Integer> processes = new ArrayList<>();

  @Override
  public Integer call() throws SamplerException {
    Target target = TargetOptions.of(processes);
    String wanted = pattern == null ? "" : pattern;
    PrintWriter out = spec.commandLine().getOut();
    print(KernelSource.events(target, wanted, Integer.MAX_VALUE), wanted, out);
    out.flush();
    return ExitCode.DONE.number();
  }

  static void print(SourceList list, String wanted, PrintWriter out) {
    if (list.first().isEmpty()) {
      throw new Failure.Ends(
          ExitCode.TARGET_GONE,
          "no source of events is called "
              + CleanText.clean(wanted, MAX_TEXT)
              + "; flametop events lists all, with -p PID those of a process too");
    }
    for (ListedSource source : list.first()) {
      out.println(String.join("\t", source.spec(), source.details(), source.missing()));
    }
  }
}

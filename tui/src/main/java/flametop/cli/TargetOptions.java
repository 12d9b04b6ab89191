package flametop.cli;

import flametop.sampler.Target;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** The target of sampling. */
final class TargetOptions {
  /**
   * Between the numbers of a list: a comma, or blanks and line ends, as {@code pgrep} writes them.
   * Not at the end: a list that ends in a comma is refused, as is one of commas alone.
   */
  static final String BETWEEN = "(?: *, *|\\s+)(?!$)";

  @Option(
      names = "-a",
      order = 1,
      hidden = true,
      description = {
        "all tasks of this host",
        "Samples all tasks of the machine. This is the default."
      })
  private boolean all;

  @Option(
      names = "-p",
      order = 2,
      paramLabel = "PID",
      split = BETWEEN,
      splitSynopsisLabel = ",",
      converter = Id.class,
      description = {
        "only this process; -t TID: this thread (default: all)",
        "Samples these processes only. The option may be repeated, and takes a list: -p 12,34 or -p \"$(pgrep nginx)\"."
      })
  private List<Integer> processes = new ArrayList<>();

  @Option(
      names = "-t",
      order = 3,
      hidden = true,
      paramLabel = "TID",
      split = BETWEEN,
      splitSynopsisLabel = ",",
      converter = Id.class,
      description = {
        "only this thread; may be repeated",
        "Samples these threads only. The option may be repeated, and takes a list."
      })
  private List<Integer> threads = new ArrayList<>();

  @Option(
      names = "--cgroup",
      order = 4,
      paramLabel = "PATH",
      description = {
        "only this control group and those below it",
        "Samples this control group (of version 2) and those below it only. The path begins at the root of the hierarchy, or is that of the group's folder."
      })
  private @Nullable String cgroup;

  /** A number that may be a process or thread. */
  static final class Id implements ITypeConverter<Integer> {
    private static final int MOST = 4_194_304;

    @Override
    public Integer convert(String given) {
      String text = given.strip();
      if (text.matches("[0-9]{1,9}")
          && Integer.parseInt(text) >= 1
          && Integer.parseInt(text) <= MOST) {
        return Integer.valueOf(text);
      }
      throw new TypeConversionException("'" + text + "' is no number from 1 to " + MOST);
    }
  }

  /**
   * Refuses a program to start beside another target.
   *
   * @param program empty: none
   */
  void agree(List<String> program, ReplayOptions replay) {
    if (!program.isEmpty() && (given() || replay.file() != null)) {
      throw Failure.usage(
          (given() ? "-a, -p, -t and --cgroup" : "--replay")
              + " and a program to start (--) are different targets; give one of them");
    }
  }

  boolean given() {
    return all || !processes.isEmpty() || !threads.isEmpty() || cgroup != null;
  }

  /**
   * The target, which is there now.
   *
   * @throws Failure.Ends if it is not, or cannot be
   */
  Target target() {
    if (Stream.of(all, !processes.isEmpty(), !threads.isEmpty(), cgroup != null)
            .filter(given -> given)
            .count()
        > 1) {
      throw Failure.usage("-a, -p, -t and --cgroup name different targets; give one of them");
    }
    if (cgroup != null) {
      return ControlGroups.named(cgroup);
    }
    threads.forEach(tid -> leader(tid, "thread"));
    return threads.isEmpty() ? of(processes) : Target.threads(threads);
  }

  /**
   * These processes, which are there now; none: all tasks.
   *
   * @throws Failure.Ends if one is not there
   */
  static Target of(List<Integer> processes) {
    for (int pid : processes) {
      int leader = leader(pid, "process");
      if (leader != pid) {
        throw new Failure.Ends(
            ExitCode.TARGET_GONE,
            pid
                + " is no process, but a thread of process "
                + leader
                + "; use -t "
                + pid
                + " or -p "
                + leader);
      }
    }
    return processes.isEmpty() ? Target.ALL : Target.processes(processes);
  }

  /** Whether any of the target still lives; one that only waits to be reaped does not. */
  static boolean isThere(Target target) {
    if (target.kind() == Target.Kind.CGROUP) {
      return ControlGroups.isThere(target);
    }
    return target.ids().isEmpty() || target.ids().stream().anyMatch(TargetOptions::lives);
  }

  private static boolean lives(int id) {
    try {
      int ended = 0;
      for (String line : status(id)) {
        ended += line.matches("State:\\s+[ZX].*|Threads:\\s+[01]") ? 1 : 0;
      }
      return ended < 2;
    } catch (IOException e) {
      return false;
    }
  }

  private static int leader(int id, String what) {
    try {
      for (String line : status(id)) {
        if (line.startsWith("Tgid:")) {
          return Integer.parseInt(line.substring(5).trim());
        }
      }
      return id;
    } catch (IOException e) {
      throw new Failure.Ends(
          ExitCode.TARGET_GONE,
          "there is no " + what + " " + id + "; ps -eLf lists those that there are");
    }
  }

  /** Lines of the kernel; the name in the first is any bytes, of which it escapes the line end. */
  private static String[] status(int id) throws IOException {
    Path file = Path.of("/proc", String.valueOf(id), "status");
    return Files.readString(file, StandardCharsets.ISO_8859_1).split("\n");
  }
}

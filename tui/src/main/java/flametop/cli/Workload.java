package flametop.cli;

import flametop.sampler.CleanText;
import flametop.sampler.Target;
import flametop.term.UserEnvironment;
import flametop.term.device.Helper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A program that flametop starts and samples with all that it starts in turn. They are told from
 * the rest of the host by a control group of their own: it is inherited by every child, however
 * short it lives and whoever becomes its parent.
 */
final class Workload implements AutoCloseable {
  private static final int MAX_SHOWN = 40;
  private static final String GROUP = "flametop-";

  /** How long a program that is told to end may take, before it is left to itself. */
  private static final long END_SECONDS = 2;

  private static final int MAX_PROCESSES = 1000;
  private static final int MAX_NAMED = 10;

  private final List<String> command;
  private final Path group;

  /** Null until the program is started. */
  private @Nullable Process process;

  private boolean toldToEnd;

  private Workload(List<String> command, Path group) {
    this.command = command;
    this.group = group;
  }

  /**
   * Makes the control group that the program will run in.
   *
   * @throws Failure.Ends if there can be none
   */
  static Workload of(List<String> command) {
    try {
      Path parent = ControlGroups.own();
      removeEmpty(parent);
      Path group = parent.resolve(GROUP + ProcessHandle.current().pid());
      Files.createDirectories(group);
      return new Workload(command, group);
    } catch (IOException e) {
      throw new Failure.Ends(
          ExitCode.NOT_POSSIBLE,
          "no control group can be made for the program ("
              + CleanText.clean(String.valueOf(e.getMessage()), 200)
              + "), by which its children are known; start it by itself and use -p PID");
    }
  }

  /**
   * Removes groups that killed flametops left behind. A group with processes stays, and so does the
   * group of another flametop that is about to start its program.
   */
  private static void removeEmpty(Path parent) throws IOException {
    try (DirectoryStream<Path> left = Files.newDirectoryStream(parent, GROUP + "*")) {
      for (Path group : left) {
        String pid = group.getFileName().toString().substring(GROUP.length());
        if (!Files.exists(Path.of("/proc", pid))) {
          remove(group);
        }
      }
    } catch (DirectoryIteratorException e) {
      throw e.getCause();
    }
  }

  private static void remove(Path group) {
    try {
      Files.deleteIfExists(group);
    } catch (IOException e) {
      // Something still runs there.
    }
  }

  Target target() throws IOException {
    return ControlGroups.target(group);
  }

  /** The program with its arguments, for people. */
  String what() {
    return CleanText.clean(String.join(" ", command), MAX_SHOWN);
  }

  /**
   * Starts the program.
   *
   * @param quiet it has no input, and what it writes is dropped: the terminal is not its own
   */
  synchronized void start(boolean quiet) throws IOException {
    // It joins the group and becomes the program: nothing of the program is before that.
    List<String> line = new ArrayList<>();
    line.add("run");
    line.add(group.resolve("cgroup.procs").toString());
    line.addAll(command);
    ProcessBuilder builder = new ProcessBuilder(Helper.command(line));
    UserEnvironment.restore(builder.environment());
    if (quiet) {
      builder.redirectInput(Path.of("/dev/null").toFile());
      builder.redirectOutput(ProcessBuilder.Redirect.DISCARD);
      builder.redirectError(ProcessBuilder.Redirect.DISCARD);
    } else {
      builder.inheritIO();
    }
    process = builder.start();
  }

  /** Whether the program was started and has ended; its children may live on. */
  synchronized boolean isOver() {
    return process != null && !process.isAlive();
  }

  /** The exit code of the program that ended, or 128 and the number of the signal. */
  synchronized int exitCode() {
    if (process == null) {
      throw new IllegalStateException("the program was not started");
    }
    return process.exitValue();
  }

  /**
   * If the program still runs, tells it and all that it has started to end (TERM) and waits a while
   * for that. What it left running when it ended by itself goes on. A second call tells nobody: to
   * many programs a second TERM means to end without cleaning up.
   */
  @Override
  public synchronized void close() {
    if (process != null && process.isAlive() && !toldToEnd) {
      toldToEnd = true;
      try {
        end(process);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
    remove(group);
  }

  private void end(Process process) throws InterruptedException {
    long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(END_SECONDS);
    Set<ProcessHandle> told = new HashSet<>();
    // It may not have come to its group yet.
    process.destroy();
    told.add(process.toHandle());
    // Again, since they may start others meanwhile.
    while (true) {
      List<ProcessHandle> running = ControlGroups.processes(group, MAX_PROCESSES);
      for (ProcessHandle one : running) {
        if (told.add(one)) {
          one.destroy();
        }
      }
      if (running.isEmpty() && !process.isAlive() || System.nanoTime() >= until) {
        return;
      }
      TimeUnit.MILLISECONDS.sleep(20);
    }
  }

  /** After the end: which processes of the program still run, for people; none if none does. */
  synchronized Optional<String> left() {
    List<ProcessHandle> running = ControlGroups.processes(group, MAX_PROCESSES);
    if (running.isEmpty()) {
      return Optional.empty();
    }
    List<String> pids = running.stream().map(one -> Long.toString(one.pid())).toList();
    List<String> named = pids.stream().limit(MAX_NAMED).map(Workload::named).toList();
    boolean all = pids.size() <= MAX_NAMED;
    return Optional.of(
        what()
            + " has left running: "
            + String.join(", ", named)
            + (all ? "" : " and " + (pids.size() - MAX_NAMED) + " more")
            + "; to end "
            + (all
                ? "them: kill " + String.join(" ", pids)
                : "all: echo 1 >" + group.resolve("cgroup.kill")));
  }

  private static String named(String pid) {
    try {
      byte[] comm = Files.readAllBytes(Path.of("/proc", pid, "comm"));
      String name = new String(comm, StandardCharsets.UTF_8).strip();
      return CleanText.clean(name, MAX_SHOWN) + " (" + pid + ")";
    } catch (IOException e) {
      return pid;
    }
  }
}

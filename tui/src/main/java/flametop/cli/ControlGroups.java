package flametop.cli;

import flametop.sampler.CleanText;
import flametop.sampler.Target;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Control groups of version 2, as folders. */
final class ControlGroups {
  private static final int MAX_SHOWN = 200;
  private static final int MAX_DEPTH = 32;
  private static final int MAX_GROUPS = 1000;

  private ControlGroups() {}

  /** Where the hierarchy is mounted. */
  private static Path mount() throws IOException {
    String mount = null;
    for (String line : lines("/proc/self/mountinfo")) {
      int end = line.indexOf(" - ");
      if (end > 0 && line.startsWith("cgroup2 ", end + 3)) {
        mount = line.split(" ")[4];
      }
    }
    if (mount == null) {
      throw new IOException("no cgroup2 file system is mounted");
    }
    return Path.of(mount);
  }

  /** Names in it are any bytes, and not all are ours. */
  private static String[] lines(String file) throws IOException {
    return new String(Files.readAllBytes(Path.of(file)), StandardCharsets.UTF_8).split("\n");
  }

  /** The group that this process is in. */
  static Path own() throws IOException {
    return of("self");
  }

  private static Path of(String pid) throws IOException {
    String file = "/proc/" + pid + "/cgroup";
    for (String line : lines(file)) {
      if (line.startsWith("0::/")) {
        return mount().resolve(line.substring(4));
      }
    }
    throw new IOException(file + " names no group");
  }

  /**
   * The processes of a group and of those below it, as handles that never come to mean another
   * process; at most so many. Empty if there is no such group.
   */
  static List<ProcessHandle> processes(Path group, int most) {
    List<ProcessHandle> found = new ArrayList<>();
    try (Stream<Path> folders = Files.find(group, MAX_DEPTH, (p, facts) -> facts.isDirectory())) {
      for (Path folder : (Iterable<Path>) folders.limit(MAX_GROUPS)::iterator) {
        for (String pid : pids(folder)) {
          if (found.size() == most) {
            return found;
          }
          // First the handle, which knows when the process began, then whose it is.
          Optional<ProcessHandle> handle = ProcessHandle.of(Long.parseLong(pid));
          if (handle.isPresent() && isIn(pid, group)) {
            found.add(handle.get());
          }
        }
      }
    } catch (IOException | UncheckedIOException e) {
      // It is gone, with all that ran there.
    }
    return found;
  }

  private static List<String> pids(Path folder) {
    try {
      // 0 is a process that this pid namespace does not have.
      return Files.readAllLines(folder.resolve("cgroup.procs")).stream()
          .filter(pid -> pid.matches("[1-9][0-9]{0,9}"))
          .toList();
    } catch (IOException e) {
      return List.of();
    }
  }

  private static boolean isIn(String pid, Path group) {
    try {
      return of(pid).startsWith(group);
    } catch (IOException | InvalidPathException e) {
      return false;
    }
  }

  /** The tasks of a group, which is there. */
  static Target target(Path group) throws IOException {
    return Target.cgroup(id(group), "/" + mount().relativize(group));
  }

  /**
   * The tasks of a group.
   *
   * @param given its path from the root of the hierarchy, or of its folder
   * @throws Failure.Ends if there is none, or if it is no path of one
   */
  static Target named(String given) {
    if (given.isEmpty() || List.of(given.split("/")).contains("..")) {
      throw Failure.usage(
          "--cgroup takes the path of a control group, without ..: /system.slice/ssh.service");
    }
    Path mount;
    try {
      mount = mount();
    } catch (IOException e) {
      throw new Failure.Ends(
          ExitCode.NOT_POSSIBLE,
          "--cgroup is of control groups of version 2, and "
              + e.getMessage()
              + "; name processes by -p PID");
    }
    try {
      Path group = Path.of(given).normalize();
      if (!group.startsWith(mount)) {
        group = mount.resolve(Path.of("/").relativize(Path.of("/").resolve(group))).normalize();
      }
      if (group.startsWith(mount) && Files.isDirectory(group)) {
        return target(group);
      }
    } catch (IOException | InvalidPathException e) {
      // Said below.
    }
    throw new Failure.Ends(
        ExitCode.TARGET_GONE,
        "there is no control group "
            + CleanText.clean(given, MAX_SHOWN)
            + " below "
            + mount
            + "; systemd-cgls, or find "
            + mount
            + " -type d, lists those that there are");
  }

  /** Whether the group of a target is there still: another of its name is not. */
  static boolean isThere(Target target) {
    try {
      return id(mount().resolve(target.path().substring(1))) == target.cgroup();
    } catch (IOException | InvalidPathException e) {
      return false;
    }
  }

  private static long id(Path group) throws IOException {
    return (Long) Files.getAttribute(group, "unix:ino");
  }
}

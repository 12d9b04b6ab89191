package flametop.cli.check;

import flametop.profile.host.HostMemory;
import flametop.sampler.CleanText;
import flametop.sampler.KernelSource;
import flametop.sampler.KernelSource.CheckLine;
import flametop.sampler.SamplerException;
import flametop.term.Look;
import flametop.term.UserFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * flametop tries itself on this machine: after all that the machine allows it samples a program
 * whose functions are known, and looks at the terminal, the themes and the memory. It takes some
 * seconds, and writes no file.
 *
 * @param terminal whether a screen could be opened here
 * @param environment as of {@link System#getenv()}
 * @param group folder of the control group of this process; null if there is none
 */
public record SelfTest(boolean terminal, Map<String, String> environment, @Nullable Path group) {
  /** All of flametop with its screen stays below. */
  private static final long NEEDED_BYTES = 170L << 20;

  /**
   * A line for each thing that was tried.
   *
   * @throws SamplerException if the native library is not there or does not fit
   */
  public List<CheckLine> run() throws SamplerException, InterruptedException {
    List<CheckLine> lines = new ArrayList<>(KernelSource.check());
    if (lines.stream().allMatch(line -> line.ok() || !line.needed())) {
      lines.addAll(Subject.sampled());
    }
    lines.add(screen());
    lines.add(themes());
    lines.add(memory());
    return lines;
  }

  private CheckLine screen() {
    String drawn = Look.drawn(environment);
    String term = CleanText.clean(environment.getOrDefault("TERM", "not set"), 40);
    String detail =
        !terminal
            ? "stdin or stdout is none: the screen was not tried"
            : drawn.isEmpty() ? "it cannot draw a screen (TERM is " + term + ")" : drawn;
    boolean ok = terminal && !drawn.isEmpty();
    return new CheckLine(ok, false, "terminal", detail, "flametop record and top need none");
  }

  private CheckLine themes() {
    UserFiles user = UserFiles.of(environment);
    Set<String> names = Look.themes(user);
    if (names.isEmpty()) {
      String folder = CleanText.clean(Look.themesFolder().toString(), 500);
      return new CheckLine(
          false, true, "themes", "none is in " + folder, "unpack or build flametop anew");
    }
    List<String> faults = Look.faultyThemes(user);
    String detail =
        faults.isEmpty()
            ? names.size() + " can be shown"
            : faults.size() + " of " + names.size() + " cannot be shown: " + faults.get(0);
    return new CheckLine(
        faults.isEmpty(),
        faults.size() == names.size(),
        "themes",
        detail,
        "correct that file; docs/themes.md says what stands in it");
  }

  private CheckLine memory() {
    long free = HostMemory.available();
    String of = "available on this machine";
    for (Path at = group; at != null; at = at.getParent()) {
      long left = number(at.resolve("memory.max")) - number(at.resolve("memory.current"));
      if (number(at.resolve("memory.max")) > 0 && left < free) {
        free = Math.max(0, left);
        of = "left to the control group " + CleanText.clean(String.valueOf(at.getFileName()), 80);
      }
    }
    boolean ok = free >= NEEDED_BYTES;
    String detail = String.format(Locale.ROOT, "%,d MiB %s", free >> 20, of);
    return new CheckLine(
        ok,
        false,
        "memory",
        ok ? detail : detail + "; a screen takes up to " + (NEEDED_BYTES >> 20),
        "a lower rate and a shorter past need less: -F 9 --history 8");
  }

  /** The number in a file; 0 if there is none. */
  private static long number(Path file) {
    try {
      return Long.parseLong(Files.readString(file).strip());
    } catch (IOException | NumberFormatException e) {
      return 0;
    }
  }
}

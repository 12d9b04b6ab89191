// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Compares flametop's stacks of sleeping threads with those of eu-stack (elfutils), thread by thread.
 *
 * <p>{@code java bench/WholeStacks.java [-v] PID...} as root. For every thread that sleeps: which of the user frames that
 * eu-stack shows are there in flametop's stack, in order (longest common subsequence). Two names of one address are the same
 * frame; a frame that eu-stack cannot name equals one that flametop names by the start of its function.
 */
final class WholeStacks {
  private static final boolean[] VERBOSE = {false};

  public static void main(String[] args) throws Exception {
    List<String> pids = new ArrayList<>(Arrays.asList(args));
    VERBOSE[0] = pids.remove("-v");
    if (pids.isEmpty()) {
      System.err.println("usage: java bench/WholeStacks.java [-v] PID...");
      System.exit(2);
    }
    int threads = 0;
    int whole = 0;
    int frames = 0;
    int found = 0;
    for (String pid : pids) {
      Map<Integer, List<String>> ours = flametop(pid);
      Map<Integer, List<String>> theirs = euStack(pid);
      Map<String, Set<String>> places = symbolPlaces(pid);
      int processFrames = 0;
      int processFound = 0;
      int processThreads = 0;
      for (var e : theirs.entrySet()) {
        List<String> mine = ours.getOrDefault(e.getKey(), List.of());
        int common = commonSubsequence(e.getValue(), mine, places);
        processThreads++;
        processFrames += e.getValue().size();
        processFound += common;
        if (common == e.getValue().size()) {
          whole++;
        } else if (VERBOSE[0]) {
          System.out.println("tid " + e.getKey() + "\n  eu-stack  " + e.getValue() + "\n  flametop  " + mine);
        }
      }
      threads += processThreads;
      frames += processFrames;
      found += processFound;
      System.out.printf(
          "%-8s %-16s %4d threads %5d frames %5d found %6.2f %%%n",
          pid,
          Files.readString(Path.of("/proc", pid, "comm")).strip(),
          processThreads,
          processFrames,
          processFound,
          100.0 * processFound / Math.max(1, processFrames));
    }
    System.out.printf(
        "all      %d threads, %d whole; %d of %d frames in order: %.2f %%%n",
        threads, whole, found, frames, 100.0 * found / Math.max(1, frames));
  }

  /** The heaviest stack of each thread, leaf first, user frames only. */
  private static Map<Integer, List<String>> flametop(String pid) throws Exception {
    String launcher = Path.of(System.getProperty("flametop", "./flametop")).toAbsolutePath().toString();
    List<String> lines =
        run(launcher, "record", "-p", pid, "--by", "thread", "--states", "all", "--cpu-hz", "0", "-d", "3");
    Map<Integer, Long> weight = new HashMap<>();
    Map<Integer, List<String>> stacks = new LinkedHashMap<>();
    for (String line : lines) {
      int space = line.lastIndexOf(' ');
      if (line.startsWith("# ") || space < 0) {
        continue;
      }
      String[] parts = line.substring(0, space).split(";");
      if (parts.length < 3) {
        continue;
      }
      int tid = Integer.parseInt(parts[1].substring(parts[1].lastIndexOf('-') + 1));
      long value = Long.parseLong(line.substring(space + 1));
      if (value > weight.getOrDefault(tid, -1L)) {
        List<String> frames = new ArrayList<>();
        for (int i = parts.length - 1; i >= 2; i--) {
          if (!parts[i].endsWith("_[k]")) {
            frames.add(parts[i]);
          }
        }
        weight.put(tid, value);
        stacks.put(tid, frames);
      }
    }
    return stacks;
  }

  /** eu-stack's user frames of each thread, leaf first; "?" where it has no name. */
  private static Map<Integer, List<String>> euStack(String pid) throws Exception {
    Map<Integer, List<String>> stacks = new LinkedHashMap<>();
    List<String> frames = null;
    for (String line : run("eu-stack", "--debuginfo-path=:/nonexistent", "-n", "0", "-p", pid)) {
      if (line.startsWith("TID ")) {
        frames = new ArrayList<>();
        stacks.put(Integer.parseInt(line.substring(4, line.indexOf(':'))), frames);
      } else if (line.startsWith("#") && frames != null) {
        String[] words = line.split("\\s+", 3);
        frames.add(words.length < 3 || words[2].isBlank() ? "?" : words[2].strip().replaceAll("^- \\d+ ", "").strip());
      }
    }
    return stacks;
  }

  /** Name to the places (file and address) that it stands for, from the symbol tables of the mapped files. */
  private static Map<String, Set<String>> symbolPlaces(String pid) throws Exception {
    Map<String, Set<String>> places = new HashMap<>();
    Set<String> files = new HashSet<>();
    for (String line : Files.readAllLines(Path.of("/proc", pid, "maps"))) {
      String[] words = line.split("\\s+", 6);
      if (words.length == 6 && words[1].contains("x") && words[5].startsWith("/")) {
        files.add(words[5]);
      }
    }
    for (String file : files) {
      for (String table : List.of("-D", "-a")) {
        for (String line : run("nm", table, "--defined-only", file)) {
          String[] words = line.strip().split("\\s+", 3);
          if (words.length == 3) {
            places.computeIfAbsent(plain(words[2]), k -> new HashSet<>()).add(file + words[0]);
          }
        }
      }
    }
    return places;
  }

  private static String plain(String name) {
    int at = name.indexOf('@');
    return at > 0 ? name.substring(0, at) : name;
  }

  private static boolean same(String theirs, String ours, Map<String, Set<String>> places) {
    String a = plain(theirs);
    if (ours.equals("[thread_start]") || ours.equals("[process_start]") || ours.matches("\\[(thread|process) start\\]")) {
      return theirs.equals("?") || a.matches("_?_?(clone3?|_start|start)|_dl_start_user");
    }
    String b = plain(ours);
    if (theirs.equals("?")) {
      // flametop may have a name, of a debug file, where eu-stack was told to look for none.
      return !ours.startsWith("[");
    }
    return a.equals(b)
        || base(a).equals(base(b))
        || !Collections.disjoint(places.getOrDefault(a, Set.of()), places.getOrDefault(b, Set.of("")));
  }

  /** Without arguments and template brackets: the two demanglers differ in blanks. */
  private static String base(String name) {
    int end = name.indexOf('(');
    return (end > 0 ? name.substring(0, end) : name).replace(" ", "").replace("_", "");
  }

  private static int commonSubsequence(List<String> theirs, List<String> ours, Map<String, Set<String>> places) {
    int[][] best = new int[theirs.size() + 1][ours.size() + 1];
    for (int i = theirs.size() - 1; i >= 0; i--) {
      for (int j = ours.size() - 1; j >= 0; j--) {
        best[i][j] =
            same(theirs.get(i), ours.get(j), places)
                ? best[i + 1][j + 1] + 1
                : Math.max(best[i + 1][j], best[i][j + 1]);
      }
    }
    return best[0][0];
  }

  private static List<String> run(String... command) throws IOException, InterruptedException {
    Process p = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
    p.getOutputStream().close();
    List<String> lines = new ArrayList<>();
    try (var in = p.inputReader()) {
      in.lines().forEach(lines::add);
    }
    p.waitFor();
    return lines;
  }
}

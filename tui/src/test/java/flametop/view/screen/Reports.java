package flametop.view.screen;

import flametop.profile.answer.CpuReport;
import flametop.profile.answer.CpuRow;
import flametop.profile.answer.ProcessRow;
import flametop.profile.answer.QualityReport;
import flametop.profile.answer.QualityReport.Row;
import flametop.profile.answer.Source;
import flametop.sampler.Call;
import flametop.sampler.DebugFiles;
import flametop.sampler.OwnPart;
import flametop.sampler.State;
import flametop.sampler.WalkEnd;
import java.util.ArrayList;
import java.util.List;

/** Tables, panels and lists of a machine made by hand. */
public final class Reports {
  private Reports() {}

  /** CPUs with two idle states, from fully busy to nearly idle. */
  public static List<CpuRow> cpus(int count) {
    List<CpuRow> rows = new ArrayList<>();
    double[][] shares = {
      {0.31, 0.15, 0.02, 0.156, 0.364},
      {0.66, 0.21, 0.03, 0.030, 0.070},
      {0.05, 0.02, 0, 0.10, 0.83}
    };
    for (int i = 0; i < count; i++) {
      double[] s = shares[i % shares.length];
      rows.add(
          new CpuRow(
              i,
              s[0] + s[1] + s[2],
              s[0],
              s[1],
              s[2] / 2,
              s[2] / 2,
              0,
              0.4e6 + 2.7e6 * (i % 2),
              340 + 20 * i,
              99,
              2.4e9 + 1e8 * (i % 5),
              (s[0] + s[1] + s[2]) * 0.97,
              List.of(
                  new CpuRow.IdleRow("C1", 2, 2, s[3], 210, 0.16, 0.02),
                  new CpuRow.IdleRow("C6", 133, 600, s[4], 130, 0.06, Double.NaN))));
    }
    return rows;
  }

  /** Many CPUs, of which some nodes are busier than others, and wait more. */
  public static List<CpuRow> crowd(int count) {
    List<CpuRow> rows = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      double busy =
          Math.min(1, Math.abs(Math.sin(i * 12.9898) * 0.5 + 0.5 * Math.sin(i / 20.0 + 1)));
      busy = i % 37 == 5 ? 1 : busy;
      double waiting = busy > 0.9 ? 4e8 * (1 + i % 5) : 1e6 * (i % 9);
      rows.add(
          new CpuRow(
              i,
              busy,
              busy * 0.7,
              busy * 0.2,
              busy * 0.04,
              busy * 0.03,
              i % 16 == 3 ? busy * 0.03 : 0,
              waiting,
              100 + i,
              i % 2 == 0 ? 99 : 40,
              1.2e9 + 2e9 * busy,
              busy * 1.02,
              List.of(
                  new CpuRow.IdleRow("POLL", 0, 0, (1 - busy) * 0.01, 12, 0, 0.3),
                  new CpuRow.IdleRow("C1", 2, 2, (1 - busy) * 0.3, 80, 0.16, 0.02),
                  new CpuRow.IdleRow("C6", 133, 600, (1 - busy) * 0.69, 20.5, 0.06, 0))));
    }
    return rows;
  }

  /** CPUs as a virtual machine shows them: no idle states, no frequency, no counters. */
  static CpuReport bare() {
    double nan = Double.NaN;
    List<CpuRow> rows = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      double busy = 0.3 + 0.4 * i;
      rows.add(
          new CpuRow(i, busy, busy / 2, busy / 2, 0, nan, nan, 2e7, 840, 99, nan, nan, List.of()));
    }
    return new CpuReport(
        rows,
        "no idle states: the kernel has no cpuidle driver here, as in most virtual machines; idle time is counted all the same",
        "no frequencies: the kernel has no cpufreq driver, as in most virtual machines",
        "no cycles: no hardware counters here, as in most virtual machines");
  }

  public static List<ProcessRow> processes() {
    return List.of(
        row(812, 106, "redis-server", "/usr/bin/redis-server 127.0.0.1:6379", 5930, 1, 3),
        row(
            2210,
            1000,
            "java",
            "/usr/lib/jvm/java-17-openjdk-amd64/bin/java -Xmx2g -jar app.jar --spring.profiles.active=prod",
            2570,
            1,
            38),
        row(1051, 108, "postgres", "postgres: app app 10.0.0.7(51422) UPDATE", 2300, 1, 0),
        row(1044, 108, "postgres", "postgres: 15/main: checkpointer", 2000, 1, 0),
        row(644, 33, "nginx", "nginx: worker process", 530, 0, 1),
        row(1, 0, "systemd", "/sbin/init", 11, 0, 1));
  }

  public static List<ProcessRow> cgroups() {
    return List.of(
        group("/system.slice", 41, 9_300, 1),
        group("/system.slice/redis-server.service", 1, 5_930, 1),
        group("/user.slice/user-1000.slice/session-4.scope", 12, 2_570, 2),
        group("/system.slice/nginx.service", 5, 530, 0),
        group(
            "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1f2e.slice/cri-containerd-9a6f01c3d2e49a6f01c3d2e49a6f01c3d2e49a6f01c3d2e49a6f01c3d2e4aaaa.scope",
            3,
            410,
            0),
        group("/", 118, 60, 0));
  }

  private static ProcessRow group(String path, int processes, long weight, int run) {
    int[] tasks = new int[State.values().length];
    tasks[State.RUN.ordinal()] = run;
    tasks[State.SLEEP.ordinal()] = processes;
    return new ProcessRow(0, processes, 0, path, "", weight, 14_000, tasks, true);
  }

  private static ProcessRow row(
      int pid, int uid, String comm, String commandLine, long weight, int run, int asleep) {
    int[] tasks = new int[State.values().length];
    tasks[State.RUN.ordinal()] = run;
    tasks[State.SLEEP.ordinal()] = asleep;
    return new ProcessRow(pid, 1, uid, comm, commandLine, weight, 14_000, tasks, true);
  }

  /** Where a node is in the source: inlined, plain, awaited, and not to be had. */
  public static Source source(long node) {
    String query = "/build/redis-7.0.15/src/networking.c";
    List<Source.Place> places =
        List.of(
            new Source.Place(
                620,
                List.of(
                    new Call("readQueryFromClient", query, 2731),
                    new Call("processInputBuffer", query, 2465),
                    new Call(
                        "std::vector<std::pair<int, std::string>>::push_back(std::pair<int, std::string> const&)",
                        "/usr/include/c++/12/bits/stl_vector.h",
                        1281)),
                ""),
            new Source.Place(200, List.of(new Call("readQueryFromClient", query, 2750)), ""),
            new Source.Place(100, List.of(), ""),
            new Source.Place(
                80,
                List.of(),
                "no debug information: install its debug package, which has /usr/lib/debug/.build-id/12/3456789abcdef.debug"));
    return new Source(node, "readQueryFromClient", 1000, places, 3);
  }

  /** Samples of the server, most of them whole. */
  public static QualityReport quality() {
    List<Row> processes =
        List.of(
            new Row(812, "redis-server", counts(18_204, 31, WalkEnd.TRUNCATED, 40)),
            new Row(
                2_204_118,
                "java",
                limited(
                    512,
                    counts(3_120, 0, WalkEnd.JIT, 2_890, WalkEnd.MM_BUSY, 12, WalkEnd.TORN, 3))),
            new Row(977, "postgres", counts(940, 0, WalkEnd.OTHER_STACK, 1)),
            new Row(0, "(others)", counts(12, 0, WalkEnd.EXITED, 33)));
    List<Row> modules =
        List.of(
            new Row(0, "libc.so.6", counts(17_000, 12)),
            new Row(0, "libcrypto.so.3", counts(900, 300, WalkEnd.NO_UNWIND_INFO, 80)),
            new Row(0, "(no user frame)", counts(0, 0, WalkEnd.EXITED, 33)));
    List<Row> runtimes =
        List.of(
            new Row(
                0,
                "Java",
                of(
                    950,
                    3_124,
                    counts(1_000, 0, WalkEnd.JIT, 2_890, WalkEnd.MM_BUSY, 12, WalkEnd.TORN, 3))),
            new Row(0, "Python", of(2_118, 2_040, counts(2_120, 3, WalkEnd.TRUNCATED, 2))),
            new Row(0, "native", of(18_870, 0, counts(19_156, 28, WalkEnd.TRUNCATED, 38))),
            new Row(0, "(no user frame)", counts(0, 0, WalkEnd.EXITED, 33)));
    QualityReport.Counts window =
        counts(22_276, 31, WalkEnd.JIT, 2_890, WalkEnd.TRUNCATED, 40, WalkEnd.EXITED, 33);
    QualityReport.Counts all =
        limited(9_000, counts(2_227_600, 3_100, WalkEnd.JIT, 289_000, WalkEnd.LIMIT, 4_000));
    return new QualityReport(
        33 * Pictures.SECOND,
        new QualityReport.Sum(window, 627, 627, 0, 61_000_000, 0, 0, 0),
        new QualityReport.Sum(all, 62_700, 62_696, 4, 231_000_000, 17, 0, 3),
        processes,
        modules,
        runtimes,
        List.of(
            new QualityReport.Part("passes", 0.0041),
            new QualityReport.Part("ring", 0.0022),
            new QualityReport.Part("profile", 0.0038),
            new QualityReport.Part("screen", 0.0102),
            new QualityReport.Part("names", 0.0001),
            new QualityReport.Part("compiler", 0.0004),
            new QualityReport.Part("collector", 0.0009),
            new QualityReport.Part("other", 0.0006),
            new QualityReport.Part("symbolizer", 0),
            new QualityReport.Part("bpf cpu_stacks", 0.0007),
            new QualityReport.Part("bpf cpu_idle", 0.0002)),
        List.of(new OwnPart("flametop", 98L << 20), new OwnPart("symbolizer", 21L << 20)),
        412_000,
        38_400,
        new DebugFiles(0, 0, 0, 0, 0, 0));
  }

  private static QualityReport.Counts counts(long whole, long guessed, Object... reasons) {
    long[] counts = new long[QualityReport.OUTCOMES];
    counts[0] = whole;
    counts[QualityReport.GUESSED] = guessed;
    for (int i = 0; i < reasons.length; i += 2) {
      counts[((WalkEnd) reasons[i]).ordinal()] = (Integer) reasons[i + 1];
    }
    return new QualityReport.Counts(counts);
  }

  private static QualityReport.Counts of(long named, long inLanguage, QualityReport.Counts counts) {
    counts.byOutcome()[QualityReport.NAMED] = named;
    counts.byOutcome()[QualityReport.IN_LANGUAGE] = inLanguage;
    return counts;
  }

  private static QualityReport.Counts limited(long limited, QualityReport.Counts counts) {
    counts.byOutcome()[QualityReport.NAME_LIMITED] = limited;
    return counts;
  }
}

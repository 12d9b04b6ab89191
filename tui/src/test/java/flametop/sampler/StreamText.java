package flametop.sampler;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Writes a stream as the text form of the crate {@code flametop-stream}; its strings are clean ones
 * here.
 */
final class StreamText implements StreamVisitor {
  final List<String> lines = new ArrayList<>();

  /** What the reader itself told. */
  final List<String> notices = new ArrayList<>();

  @Override
  public void batchBegins(long time, int sequence, boolean endsPass, boolean more) {
    add("batch time=%s sequence=%s pass=%s more=%s", u(time), u(sequence), b(endsPass), b(more));
  }

  @Override
  public void batchEnds() {}

  @Override
  public void counters(long[] totals) {
    add(
        "counters totals=%s",
        Arrays.stream(totals).mapToObj(StreamText::u).collect(Collectors.joining(",")));
  }

  @Override
  public void processSeen(
      int process,
      int tgid,
      long startBoottime,
      int execId,
      int uid,
      long cgroup,
      boolean kthread,
      String comm,
      String commandLine) {
    add(
        "process id=%s tgid=%s start=%s exec=%s uid=%s cgroup=%s kthread=%s comm=%s cmdline=%s",
        u(process),
        u(tgid),
        u(startBoottime),
        u(execId),
        u(uid),
        u(cgroup),
        b(kthread),
        quoted(comm),
        quoted(commandLine));
  }

  @Override
  public void taskBlocked(int task, long nanos) {
    add("blocked task=%s ns=%s", u(task), counted(nanos));
  }

  @Override
  public void cgroup(int process, String path) {
    add("cgroup process=%s path=%s", u(process), quoted(path));
  }

  @Override
  public void parent(int process, int parent) {
    add("parent process=%s parent=%s", u(process), u(parent));
  }

  @Override
  public void taskSeen(int task, int process, int tid, long start, boolean fresh, String comm) {
    add(
        "task id=%s process=%s tid=%s start=%s fresh=%s comm=%s",
        u(task), u(process), u(tid), u(start), b(fresh), quoted(comm));
  }

  @Override
  public void taskGone(int task, long time, long run, long wait, boolean exact) {
    add(
        "gone task=%s time=%s run=%s wait=%s exact=%s",
        u(task), u(time), u(run), u(wait), b(exact));
  }

  @Override
  public void moduleSeen(int module, ModuleKind kind, String path, String buildId) {
    add(
        "module id=%s kind=%s path=%s build_id=%s",
        u(module), kind.number(), quoted(path), buildId);
  }

  @Override
  public void frameSeen(int frame, int module, long offset, boolean guessed) {
    add("frame id=%s module=%s offset=%s guessed=%s", u(frame), u(module), u(offset), b(guessed));
  }

  @Override
  public void stackSeen(int stack, WalkEnd end, int user, int[] frames) {
    String list = Arrays.stream(frames).mapToObj(StreamText::u).collect(Collectors.joining(","));
    add("stack id=%s end=%s user=%s frames=%s", u(stack), end.number(), user, list);
  }

  @Override
  public void taskChanged(Head head) {
    add("changed %s", text(head));
  }

  @Override
  public void cpuSample(Head head) {
    add("sample %s user=%s", text(head), b(head.userMode));
  }

  @Override
  public void sourceSeen(int source, SourceState state, SourceUnit unit, String spec, String why) {
    add(
        "source id=%s state=%s unit=%s spec=%s why=%s",
        u(source), state.number(), unit.number(), quoted(spec), quoted(why));
  }

  @Override
  public void sourceTotals(int source, SourceTotals totals) {
    add(
        "totals source=%s hits=%s weight=%s taken=%s lost=%s missed=%s rate=%s nanos=%s histogram=%s",
        u(source),
        u(totals.hits()),
        u(totals.weight()),
        u(totals.taken()),
        u(totals.lost()),
        counted(totals.missed()),
        u(totals.rate()),
        counted(totals.nanos()),
        totals.histogram().stream().map(Long::toUnsignedString).collect(Collectors.joining(",")));
  }

  @Override
  public void event(Head head, int source, long weight, long rate) {
    add(
        "event %s user=%s source=%s weight=%s rate=%s",
        text(head), b(head.userMode), u(source), u(weight), u(rate));
  }

  @Override
  public void cpuUsage(int cpu, long[] totals) {
    Object[] texts = new Object[1 + totals.length];
    texts[0] = u(cpu);
    for (int i = 0; i < totals.length; i++) {
      texts[1 + i] = i < 4 ? u(totals[i]) : counted(totals[i]);
    }
    add(
        "cpu cpu=%s idle=%s elapsed=%s wakeups=%s own_wakeups=%s user=%s nice=%s system=%s irq=%s softirq=%s steal=%s",
        texts);
  }

  @Override
  public void cpuCycles(int cpu, long frequency, long offered, long cycles) {
    add(
        "cycles cpu=%s frequency=%s offered=%s cycles=%s",
        u(cpu), counted(frequency), counted(offered), counted(cycles));
  }

  @Override
  public void idleState(
      int cpu, int state, long residency, long entries, long tooShort, long tooLong) {
    add(
        "idle cpu=%s state=%s residency=%s entries=%s too_short=%s too_long=%s",
        u(cpu), u(state), u(residency), u(entries), u(tooShort), u(tooLong));
  }

  @Override
  public void cpuChanged(int cpu, boolean online, List<StreamFacts.IdleState> states) {
    List<String> texts = new ArrayList<>();
    for (StreamFacts.IdleState s : states) {
      texts.add(
          String.join(
              ":",
              u(s.state()),
              quoted(s.name()),
              u(s.exitLatencyMicros()),
              u(s.targetResidencyMicros())));
    }
    add("came cpu=%s online=%s idle=%s", u(cpu), online ? 1 : 0, String.join(",", texts));
  }

  @Override
  public void name(int frame, NameSource source, String name) {
    add("name frame=%s source=%s name=%s", u(frame), source.number(), quoted(name));
  }

  @Override
  public void notice(int level, int process, String text) {
    if (text.contains("which this flametop does not know")) {
      notices.add(text);
    } else {
      String of = process == -1 ? "" : " process=" + u(process);
      add("notice level=%s text=%s%s", level, quoted(text), of);
    }
  }

  @Override
  public void unknown(int kind, int bytes) {
    add("unknown kind=%s bytes=%s", kind, bytes);
  }

  @Override
  public void hostUsage(int load1, int load5, int load15, int passHz, int cpuHz, long ownCpu) {
    add(
        "host load1=%s load5=%s load15=%s pass_hz=%s cpu_hz=%s own_cpu=%s",
        u(load1), u(load5), u(load15), u(passHz), u(cpuHz), u(ownCpu));
  }

  @Override
  public void place(int frame, List<Call> calls, String missing) {
    String told =
        calls.stream()
            .map(c -> quoted(c.function()) + "@" + quoted(c.file()) + ":" + u(c.line()))
            .collect(Collectors.joining(","));
    add("place frame=%s calls=%s missing=%s", u(frame), told, quoted(missing));
  }

  @Override
  public void ownUsage(List<OwnPart> cpu, List<OwnPart> resident) {
    add("own cpu=%s rss=%s", parts(cpu), parts(resident));
  }

  private static String text(Head head) {
    return String.format(
        "time=%s task=%s stack=%s run=%s wait=%s nvcsw=%s nivcsw=%s cpu=%s state=%s why=%s",
        u(head.time),
        u(head.task),
        head.stack == -1 ? "none" : u(head.stack),
        u(head.run),
        u(head.queued),
        u(head.nvcsw),
        u(head.nivcsw),
        u(head.cpu),
        head.state.number(),
        head.why.number());
  }

  private static String parts(List<OwnPart> parts) {
    return parts.stream()
        .map(part -> quoted(part.name()) + ":" + u(part.value()))
        .collect(Collectors.joining(","));
  }

  @Override
  public void forgotten(IdSpace space, int[] ids) {
    String list = Arrays.stream(ids).mapToObj(StreamText::u).collect(Collectors.joining(","));
    add("forgotten space=%s ids=%s", space.ordinal(), list);
  }

  private void add(String format, Object... values) {
    lines.add(String.format(format, values));
  }

  private static String u(long n) {
    return Long.toUnsignedString(n);
  }

  private static String u(int n) {
    return Integer.toUnsignedString(n);
  }

  private static String counted(long n) {
    return n == -1 ? "none" : u(n);
  }

  private static String b(boolean flag) {
    return flag ? "1" : "0";
  }

  static String quoted(String text) {
    StringBuilder out = new StringBuilder("\"");
    for (byte b : text.getBytes(StandardCharsets.UTF_8)) {
      if (b >= 0x20 && b <= 0x7E && b != '"' && b != '\\') {
        out.append((char) b);
      } else {
        out.append(String.format("\\x%02x", b));
      }
    }
    return out.append('"').toString();
  }
}

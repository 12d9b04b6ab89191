package flametop.export;

import flametop.profile.answer.FoldedStack;
import flametop.profile.answer.NodeKind;
import flametop.profile.answer.StateSet;
import flametop.sampler.State;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;

/**
 * The stacks of an interval for a store of profiles, whose values are the ns of each kind of state.
 *
 * @param stacks by control group: the groups that a stack begins with become its label {@code
 *     cgroup}, and are no frames
 * @param states whose time the stacks have
 */
public record StateExport(Provenance provenance, Iterable<FoldedStack> stacks, StateSet states) {
  /** A kind of state, which has a value of its own. */
  public enum Column {
    OTHER(StateSet.of(State.STOPPED, State.ZOMBIE, State.PARKED, State.IDLE_KTHREAD, State.OTHER)),
    SLEEPING(StateSet.of(State.SLEEP)),
    DISK_SLEEP(StateSet.of(State.DISK)),
    RUNNABLE(StateSet.of(State.QUEUED)),
    /** The last, which pprof shows if it is not asked for another. */
    ON_CPU(StateSet.of(State.RUN));

    /** As {@link StateSet#bits}. */
    private final int states;

    Column(StateSet states) {
      this.states = states.bits();
    }

    /** The type of the values: {@code on_cpu}. */
    public String type() {
      return name().toLowerCase(Locale.ROOT);
    }

    /** The column of a live stack's share, which always says the state. */
    static Column of(FoldedStack.Share share) {
      return of(Objects.requireNonNull(share.state()));
    }

    /** The column of a state. */
    static Column of(State state) {
      for (Column column : values()) {
        if (new StateSet(column.states).contains(state)) {
          return column;
        }
      }
      return OTHER;
    }
  }

  /** The columns that have values. */
  List<Column> columns() {
    return Arrays.stream(Column.values())
        .filter(column -> (column.states & states.bits()) != 0)
        .toList();
  }

  /** Sums of all values by {@link Column#ordinal()}, ns. */
  public long[] totals() {
    long[] totals = new long[Column.values().length];
    for (FoldedStack stack : stacks) {
      for (FoldedStack.Share share : stack.shares()) {
        totals[Column.of(share).ordinal()] += share.value();
      }
    }
    return totals;
  }

  /** Gzipped {@code profile.proto}. */
  public byte[] pprof() {
    ByteArrayOutputStream out = new ByteArrayOutputStream(1 << 14);
    try {
      long unused = PprofWriter.write(stacks, new ByState(), provenance, out);
    } catch (IOException e) {
      throw new IllegalStateException("an array takes all bytes", e);
    }
    return out.toByteArray();
  }

  /**
   * A request for profiles of OTLP, a profile for each column.
   *
   * @param resource attributes of what was sampled
   * @param profileIds 16 bytes for each column, which no other profile has
   */
  public byte[] otlp(Map<String, String> resource, byte[] profileIds) {
    return new OtlpWriter(this).request(resource, profileIds);
  }

  /** How many control groups a stack begins with. */
  static int groups(FoldedStack stack) {
    int groups = 0;
    while (groups < stack.names().length && stack.kinds()[groups] == NodeKind.CGROUP) {
      groups++;
    }
    return groups;
  }

  /** The path of the control group that a stack is of; empty if the stack does not say. */
  static String cgroup(FoldedStack stack) {
    StringBuilder path = new StringBuilder();
    for (int i = 0; i < groups(stack); i++) {
      String name = stack.names()[i];
      // The root is a node by itself, and a group that is not known is no path.
      path.append(name.startsWith("/") || name.startsWith("[") ? "" : "/").append(name);
    }
    return path.toString();
  }

  /** What the process of a stack runs: its comm, or the script or class of an interpreter. */
  static String process(FoldedStack stack) {
    int first = groups(stack);
    return first < stack.names().length && stack.kinds()[first] == NodeKind.PROCESS
        ? stack.names()[first]
        : "";
  }

  private final class ByState implements PprofWriter.Columns {
    private final List<Column> columns = columns();

    @Override
    public String[][] types() {
      return columns.stream()
          .map(column -> new String[] {column.type(), "nanoseconds"})
          .toArray(String[][]::new);
    }

    @Override
    public boolean isTime() {
      return true;
    }

    @Override
    public boolean hasOwners() {
      return true;
    }

    @Override
    public int leftOut(FoldedStack stack) {
      return groups(stack);
    }

    @Override
    public long[] values(FoldedStack.Share share) {
      long[] values = new long[columns.size()];
      values[columns.indexOf(Column.of(share))] = share.value();
      return values;
    }

    @Override
    public String[] labels(FoldedStack stack, FoldedStack.Share share) {
      return new String[] {
        "process", process(stack),
        "comm", share.process(),
        "pid", PprofFile.number(share.pid()),
        "cgroup", cgroup(stack),
        "state", share.stateLabel(),
        "host", provenance.host()
      };
    }
  }
}

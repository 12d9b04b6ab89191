package flametop.sampler;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;

/**
 * The records of a stream, each read by its kind. Knows the ids that were introduced, and what was
 * told of kinds and numbers that are not known.
 */
final class StreamRecords {
  private static final int MAX_COMM = 64;
  private static final int MAX_COMMAND_LINE = 4_096;
  private static final int MAX_NAME = 1_024;
  private static final int MAX_PATH = 1_024;
  private static final int MAX_NOTICE = 1_024;

  /** The time of a machine that was started 73 years ago, ns. */
  private static final long MAX_TIME = 1L << 61;

  /**
   * Bytes that the body of a record has at least, by its kind (0 is none): what varies is behind.
   */
  private static final int[] LEAST = {
    0, 2, 33, 21, 29, 5, 17, 10, 56, 56, 84, 40, 5, 1, 28, 8, 0, 6, 28, 6, 12, 7, 8, 62, 56, 8
  };

  /** Notices tell of so many unknown kinds and numbers. */
  private static final int MAX_TOLD = 8;

  private final boolean checkIds;
  private final long[] totals = new long[Counter.values().length];
  private final Ids processes = new Ids("process");
  private final Ids tasks = new Ids("task");
  private final Ids modules = new Ids("module");
  private final Ids frames = new Ids("frame");
  private final Ids stacks = new Ids("stack");

  /** By the number of their space. */
  private final List<Ids> spaces = List.of(processes, tasks, modules, frames, stacks);

  private final Head head = new Head();
  private final long[] usage = new long[10];

  /** Bytes of the stream before the batch that is read. */
  long offset;

  /** The unknown kinds and numbers that notices have told of. */
  private final Set<String> told = new HashSet<>();

  /** Ids of one space that were introduced and not forgotten. */
  private static final class Ids {
    final String what;
    final BitSet live = new BitSet();
    int highest;

    Ids(String what) {
      this.what = what;
    }
  }

  /** As {@link StreamReader#StreamReader(long, boolean, boolean)}. */
  StreamRecords(long offset, boolean checkIds) {
    this.offset = offset;
    this.checkIds = checkIds;
  }

  /**
   * Reads the record at the position of a batch, and leaves the position behind it.
   *
   * @throws DamagedStreamException if it is damaged; the visitor may have been told a part of it
   */
  void read(ByteBuffer in, StreamVisitor visitor) throws DamagedStreamException {
    need(in, 8);
    int kind = in.getShort() & 0xFFFF;
    in.getShort();
    int length = in.getInt();
    if (length < 0 || length > in.remaining()) {
      throw damaged(
          in.position() - 4,
          "a record of %s bytes, of which %s are there"
              .formatted(Integer.toUnsignedString(length), in.remaining()));
    }
    int end = in.position() + length;
    int batchEnd = in.limit();
    in.limit(end);
    need(in, kind < LEAST.length ? LEAST[kind] : 0);
    switch (kind) {
      case 1 -> counters(in, visitor);
      case 2 -> processSeen(in, visitor);
      case 3 -> taskSeen(in, visitor);
      case 4 ->
          visitor.taskGone(id(in, tasks), time(in), in.getLong(), in.getLong(), in.get() != 0);
      case 5 -> moduleSeen(in, visitor);
      case 6 ->
          visitor.frameSeen(
              introduced(in, frames), id(in, modules), in.getLong(), (in.get() & 1) != 0);
      case 7 -> stackSeen(in, visitor);
      case 8 -> visitor.taskChanged(head(in, visitor));
      case 9 -> visitor.cpuSample(head(in, visitor));
      case 10 -> cpuUsage(in, visitor);
      case 11 ->
          visitor.idleState(
              cpu(in), idleState(in), in.getLong(), in.getLong(), in.getLong(), in.getLong());
      case 12 -> name(in, visitor);
      case 13 -> notice(in, visitor);
      case 14 ->
          visitor.hostUsage(
              in.getInt(), in.getInt(), in.getInt(), in.getInt(), in.getInt(), in.getLong());
      case 15 -> forgotten(in, visitor);
      case 16 -> visitor.ownUsage(ownParts(in), ownParts(in));
      case 17 -> place(in, visitor);
      case 18 -> visitor.cpuCycles(cpu(in), in.getLong(), in.getLong(), in.getLong());
      case 19 -> visitor.cgroup(id(in, processes), text(in, MAX_PATH));
      case 20 -> visitor.taskBlocked(id(in, tasks), in.getLong());
      case 21 -> cpuChanged(in, visitor);
      case 22 -> sourceSeen(in, visitor);
      case 23 -> sourceTotals(in, visitor);
      case 24 -> event(in, visitor);
      case 25 -> visitor.parent(id(in, processes), id(in, processes));
      default -> unknown(kind, length, visitor);
    }
    in.limit(batchEnd).position(end);
  }

  private void unknown(int kind, int bytes, StreamVisitor visitor) {
    visitor.unknown(kind, bytes);
    tell("records of kind", kind, "they are skipped", visitor);
  }

  /** A number that is not known is told once, and of the first few only. */
  private void tell(String what, int number, String so, StreamVisitor visitor) {
    if (told.size() < MAX_TOLD && told.add(what + " " + number)) {
      String text =
          "the stream has %s %s, which this flametop does not know: %s; a newer flametop knows more";
      visitor.notice(1, -1, text.formatted(what, number, so));
    }
  }

  private void tell(String what, OpenEnum value, String so, StreamVisitor visitor) {
    if (!value.isKnown()) {
      tell(what, value.number(), so, visitor);
    }
  }

  private void counters(ByteBuffer in, StreamVisitor visitor) throws DamagedStreamException {
    int count = in.getShort() & 0xFFFF;
    need(in, 8 * count);
    for (int i = 0; i < totals.length; i++) {
      totals[i] = i < count ? in.getLong() : 0;
    }
    visitor.counters(totals);
  }

  private void processSeen(ByteBuffer in, StreamVisitor visitor) throws DamagedStreamException {
    visitor.processSeen(
        introduced(in, processes),
        in.getInt(),
        in.getLong(),
        in.getInt(),
        in.getInt(),
        in.getLong(),
        in.get() != 0,
        text(in, MAX_COMM),
        CleanText.cleanCommandLine(str(in), MAX_COMMAND_LINE));
  }

  private void taskSeen(ByteBuffer in, StreamVisitor visitor) throws DamagedStreamException {
    visitor.taskSeen(
        introduced(in, tasks),
        id(in, processes),
        in.getInt(),
        in.getLong(),
        in.get() != 0,
        text(in, MAX_COMM));
  }

  private void moduleSeen(ByteBuffer in, StreamVisitor visitor) throws DamagedStreamException {
    int module = introduced(in, modules);
    ModuleKind kind = ModuleKind.of(in.get() & 0xFF);
    String path = text(in, MAX_PATH);
    byte[] buildId = str(in);
    tell("modules of kind", kind, "they are shown by their path", visitor);
    visitor.moduleSeen(module, kind, path, HexFormat.of().formatHex(buildId));
  }

  private void stackSeen(ByteBuffer in, StreamVisitor visitor) throws DamagedStreamException {
    int stack = introduced(in, stacks);
    WalkEnd end = WalkEnd.of(in.get() & 0xFF);
    in.get();
    int user = in.getShort() & 0xFFFF;
    int kernel = in.getShort() & 0xFFFF;
    need(in, 4 * (user + kernel));
    int[] path = new int[user + kernel];
    for (int i = 0; i < path.length; i++) {
      path[i] = id(in, frames);
    }
    tellOf(end, visitor);
    visitor.stackSeen(stack, end, user, path);
  }

  private void event(ByteBuffer in, StreamVisitor visitor) throws DamagedStreamException {
    Head head = head(in, visitor);
    need(in, 20);
    visitor.event(head, source(in), amount(in, "weight"), amount(in, "rate"));
  }

  /** Reads the head that changed tasks, samples and events share, into the one that there is. */
  private Head head(ByteBuffer in, StreamVisitor visitor) throws DamagedStreamException {
    Head h = head;
    h.time = time(in);
    h.task = id(in, tasks);
    h.stack = idOrNone(in, stacks);
    h.run = in.getLong();
    h.queued = in.getLong();
    h.nvcsw = in.getLong();
    h.nivcsw = in.getLong();
    h.cpu = cpu(in);
    h.state = State.of(in.get() & 0xFF);
    h.why = WalkEnd.of(in.get() & 0xFF);
    h.userMode = (in.getShort() & 1) != 0;
    tell("tasks in state", h.state, "it is shown as that number", visitor);
    tellOf(h.why, visitor);
    return h;
  }

  private void tellOf(WalkEnd end, StreamVisitor visitor) {
    tell("stacks that are short for reason", end, "it is shown as that number", visitor);
  }

  private void cpuUsage(ByteBuffer in, StreamVisitor visitor) throws DamagedStreamException {
    int cpu = cpu(in);
    for (int i = 0; i < usage.length; i++) {
      usage[i] = in.getLong();
    }
    visitor.cpuUsage(cpu, usage);
  }

  private void cpuChanged(ByteBuffer in, StreamVisitor visitor) throws DamagedStreamException {
    int cpu = cpu(in);
    boolean online = in.get() != 0;
    int count = in.getShort() & 0xFFFF;
    List<StreamFacts.IdleState> states =
        new ArrayList<>(Math.min(count, StreamReader.MAX_IDLE_STATES));
    for (int i = 0; i < count; i++) {
      need(in, 4);
      int state = idleState(in);
      String name = text(in, MAX_NAME);
      need(in, 16);
      states.add(new StreamFacts.IdleState(state, name, in.getLong(), in.getLong()));
    }
    visitor.cpuChanged(cpu, online, List.copyOf(states));
  }

  private void sourceSeen(ByteBuffer in, StreamVisitor visitor) throws DamagedStreamException {
    int source = source(in);
    SourceState state = SourceState.of(in.get() & 0xFF);
    SourceUnit unit = SourceUnit.of(in.get() & 0xFF);
    in.getShort();
    String spec = text(in, MAX_PATH);
    String why = text(in, MAX_NOTICE);
    tell("sources in state", state, "it is shown as that number", visitor);
    tell("weights in unit", unit, "they are shown as plain numbers", visitor);
    visitor.sourceSeen(source, state, unit, spec, why);
  }

  private void sourceTotals(ByteBuffer in, StreamVisitor visitor) throws DamagedStreamException {
    int source = source(in);
    long hits = in.getLong();
    long weight = amount(in, "weight");
    long taken = in.getLong();
    long lost = in.getLong();
    long missed = in.getLong();
    long rate = amount(in, "rate");
    long nanos = in.getLong();
    int count = in.getShort() & 0xFFFF;
    need(in, 8 * count);
    List<Long> histogram = new ArrayList<>(Math.min(count, Long.SIZE));
    for (int i = 0; i < count; i++) {
      histogram.add(in.getLong());
    }
    visitor.sourceTotals(
        source, new SourceTotals(hits, weight, taken, lost, missed, rate, nanos, histogram));
  }

  private void name(ByteBuffer in, StreamVisitor visitor) throws DamagedStreamException {
    int frame = id(in, frames);
    NameSource source = NameSource.of(in.get() & 0xFF);
    String name = text(in, MAX_NAME);
    tell("names of source", source, "they are shown like those of symbols", visitor);
    visitor.name(frame, source, name);
  }

  private void place(ByteBuffer in, StreamVisitor visitor) throws DamagedStreamException {
    int frame = id(in, frames);
    int count = in.getShort() & 0xFFFF;
    List<Call> calls = new ArrayList<>(Math.min(count, 32));
    for (int i = 0; i < count; i++) {
      String function = text(in, MAX_NAME);
      String file = text(in, MAX_PATH);
      need(in, 4);
      calls.add(new Call(function, file, in.getInt()));
    }
    visitor.place(frame, List.copyOf(calls), text(in, MAX_NOTICE));
  }

  private void notice(ByteBuffer in, StreamVisitor visitor) throws DamagedStreamException {
    int level = in.get() & 0xFF;
    String text = text(in, MAX_NOTICE);
    int process = -1;
    // Version 1 ends here.
    if (in.hasRemaining()) {
      need(in, 4);
      process = idOrNone(in, processes);
    }
    visitor.notice(level, process, text);
  }

  private List<OwnPart> ownParts(ByteBuffer in) throws DamagedStreamException {
    need(in, 2);
    List<OwnPart> parts = new ArrayList<>();
    for (int count = in.getShort() & 0xFFFF; count > 0; count--) {
      String name = text(in, MAX_COMM);
      need(in, 8);
      parts.add(new OwnPart(name, in.getLong()));
    }
    return List.copyOf(parts);
  }

  private void forgotten(ByteBuffer in, StreamVisitor visitor) throws DamagedStreamException {
    int number = in.get() & 0xFF;
    if (number >= spaces.size()) {
      // Nothing that is known here is named by it.
      unknown(15, 1 + in.remaining(), visitor);
      return;
    }
    IdSpace space = IdSpace.values()[number];
    in.position(in.position() + 3);
    int count = in.getInt();
    if (count < 0 || count > in.remaining() / 4) {
      throw damaged(
          in.position() - 4,
          Integer.toUnsignedString(count) + " ids in " + in.remaining() + " bytes");
    }
    Ids of = spaces.get(number);
    int[] ids = new int[count];
    for (int i = 0; i < count; i++) {
      ids[i] = id(in, of);
      if (checkIds) {
        of.live.clear(ids[i]);
      }
    }
    visitor.forgotten(space, ids);
  }

  /** An id that the record introduces: any that was introduced before, or the next new one. */
  private int introduced(ByteBuffer in, Ids ids) throws DamagedStreamException {
    int id = in.getInt();
    if (!checkIds) {
      return id;
    }
    if (id < 0 || id > ids.highest) {
      throw damaged(
          in.position() - 4,
          "%s %s where at most %s was due"
              .formatted(ids.what, Integer.toUnsignedString(id), ids.highest));
    }
    ids.live.set(id);
    ids.highest = Math.max(ids.highest, id + 1);
    return id;
  }

  private int id(ByteBuffer in, Ids ids) throws DamagedStreamException {
    int id = in.getInt();
    if (checkIds && (id < 0 || !ids.live.get(id))) {
      throw damaged(
          in.position() - 4,
          ids.what + " " + Integer.toUnsignedString(id) + " is not introduced, or forgotten");
    }
    return id;
  }

  private int idOrNone(ByteBuffer in, Ids ids) throws DamagedStreamException {
    if (in.getInt(in.position()) != -1) {
      return id(in, ids);
    }
    return in.getInt();
  }

  private long time(ByteBuffer in) throws DamagedStreamException {
    long time = time(in, in.position());
    in.getLong();
    return time;
  }

  /** Sums and differences of times are to hold. */
  long time(ByteBuffer in, int at) throws DamagedStreamException {
    long time = in.getLong(at);
    if (checkIds && (time < 0 || time > MAX_TIME)) {
      throw damaged(at, "a time of " + Long.toUnsignedString(time) + " ns");
    }
    return time;
  }

  /** Sums are to hold. */
  private long amount(ByteBuffer in, String what) throws DamagedStreamException {
    long amount = in.getLong();
    if (checkIds && (amount < 0 || amount > MAX_TIME)) {
      throw damaged(in.position() - 8, "a " + what + " of " + Long.toUnsignedString(amount));
    }
    return amount;
  }

  private int cpu(ByteBuffer in) throws DamagedStreamException {
    return below(in, StreamReader.MAX_CPUS, "CPU");
  }

  private int idleState(ByteBuffer in) throws DamagedStreamException {
    return below(in, StreamReader.MAX_IDLE_STATES, "idle state");
  }

  private int source(ByteBuffer in) throws DamagedStreamException {
    return below(in, StreamReader.MAX_SOURCES, "source");
  }

  private int below(ByteBuffer in, int count, String what) throws DamagedStreamException {
    int number = in.getInt();
    if (checkIds && (number < 0 || number >= count)) {
      throw damaged(
          in.position() - 4, what + " " + Integer.toUnsignedString(number) + " of " + count);
    }
    return number;
  }

  private String text(ByteBuffer in, int most) throws DamagedStreamException {
    return CleanText.clean(str(in), most);
  }

  private byte[] str(ByteBuffer in) throws DamagedStreamException {
    need(in, 2);
    int length = in.getShort() & 0xFFFF;
    need(in, length);
    byte[] str = new byte[length];
    in.get(str);
    return str;
  }

  private void need(ByteBuffer in, int bytes) throws DamagedStreamException {
    if (in.remaining() < bytes) {
      throw damaged(in.position(), bytes + " bytes are due, " + in.remaining() + " are left");
    }
  }

  DamagedStreamException damaged(int at, String what) {
    return new DamagedStreamException(offset + at, what);
  }
}

package flametop.sampler;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.zip.CRC32;

/**
 * Decodes the stream, batch by batch. The crate {@code flametop-stream} defines its format; the
 * names here are those of its tables.
 *
 * <p>Nothing is believed: every length is checked against what holds it, every number against its
 * range, every id against those that were introduced. What a visitor is told can be used without
 * further checks. Kinds of record that it does not know are skipped, and so are bytes after the
 * body of those that it knows; numbers that stand for something and that it does not know are
 * passed on as numbers. Each such kind and number is told once, as a notice.
 */
public final class StreamReader {
  /** The newest version that this reader knows; it reads every older one. */
  public static final int VERSION = 2;

  /** Bytes before the facts of a file header. */
  public static final int HEADER_PREFIX = 20;

  /** Bytes of a batch before its records. */
  public static final int BATCH_PREFIX = 24;

  /** CPU numbers are below this. */
  public static final int MAX_CPUS = 16_384;

  /** Numbers of idle states are below this. */
  public static final int MAX_IDLE_STATES = 64;

  /** Facts may have so many bytes. */
  public static final int MAX_FACTS = 1 << 20;

  static final int PASS = 1;
  static final int MORE = 2;

  private static final long MAGIC =
      ByteBuffer.wrap("FLAMETOP".getBytes(StandardCharsets.US_ASCII)).getLong();
  private static final int MAX_COMM = 64;
  private static final int MAX_COMMAND_LINE = 4_096;
  private static final int MAX_NAME = 1_024;
  private static final int MAX_PATH = 1_024;

  /** Of a machine that was started 73 years ago, ns. */
  private static final long MAX_TIME = 1L << 61;

  private static final int MAX_NOTICE = 1_024;

  /** So many kinds and numbers that are not known are told of. */
  private static final int MAX_TOLD = 8;

  /** For those who want to know only whether a batch can be read. */
  private static final StreamVisitor NOBODY = new PartialVisitor() {};

  private final boolean verify;
  private final boolean checkIds;
  private final long[] totals = new long[Counter.values().length];

  private long offset;
  private int sequence;
  private final Ids processes = new Ids("process");
  private final Ids tasks = new Ids("task");
  private final Ids modules = new Ids("module");
  private final Ids frames = new Ids("frame");
  private final Ids stacks = new Ids("stack");

  /** What was told of kinds and numbers that are not known. */
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

  /**
   * @param offset bytes of the stream before its first batch, so that damage is told by its place
   * @param verify whether to verify checksums: those of a file, not of the bridge
   */
  public StreamReader(long offset, boolean verify) {
    this(offset, verify, true);
  }

  /**
   * @param checkIds false: any number may be an id or a time, which is for looking at single
   *     records only
   */
  StreamReader(long offset, boolean verify, boolean checkIds) {
    this.offset = offset;
    this.verify = verify;
    this.checkIds = checkIds;
  }

  /**
   * Reads a file header and leaves the buffer's position at the first batch.
   *
   * @param file little more than the header, from its first byte on
   * @throws DamagedStreamException if it is no header, or a damaged one
   * @throws SamplerException if the stream is of a newer version
   */
  public static StreamFacts readHeader(ByteBuffer file)
      throws DamagedStreamException, SamplerException {
    int length = headerLength(file);
    ByteBuffer in = file.slice().order(ByteOrder.LITTLE_ENDIAN);
    if (in.remaining() < length) {
      throw new DamagedStreamException(in.remaining(), "the file ends in its header");
    }
    byte[] facts = new byte[length - HEADER_PREFIX];
    in.get(HEADER_PREFIX, facts);
    CRC32 crc = new CRC32();
    crc.update(facts);
    if ((int) crc.getValue() != in.getInt(16)) {
      throw new DamagedStreamException(HEADER_PREFIX, "the checksum of the header does not match");
    }
    file.position(file.position() + length);
    return StreamFacts.parse(new String(facts, StandardCharsets.UTF_8));
  }

  /**
   * Bytes of the file header, told by its first {@link #HEADER_PREFIX}; throws like {@link
   * #readHeader}.
   */
  static int headerLength(ByteBuffer file) throws DamagedStreamException, SamplerException {
    ByteBuffer in = file.slice().order(ByteOrder.LITTLE_ENDIAN);
    if (in.remaining() < HEADER_PREFIX || Long.reverseBytes(in.getLong(0)) != MAGIC) {
      throw new DamagedStreamException(0, "it does not begin as a flametop stream does");
    }
    int version = in.getInt(8);
    if (version == 0) {
      throw new DamagedStreamException(8, "version 0");
    }
    if (Integer.compareUnsigned(version, VERSION) > 0) {
      throw new SamplerException(
          SamplerException.Kind.FAILED,
          "a flametop stream of version "
              + Integer.toUnsignedString(version)
              + ", this flametop reads up to version "
              + VERSION
              + ": open it with a newer flametop");
    }
    int facts = in.getInt(12);
    if (facts < 0 || facts > MAX_FACTS) {
      throw new DamagedStreamException(
          12, "a header of " + Integer.toUnsignedString(facts) + " bytes");
    }
    return HEADER_PREFIX + facts;
  }

  /** Time of a batch, ns, without decoding it. */
  static long time(ByteBuffer batch) {
    return batch.duplicate().order(ByteOrder.LITTLE_ENDIAN).getLong(batch.position() + 8);
  }

  /** Whether the pass goes on in the next batch. */
  static boolean more(ByteBuffer batch) {
    return (batch.duplicate().order(ByteOrder.LITTLE_ENDIAN).getShort(batch.position() + 20) & MORE)
        != 0;
  }

  /** Bytes read so far. */
  public long offset() {
    return offset;
  }

  /**
   * Goes over one batch like {@link #read}, but tells nobody: what passes can be read without an
   * exception.
   */
  public void check(ByteBuffer batch) throws DamagedStreamException {
    read(batch, NOBODY);
  }

  /**
   * Reads one batch, which is all from position to limit.
   *
   * @throws DamagedStreamException if it is damaged; the visitor may have been told records that
   *     came before, and no {@link StreamVisitor#batchEnds()}
   */
  public void read(ByteBuffer batch, StreamVisitor visitor) throws DamagedStreamException {
    ByteBuffer in = batch.slice().order(ByteOrder.LITTLE_ENDIAN);
    int length = in.remaining();
    if (length < BATCH_PREFIX || in.getInt(0) != length) {
      throw damaged(
          0,
          "a batch of "
              + length
              + " bytes that says it has "
              + (length < 4 ? "none" : in.getInt(0)));
    }
    if (verify) {
      CRC32 crc = new CRC32();
      crc.update(in.slice(8, length - 8));
      if ((int) crc.getValue() != in.getInt(4)) {
        throw damaged(0, "the checksum of the batch does not match");
      }
    }
    if (in.getInt(16) != sequence) {
      throw damaged(
          16,
          "batch "
              + Integer.toUnsignedString(in.getInt(16))
              + " where batch "
              + sequence
              + " was due");
    }
    time(in, 8);
    int flags = in.getShort(20);
    visitor.batchBegins(in.getLong(8), sequence, (flags & PASS) != 0, (flags & MORE) != 0);
    in.position(BATCH_PREFIX);
    while (in.hasRemaining()) {
      record(in, visitor);
    }
    visitor.batchEnds();
    sequence++;
    offset += length;
  }

  private void record(ByteBuffer in, StreamVisitor visitor) throws DamagedStreamException {
    need(in, 8);
    int kind = in.getShort() & 0xFFFF;
    in.getShort();
    int length = in.getInt();
    if (length < 0 || length > in.remaining()) {
      throw damaged(
          in.position() - 4,
          "a record of "
              + Integer.toUnsignedString(length)
              + " bytes, of which "
              + in.remaining()
              + " are there");
    }
    int end = in.position() + length;
    int batchEnd = in.limit();
    in.limit(end);
    switch (kind) {
      case 1 -> counters(in, visitor);
      case 2 -> processSeen(in, visitor);
      case 3 -> taskSeen(in, visitor);
      case 4 -> taskGone(in, visitor);
      case 5 -> moduleSeen(in, visitor);
      case 6 -> frameSeen(in, visitor);
      case 7 -> stackSeen(in, visitor);
      case 8 -> head(in, visitor, false);
      case 9 -> head(in, visitor, true);
      case 10 -> cpuUsage(in, visitor);
      case 11 -> idleState(in, visitor);
      case 12 -> name(in, visitor);
      case 13 -> notice(in, visitor);
      case 14 -> hostUsage(in, visitor);
      case 15 -> forgotten(in, visitor);
      case 16 -> ownUsage(in, visitor);
      case 17 -> place(in, visitor);
      case 18 -> cpuCycles(in, visitor);
      case 19 -> cgroup(in, visitor);
      case 20 -> taskBlocked(in, visitor);
      case 21 -> cpuChanged(in, visitor);
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
      visitor.notice(
          1,
          -1,
          "the stream has "
              + what
              + " "
              + number
              + ", which this flametop does not know: "
              + so
              + "; a newer flametop knows more");
    }
  }

  private void counters(ByteBuffer in, StreamVisitor visitor) throws DamagedStreamException {
    need(in, 2);
    int count = in.getShort() & 0xFFFF;
    need(in, 8 * count);
    for (int i = 0; i < totals.length; i++) {
      totals[i] = i < count ? in.getLong() : 0;
    }
    visitor.counters(totals);
  }

  private void processSeen(ByteBuffer in, StreamVisitor visitor) throws DamagedStreamException {
    need(in, 33);
    introduced(in, processes);
    int process = in.getInt();
    int tgid = in.getInt();
    long start = in.getLong();
    int execId = in.getInt();
    int uid = in.getInt();
    long cgroup = in.getLong();
    boolean kthread = in.get() != 0;
    ByteBuffer comm = str(in);
    ByteBuffer commandLine = str(in);
    visitor.processSeen(
        process,
        tgid,
        start,
        execId,
        uid,
        cgroup,
        kthread,
        CleanText.clean(comm, MAX_COMM),
        CleanText.cleanCommandLine(commandLine, MAX_COMMAND_LINE));
  }

  private void cgroup(ByteBuffer in, StreamVisitor visitor) throws DamagedStreamException {
    need(in, 6);
    int process = id(in, processes);
    ByteBuffer path = str(in);
    visitor.cgroup(process, CleanText.clean(path, MAX_PATH));
  }

  private void taskBlocked(ByteBuffer in, StreamVisitor visitor) throws DamagedStreamException {
    need(in, 12);
    int task = id(in, tasks);
    long nanos = in.getLong();
    visitor.taskBlocked(task, nanos);
  }

  private void taskSeen(ByteBuffer in, StreamVisitor visitor) throws DamagedStreamException {
    need(in, 21);
    introduced(in, tasks);
    int task = in.getInt();
    int process = id(in, processes);
    int tid = in.getInt();
    long start = in.getLong();
    boolean fresh = in.get() != 0;
    ByteBuffer comm = str(in);
    visitor.taskSeen(task, process, tid, start, fresh, CleanText.clean(comm, MAX_COMM));
  }

  private void taskGone(ByteBuffer in, StreamVisitor visitor) throws DamagedStreamException {
    need(in, 29);
    int task = id(in, tasks);
    long time = time(in, in.position());
    in.getLong();
    long run = in.getLong();
    long wait = in.getLong();
    boolean exact = in.get() != 0;
    visitor.taskGone(task, time, run, wait, exact);
  }

  private void moduleSeen(ByteBuffer in, StreamVisitor visitor) throws DamagedStreamException {
    need(in, 5);
    introduced(in, modules);
    int module = in.getInt();
    ModuleKind kind = ModuleKind.of(in.get() & 0xFF);
    ByteBuffer path = str(in);
    ByteBuffer buildId = str(in);
    if (!kind.isKnown()) {
      tell("modules of kind", kind.number(), "they are shown by their path", visitor);
    }
    byte[] id = new byte[buildId.remaining()];
    buildId.get(id);
    visitor.moduleSeen(module, kind, CleanText.clean(path, MAX_PATH), HexFormat.of().formatHex(id));
  }

  private void frameSeen(ByteBuffer in, StreamVisitor visitor) throws DamagedStreamException {
    need(in, 17);
    introduced(in, frames);
    int frame = in.getInt();
    int module = id(in, modules);
    long at = in.getLong();
    boolean guessed = (in.get() & 1) != 0;
    visitor.frameSeen(frame, module, at, guessed);
  }

  private void stackSeen(ByteBuffer in, StreamVisitor visitor) throws DamagedStreamException {
    need(in, 10);
    introduced(in, stacks);
    int stack = in.getInt();
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

  private void head(ByteBuffer in, StreamVisitor visitor, boolean sample)
      throws DamagedStreamException {
    need(in, 56);
    long time = time(in, in.position());
    in.getLong();
    int task = id(in, tasks);
    int stack = in.getInt(in.position());
    if (stack == -1) {
      in.getInt();
    } else {
      stack = id(in, stacks);
    }
    long run = in.getLong();
    long wait = in.getLong();
    long nvcsw = in.getLong();
    long nivcsw = in.getLong();
    int cpu = below(in, MAX_CPUS, "CPU");
    State state = State.of(in.get() & 0xFF);
    WalkEnd why = WalkEnd.of(in.get() & 0xFF);
    boolean userMode = (in.getShort() & 1) != 0;
    if (!state.isKnown()) {
      tell("tasks in state", state.number(), "it is shown as that number", visitor);
    }
    tellOf(why, visitor);
    if (sample) {
      visitor.cpuSample(time, task, stack, run, wait, nvcsw, nivcsw, cpu, state, why, userMode);
    } else {
      visitor.taskChanged(time, task, stack, run, wait, nvcsw, nivcsw, cpu, state, why);
    }
  }

  private void tellOf(WalkEnd end, StreamVisitor visitor) {
    if (!end.isKnown()) {
      tell("stacks that are short for reason", end.number(), "it is shown as that number", visitor);
    }
  }

  private void cpuUsage(ByteBuffer in, StreamVisitor visitor) throws DamagedStreamException {
    need(in, 84);
    int cpu = below(in, MAX_CPUS, "CPU");
    long idle = in.getLong();
    long elapsed = in.getLong();
    long wakeups = in.getLong();
    long ownWakeups = in.getLong();
    long user = in.getLong();
    long nice = in.getLong();
    long system = in.getLong();
    long irq = in.getLong();
    long softirq = in.getLong();
    long steal = in.getLong();
    visitor.cpuUsage(
        cpu, idle, elapsed, wakeups, ownWakeups, user, nice, system, irq, softirq, steal);
  }

  private void cpuCycles(ByteBuffer in, StreamVisitor visitor) throws DamagedStreamException {
    need(in, 28);
    int cpu = below(in, MAX_CPUS, "CPU");
    long frequency = in.getLong();
    long offered = in.getLong();
    long cycles = in.getLong();
    visitor.cpuCycles(cpu, frequency, offered, cycles);
  }

  private void idleState(ByteBuffer in, StreamVisitor visitor) throws DamagedStreamException {
    need(in, 40);
    int cpu = below(in, MAX_CPUS, "CPU");
    int state = below(in, MAX_IDLE_STATES, "idle state");
    long residency = in.getLong();
    long entries = in.getLong();
    long tooShort = in.getLong();
    long tooLong = in.getLong();
    visitor.idleState(cpu, state, residency, entries, tooShort, tooLong);
  }

  private void cpuChanged(ByteBuffer in, StreamVisitor visitor) throws DamagedStreamException {
    need(in, 7);
    int cpu = below(in, MAX_CPUS, "CPU");
    boolean online = in.get() != 0;
    int count = in.getShort() & 0xFFFF;
    List<StreamFacts.IdleState> states = new ArrayList<>(Math.min(count, MAX_IDLE_STATES));
    for (int i = 0; i < count; i++) {
      need(in, 4);
      int state = below(in, MAX_IDLE_STATES, "idle state");
      String name = CleanText.clean(str(in), MAX_NAME);
      need(in, 16);
      states.add(new StreamFacts.IdleState(state, name, in.getLong(), in.getLong()));
    }
    if (visitor != null) {
      visitor.cpuChanged(cpu, online, List.copyOf(states));
    }
  }

  private void name(ByteBuffer in, StreamVisitor visitor) throws DamagedStreamException {
    need(in, 5);
    int frame = id(in, frames);
    NameSource source = NameSource.of(in.get() & 0xFF);
    ByteBuffer name = str(in);
    if (!source.isKnown()) {
      tell("names of source", source.number(), "they are shown like those of symbols", visitor);
    }
    visitor.name(frame, source, CleanText.clean(name, MAX_NAME));
  }

  private void place(ByteBuffer in, StreamVisitor visitor) throws DamagedStreamException {
    need(in, 6);
    int frame = id(in, frames);
    int count = in.getShort() & 0xFFFF;
    List<Call> calls = new ArrayList<>(Math.min(count, 32));
    for (int i = 0; i < count; i++) {
      String function = CleanText.clean(str(in), MAX_NAME);
      String file = CleanText.clean(str(in), MAX_PATH);
      need(in, 4);
      calls.add(new Call(function, file, in.getInt()));
    }
    ByteBuffer missing = str(in);
    visitor.place(frame, List.copyOf(calls), CleanText.clean(missing, MAX_NOTICE));
  }

  private void notice(ByteBuffer in, StreamVisitor visitor) throws DamagedStreamException {
    need(in, 1);
    int level = in.get() & 0xFF;
    ByteBuffer text = str(in);
    int process = -1;
    // Version 1 ends here.
    if (in.hasRemaining()) {
      need(in, 4);
      process = in.getInt(in.position()) == -1 ? -1 : id(in, processes);
    }
    visitor.notice(level, process, CleanText.clean(text, MAX_NOTICE));
  }

  private void hostUsage(ByteBuffer in, StreamVisitor visitor) throws DamagedStreamException {
    need(in, 28);
    int load1 = in.getInt();
    int load5 = in.getInt();
    int load15 = in.getInt();
    int passHz = in.getInt();
    int cpuHz = in.getInt();
    long ownCpu = in.getLong();
    visitor.hostUsage(load1, load5, load15, passHz, cpuHz, ownCpu);
  }

  private void ownUsage(ByteBuffer in, StreamVisitor visitor) throws DamagedStreamException {
    List<OwnPart> cpu = ownParts(in);
    List<OwnPart> resident = ownParts(in);
    visitor.ownUsage(cpu, resident);
  }

  private List<OwnPart> ownParts(ByteBuffer in) throws DamagedStreamException {
    need(in, 2);
    List<OwnPart> parts = new ArrayList<>();
    for (int count = in.getShort() & 0xFFFF; count > 0; count--) {
      String name = CleanText.clean(str(in), MAX_COMM);
      need(in, 8);
      parts.add(new OwnPart(name, in.getLong()));
    }
    return List.copyOf(parts);
  }

  private void forgotten(ByteBuffer in, StreamVisitor visitor) throws DamagedStreamException {
    need(in, 8);
    int number = in.get() & 0xFF;
    if (number >= IdSpace.values().length) {
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
    Ids of =
        switch (space) {
          case PROCESS -> processes;
          case TASK -> tasks;
          case MODULE -> modules;
          case FRAME -> frames;
          case STACK -> stacks;
        };
    int[] ids = new int[count];
    for (int i = 0; i < count; i++) {
      ids[i] = id(in, of);
      if (checkIds) {
        of.live.clear(ids[i]);
      }
    }
    visitor.forgotten(space, ids);
  }

  /** The id at the position (which stays) may be any that was introduced, or the next new one. */
  private void introduced(ByteBuffer in, Ids ids) throws DamagedStreamException {
    int id = in.getInt(in.position());
    if (!checkIds) {
      return;
    }
    if (id < 0 || id > ids.highest) {
      throw damaged(
          in.position(),
          ids.what
              + " "
              + Integer.toUnsignedString(id)
              + " where at most "
              + ids.highest
              + " was due");
    }
    ids.live.set(id);
    ids.highest = Math.max(ids.highest, id + 1);
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

  /** Sums and differences of times are to hold. */
  private long time(ByteBuffer in, int at) throws DamagedStreamException {
    long time = in.getLong(at);
    if (checkIds && (time < 0 || time > MAX_TIME)) {
      throw damaged(at, "a time of " + Long.toUnsignedString(time) + " ns");
    }
    return time;
  }

  private int below(ByteBuffer in, int count, String what) throws DamagedStreamException {
    int number = in.getInt();
    if (checkIds && (number < 0 || number >= count)) {
      throw damaged(
          in.position() - 4, what + " " + Integer.toUnsignedString(number) + " of " + count);
    }
    return number;
  }

  private ByteBuffer str(ByteBuffer in) throws DamagedStreamException {
    need(in, 2);
    int length = in.getShort() & 0xFFFF;
    need(in, length);
    ByteBuffer str = in.slice(in.position(), length);
    in.position(in.position() + length);
    return str;
  }

  private void need(ByteBuffer in, int bytes) throws DamagedStreamException {
    if (in.remaining() < bytes) {
      throw damaged(in.position(), bytes + " bytes are due, " + in.remaining() + " are left");
    }
  }

  private DamagedStreamException damaged(int at, String what) {
    return new DamagedStreamException(offset + at, what);
  }
}

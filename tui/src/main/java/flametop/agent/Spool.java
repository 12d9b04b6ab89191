package flametop.agent;

import flametop.sampler.CleanText;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Profiles that wait for the store, oldest first, in a folder or in memory. The bound holds always:
 * what has no room makes room by the oldest, which is counted. Any thread.
 *
 * <p>A profile is one file, {@code NUMBER.KIND}: a line {@code flametop-spool 1 LENGTH CRC}, and
 * behind the line the body of the request. A file gets its name by a rename once it is whole; one
 * that a crash left under a name that begins with a dot is removed at the next start. Other files
 * are let alone.
 */
public final class Spool implements AutoCloseable {
  /** A profile that waits. */
  record Entry(long number, String kind, long bytes) {
    String file() {
      return String.format(Locale.ROOT, "%019d.%s", number, kind);
    }
  }

  /** So many files make no file system slow. */
  private static final int MOST_PROFILES = 20_000;

  /** The line before a body. */
  private static final Pattern HEAD =
      Pattern.compile("flametop-spool 1 ([0-9]{1,10}) ([0-9a-f]{8})");

  private static final int MOST_HEAD = 48;
  private static final Pattern NAME = Pattern.compile("(0[0-9]{18})\\.([a-z]{1,20})");
  private static final String PART = ".flametop-part";
  private static final String LOCK = ".flametop-lock";

  private static final FileAttribute<Set<PosixFilePermission>> OWNER_ONLY =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

  private final @Nullable Path folder;
  private final @Nullable FileChannel lock;
  private final long bound;
  private final Metrics metrics;
  private final Deque<Entry> entries = new ArrayDeque<>();

  /** Bodies by their numbers, without a folder. */
  private final Map<Long, byte[]> bodies = new HashMap<>();

  private long bytes;
  private long next = 1;

  /** What the store is being sent: that is not dropped meanwhile. */
  private @Nullable Entry held;

  private Spool(@Nullable Path folder, @Nullable FileChannel lock, long bound, Metrics metrics) {
    this.folder = folder;
    this.lock = lock;
    this.bound = bound;
    this.metrics = metrics;
    metrics.spool(this::bytes, this::size);
  }

  /**
   * Opens the spool, and finds what waits there.
   *
   * @param folder is made if it is not there, for its owner alone; null: memory
   * @param bound bytes of all files
   * @throws IOException with a line for people
   */
  public static Spool open(@Nullable Path folder, long bound, Metrics metrics) throws IOException {
    if (folder == null) {
      return new Spool(null, null, bound, metrics);
    }
    String name = CleanText.clean(folder.toString(), 1_024);
    try {
      if (!Files.isDirectory(folder)) {
        Files.createDirectories(
            folder,
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
      }
      Set<PosixFilePermission> rights = Files.getPosixFilePermissions(folder);
      if (rights.contains(PosixFilePermission.OTHERS_WRITE)
          || rights.contains(PosixFilePermission.GROUP_WRITE)) {
        throw new IOException("others may write there; chmod go-w " + name);
      }
      FileChannel lock =
          FileChannel.open(
              folder.resolve(LOCK),
              Set.of(
                  StandardOpenOption.CREATE, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS),
              OWNER_ONLY);
      if (!isLocked(lock)) {
        lock.close();
        throw new IOException("another agent uses it");
      }
      Spool spool = new Spool(folder, lock, bound, metrics);
      spool.find(folder);
      return spool;
    } catch (IOException e) {
      throw new IOException(
          "the spool " + name + " cannot be used: " + CleanText.clean(said(e), 500), e);
    }
  }

  private static boolean isLocked(FileChannel channel) throws IOException {
    try {
      return channel.tryLock() != null;
    } catch (OverlappingFileLockException e) {
      return false;
    }
  }

  private static String said(IOException e) {
    return e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
  }

  private void find(Path in) throws IOException {
    Map<Long, Entry> found = new TreeMap<>();
    try (DirectoryStream<Path> files = Files.newDirectoryStream(in)) {
      for (Path file : files) {
        String name = file.getFileName().toString();
        Matcher matcher = NAME.matcher(name);
        if (name.equals(PART)) {
          Files.deleteIfExists(file);
        } else if (matcher.matches() && Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
          long number = Long.parseLong(matcher.group(1));
          found.put(number, new Entry(number, matcher.group(2), Files.size(file)));
        }
      }
    } catch (DirectoryIteratorException e) {
      throw e.getCause();
    }
    for (Entry entry : found.values()) {
      entries.add(entry);
      bytes += entry.bytes();
      next = Math.max(next, entry.number() + 1);
      metrics.found.incrementAndGet();
    }
    while (bytes > bound || entries.size() > MOST_PROFILES) {
      drop(entries.getFirst(), Drop.SPOOL_FULL);
    }
  }

  /** Keeps a profile, and gives up the oldest that it has no room beside. */
  synchronized void add(String kind, byte[] body) {
    byte[] head = head(body);
    long size = head.length + (long) body.length;
    if (size > bound) {
      metrics.dropped(Drop.TOO_LARGE);
      return;
    }
    while (bytes + size > bound || entries.size() >= MOST_PROFILES) {
      Entry oldest = oldestFree();
      if (oldest == null) {
        metrics.dropped(Drop.SPOOL_FULL);
        return;
      }
      drop(oldest, Drop.SPOOL_FULL);
    }
    Entry entry = new Entry(next++, kind, size);
    if (folder == null) {
      bodies.put(entry.number(), body);
    } else if (!write(folder, entry, head, body)) {
      return;
    }
    entries.add(entry);
    bytes += size;
    notifyAll();
  }

  /** Writes the file of an entry; false: that failed, and is counted. */
  private boolean write(Path in, Entry entry, byte[] head, byte[] body) {
    while (true) {
      try {
        Path part = in.resolve(PART);
        Files.deleteIfExists(part);
        try (FileChannel channel =
            FileChannel.open(
                part,
                Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
                OWNER_ONLY)) {
          OutputStream out = Channels.newOutputStream(channel);
          out.write(head);
          out.write(body);
        }
        Files.move(part, in.resolve(entry.file()), StandardCopyOption.ATOMIC_MOVE);
        return true;
      } catch (IOException e) {
        // A full disk: the oldest gives room, as with a full spool.
        Entry oldest = isFull(e) ? oldestFree() : null;
        if (oldest == null || !drop(oldest, Drop.SPOOL_FULL)) {
          remove(in.resolve(PART));
          metrics.dropped(isFull(e) ? Drop.SPOOL_FULL : Drop.NOT_WRITTEN);
          return false;
        }
      }
    }
  }

  private static boolean isFull(IOException e) {
    return said(e).contains("No space") || said(e).contains("quota");
  }

  private @Nullable Entry oldestFree() {
    for (Entry entry : entries) {
      if (!entry.equals(held)) {
        return entry;
      }
    }
    return null;
  }

  /** The oldest profile, held until it is {@link #sent} or dropped; null: none waits. */
  synchronized @Nullable Entry hold() {
    held = entries.peekFirst();
    return held;
  }

  /** Waits so long, or until a profile waits. */
  synchronized void await(long nanos) throws InterruptedException {
    if (entries.isEmpty() && nanos > 0) {
      TimeUnit.NANOSECONDS.timedWait(this, nanos);
    }
  }

  /** Ends a wait. */
  synchronized void wake() {
    notifyAll();
  }

  /** Lets the held one go: it may be dropped again. */
  synchronized void release() {
    held = null;
  }

  /** The body of a profile; null if it is not as it was written. */
  byte @Nullable [] read(Entry entry) {
    if (folder == null) {
      synchronized (this) {
        return bodies.get(entry.number());
      }
    }
    if (entry.bytes() > Integer.MAX_VALUE - 8) {
      return null;
    }
    try (InputStream in =
        Files.newInputStream(folder.resolve(entry.file()), LinkOption.NOFOLLOW_LINKS)) {
      byte[] all = in.readNBytes((int) entry.bytes() + 1);
      return all.length == entry.bytes() ? body(all) : null;
    } catch (IOException e) {
      return null;
    }
  }

  private static byte[] head(byte[] body) {
    CRC32C sum = new CRC32C();
    sum.update(body);
    return String.format(Locale.ROOT, "flametop-spool 1 %d %08x\n", body.length, sum.getValue())
        .getBytes(StandardCharsets.US_ASCII);
  }

  private static byte @Nullable [] body(byte[] file) {
    int end = 0;
    while (end < Math.min(MOST_HEAD, file.length) && file[end] != '\n') {
      end++;
    }
    Matcher head = HEAD.matcher(new String(file, 0, end, StandardCharsets.US_ASCII));
    if (!head.matches() || Long.parseLong(head.group(1)) != file.length - end - 1) {
      return null;
    }
    CRC32C sum = new CRC32C();
    sum.update(file, end + 1, file.length - end - 1);
    return sum.getValue() == Long.parseLong(head.group(2), 16)
        ? Arrays.copyOfRange(file, end + 1, file.length)
        : null;
  }

  /** The store has it. */
  synchronized void sent(Entry entry) {
    boolean unused = take(entry);
  }

  /**
   * Gives a profile up, and counts that.
   *
   * @return whether its file is gone
   */
  synchronized boolean drop(Entry entry, Drop why) {
    if (entries.contains(entry)) {
      metrics.dropped(why);
    }
    return take(entry);
  }

  private boolean take(Entry entry) {
    if (entry.equals(held)) {
      held = null;
    }
    if (entries.remove(entry)) {
      bytes -= entry.bytes();
      bodies.remove(entry.number());
    }
    return folder == null || remove(folder.resolve(entry.file()));
  }

  private static boolean remove(Path file) {
    try {
      return Files.deleteIfExists(file);
    } catch (IOException e) {
      return false;
    }
  }

  /** Bytes of all that waits. */
  public synchronized long bytes() {
    return bytes;
  }

  /** Profiles that wait. */
  public synchronized int size() {
    return entries.size();
  }

  /** Where profiles stay when the agent ends; null: they do not. */
  public @Nullable Path folder() {
    return folder;
  }

  /** What is in memory alone is dropped. */
  @Override
  public synchronized void close() {
    if (folder == null) {
      for (Entry entry : entries.toArray(Entry[]::new)) {
        drop(entry, Drop.ENDED);
      }
    }
    if (lock != null) {
      try {
        lock.close();
      } catch (IOException e) {
        // The lock ends with the process.
      }
    }
  }
}

package flametop.export;

import flametop.sampler.CleanText;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A file that is there whole or not at all, and harms nobody: often root writes the file, into a
 * folder of somebody else.
 *
 * <p>The content goes to a part: a new file beside the place, never through a link, under a name
 * that nobody can foresee, readable by its owner alone; under sudo the owner is the invoking user.
 * {@link #commit()} brings the part to the disk and only then gives the part its name; an existing
 * file is replaced by order only. A file that is closed without a commit leaves nothing. A process
 * that was killed leaves its part: parts are locked as long as somebody writes them, so the next
 * writer can tell, and removes the part.
 */
public final class OutputFile implements AutoCloseable {
  private static final String PART_BEGIN = ".flametop-";
  private static final String PART_END = ".part";

  /** A part that is older has a lock if somebody writes it. */
  private static final long PART_MILLIS = 60_000;

  /** The file that drops all bytes; nothing is made in its folder. */
  private static final Path NOWHERE = Path.of("/dev/null");

  private static final String PLACES = " (record: -o; the screen: start it in another folder)";

  private final Path path;

  /** The path as it was given, for failures. */
  private final Path given;

  /** The part that is written; null for /dev/null, which takes all. */
  private final @Nullable Path beside;

  private final boolean replace;
  private final FileChannel channel;
  private final Counting out;
  private volatile boolean done;

  private OutputFile(
      Path path, Path given, @Nullable Path beside, boolean replace, FileChannel channel) {
    this.path = path;
    this.given = given;
    this.beside = beside;
    this.replace = replace;
    this.channel = channel;
    out = new Counting(Channels.newOutputStream(channel));
  }

  /**
   * Makes a file to write to.
   *
   * @param replace whether a file of that name may be replaced
   * @throws ExportException if the file exists and may not be replaced, or the folder cannot be
   *     written to
   */
  public static OutputFile create(Path path, boolean replace) throws ExportException {
    return create(path, replace, Invoker.ofSudo(System.getenv()));
  }

  /**
   * @param invoker who is to own the file; null: the user who writes it
   */
  static OutputFile create(Path path, boolean replace, @Nullable Invoker invoker)
      throws ExportException {
    Path absolute = path.toAbsolutePath();
    Path folder = absolute.getParent();
    if (folder == null || absolute.getFileName().toString().isEmpty()) {
      throw new ExportException(name(path) + " is a folder; give the name of a file");
    }
    if (!Files.isDirectory(folder)) {
      throw new ExportException(
          "the folder " + name(folder) + " does not exist; make it first (mkdir -p)");
    }
    if (Files.exists(absolute, LinkOption.NOFOLLOW_LINKS)) {
      if (absolute.equals(NOWHERE)) {
        return new OutputFile(absolute, path, null, false, nowhere(path));
      }
      if (!Files.isRegularFile(absolute, LinkOption.NOFOLLOW_LINKS)) {
        throw new ExportException(
            name(path) + " exists and is not a plain file; give another name, or - for stdout");
      }
      if (!replace) {
        throw exists(path);
      }
    }
    removeParts(folder);
    byte[] random = new byte[8];
    new SecureRandom().nextBytes(random);
    Path beside = folder.resolve(PART_BEGIN + HexFormat.of().formatHex(random) + PART_END);
    try {
      FileChannel channel =
          FileChannel.open(
              beside,
              Set.of(
                  StandardOpenOption.CREATE_NEW,
                  StandardOpenOption.WRITE,
                  LinkOption.NOFOLLOW_LINKS),
              PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
      OutputFile file = new OutputFile(absolute, path, beside, replace, channel);
      boolean unused = lock(channel);
      if (invoker != null) {
        file.give(beside, invoker);
      }
      return file;
    } catch (IOException e) {
      throw cannotWrite(path, e, "");
    }
  }

  private static FileChannel nowhere(Path path) throws ExportException {
    try {
      return FileChannel.open(NOWHERE, StandardOpenOption.WRITE);
    } catch (IOException e) {
      throw cannotWrite(path, e, "");
    }
  }

  /** Removes parts of flametop that nobody writes any more. */
  private static void removeParts(Path folder) {
    try (DirectoryStream<Path> parts =
        Files.newDirectoryStream(folder, PART_BEGIN + "*" + PART_END)) {
      Object self = Files.getAttribute(Path.of("/proc/self"), "unix:uid");
      long before = System.currentTimeMillis() - PART_MILLIS;
      for (Path part : parts) {
        if (Files.isRegularFile(part, LinkOption.NOFOLLOW_LINKS)
            && Files.getLastModifiedTime(part, LinkOption.NOFOLLOW_LINKS).toMillis() < before
            && self.equals(Files.getAttribute(part, "unix:uid", LinkOption.NOFOLLOW_LINKS))) {
          try (FileChannel channel =
              FileChannel.open(part, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS)) {
            if (lock(channel)) {
              Files.deleteIfExists(part);
            }
          }
        }
      }
    } catch (IOException | DirectoryIteratorException | UnsupportedOperationException e) {
      // They are in nobody's way.
    }
  }

  /** Locks a part until its channel is closed; false if that cannot be done. */
  private static boolean lock(FileChannel channel) {
    try {
      return channel.tryLock() != null;
    } catch (IOException | OverlappingFileLockException e) {
      // No locks there, or it is one of ours.
      return false;
    }
  }

  /**
   * The stream that takes the content, without a buffer; {@link #cannotWrite} puts its failures
   * into words.
   */
  public OutputStream stream() {
    return out;
  }

  /** Counts the bytes that are written. */
  private static final class Counting extends FilterOutputStream {
    private long bytes;

    Counting(OutputStream out) {
      super(out);
    }

    @Override
    public void write(int one) throws IOException {
      out.write(one);
      bytes++;
    }

    @Override
    public void write(byte[] from, int offset, int length) throws IOException {
      out.write(from, offset, length);
      bytes += length;
    }
  }

  /** The content of a file that is written in one go. */
  @FunctionalInterface
  public interface Content {
    void writeTo(OutputStream out) throws IOException;
  }

  /**
   * Writes all, and commits.
   *
   * @return size of the file in bytes
   * @throws ExportException if the file cannot be written; then nothing is left
   */
  public long write(Content content) throws ExportException {
    try {
      content.writeTo(out);
    } catch (IOException e) {
      close();
      throw cannotWrite(given, e, "; nothing is left of it");
    }
    return commit();
  }

  /** The place of the file after the commit. */
  public Path path() {
    return path;
  }

  /**
   * Cuts the file off behind {@code bytes} bytes: there begins a piece that could not be written
   * whole.
   */
  public void cutAt(long bytes) throws ExportException {
    try {
      if (beside != null) {
        channel.truncate(bytes);
        channel.position(bytes);
      }
    } catch (IOException e) {
      throw cannotWrite(given, e, "");
    }
  }

  /**
   * Brings all to the disk and the file to its name.
   *
   * @return size of the file in bytes
   * @throws ExportException if the file cannot be written; then nothing is left
   */
  public long commit() throws ExportException {
    try {
      if (beside == null) {
        done = true;
        channel.close();
        return out.bytes;
      }
      long bytes = channel.size();
      channel.force(true);
      channel.close();
      if (replace) {
        Files.move(
            beside, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
      } else {
        link(beside);
      }
      done = true;
      try (FileChannel folder = FileChannel.open(path.getParent(), StandardOpenOption.READ)) {
        folder.force(true);
      }
      return bytes;
    } catch (FileAlreadyExistsException e) {
      close();
      throw exists(path);
    } catch (IOException e) {
      close();
      throw cannotWrite(given, e, "; nothing is left of it");
    }
  }

  /**
   * Gives the part its name by a link: a rename would replace an existing file, a link fails, even
   * if the other file came this instant.
   */
  private void link(Path beside) throws IOException {
    try {
      Files.createLink(path, beside);
      Files.delete(beside);
    } catch (FileAlreadyExistsException e) {
      throw e;
    } catch (UnsupportedOperationException | FileSystemException e) {
      // Some file systems have no links.
      Files.move(beside, path);
    }
  }

  private void give(Path beside, Invoker invoker) throws IOException {
    try {
      Files.setAttribute(beside, "unix:uid", invoker.uid(), LinkOption.NOFOLLOW_LINKS);
      Files.setAttribute(beside, "unix:gid", invoker.gid(), LinkOption.NOFOLLOW_LINKS);
    } catch (IOException e) {
      close();
      throw e;
    }
  }

  /**
   * Removes the part, unless it was committed; also while another thread writes, which then fails.
   */
  @Override
  public void close() {
    if (!done) {
      done = true;
      try {
        channel.close();
        if (beside != null) {
          Files.deleteIfExists(beside);
        }
      } catch (IOException e) {
        // A file that is no one's; its name says whose it was.
      }
    }
  }

  private static ExportException exists(Path path) {
    return new ExportException(name(path) + " exists and was kept; --force replaces it");
  }

  /** A line for people about a failure to write. */
  public static ExportException cannotWrite(Path path, IOException cause, String consequence) {
    String why;
    if (cause instanceof AccessDeniedException) {
      why = "this user may not write there";
    } else if (cause instanceof FileSystemException fs && fs.getReason() != null) {
      why = fs.getReason();
    } else if (cause instanceof NoSuchFileException) {
      // Folders that take no new files, as those of /proc, and one that was removed meanwhile.
      why = "no file can be made there";
    } else {
      why = String.valueOf(cause.getMessage());
    }
    String remedy =
        why.contains("No space") || why.contains("quota")
            ? "; make room, or choose another place" + PLACES
            : "; choose another place" + PLACES;
    return new ExportException(
        "cannot write " + name(path) + ": " + CleanText.clean(why, 500) + remedy + consequence);
  }

  private static String name(Path path) {
    return CleanText.clean(path.toString(), 1_024);
  }

  /** The user who called sudo. */
  record Invoker(int uid, int gid) {
    /**
     * The user who called sudo; null if flametop does not run as root, or was not called by sudo.
     */
    static @Nullable Invoker ofSudo(Map<String, String> environment) {
      String uid = environment.getOrDefault("SUDO_UID", "");
      String gid = environment.getOrDefault("SUDO_GID", "");
      boolean named = uid.matches("[0-9]{1,9}") && gid.matches("[0-9]{1,9}");
      return named && isRoot() ? new Invoker(Integer.parseInt(uid), Integer.parseInt(gid)) : null;
    }

    private static boolean isRoot() {
      try {
        return Integer.valueOf(0).equals(Files.getAttribute(Path.of("/proc/self"), "unix:uid"));
      } catch (IOException | UnsupportedOperationException e) {
        return false;
      }
    }
  }
}
